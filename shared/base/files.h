// What stands at a path, looked at before it is opened: a pipe would make its reader wait, and a device might never end.
#pragma once

#include <filesystem>
#include <string>

namespace ringwright::files {

// "a folder", "a pipe", "a device" or "a socket" where `file` (or what it links to) is that; "" for a regular file and for one that is not there.
std::string kind_if_not_regular(const std::filesystem::path& file);

}  // namespace ringwright::files
