// What stands at a path, looked at before it is opened: a pipe would make its reader wait, and a device might never end. And one way to write a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ringwright::files {

// "a folder", "a pipe", "a device" or "a socket" where `file` (or what it links to) is that; "" for a regular file and for one that is not there.
std::string kind_if_not_regular(const std::filesystem::path& file);

// All bytes of the file. Throws std::system_error with the system's reason when it cannot be opened, or not be read to its end;
// std::errc::file_too_large when it has more than `bytes_max`.
std::string read_all(const std::filesystem::path& file, uint64_t bytes_max = UINT64_MAX);

// Tries it out: makes a folder of its own in `folder`, or where that is not there in the nearest folder above it, and removes it again. "" where
// that can be done, else the system's reason.
std::string why_not_writable(const std::filesystem::path& folder);

// Writes the file in one step: whoever reads it sees the old bytes or the new ones, also after a crash. Mode, links and (for root) owner stay; a new
// file gets the usual mode. Throws std::system_error, and leaves the old file and nothing else; a file that may not be written is not replaced
// either. A device or a pipe is written to as it is.
void replace(const std::filesystem::path& file, std::string_view bytes);

}  // namespace ringwright::files
