// What stands at a path, looked at before it is opened: a pipe would make its reader wait, and a device might never end. And one way to write a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ringwright::files {

// "a folder", "a pipe", "a device" or "a socket" where `file` (or what it links to) is that; "" for a regular file and for one that is not there.
std::string kind_if_not_regular(const std::filesystem::path& file);

// Writes the file in one step: whoever reads it sees the old bytes or the new ones, also after a crash. Mode and links stay; a new file gets the
// usual mode. Throws std::system_error, and leaves the old file and nothing else; a file that may not be written is not replaced either.
void replace(const std::filesystem::path& file, std::string_view bytes);

}  // namespace ringwright::files
