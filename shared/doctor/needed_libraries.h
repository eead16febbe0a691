// Which libraries a shared library asks for. Not for use from outside this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringwright::doctor {

// The names in the dynamic section (DT_NEEDED) of a 64-bit ELF file, in its order; empty where the file is none or is damaged.
std::vector<std::string> needed_libraries(const std::filesystem::path& file);

// Those of them that are neither in one of `folders` nor found by the loader.
std::vector<std::string> missing_libraries(const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders);

}  // namespace ringwright::doctor
