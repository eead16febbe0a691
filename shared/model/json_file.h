// A JSON file of a checkpoint folder, with the place of a syntax error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace ringwright::model {

// Also takes bare Infinity, -Infinity and NaN, which Python writes, as {"__float__": "Infinity"}. Throws Error `code` with file:line:column.
nlohmann::json parse_json_text(const std::string& text, const std::string& file_name, const std::string& code);
// The same for a file; also throws `code` when it cannot be read or is larger than `bytes_max`.
nlohmann::json read_json_file(const std::filesystem::path& file, uint64_t bytes_max, const std::string& code);

}  // namespace ringwright::model
