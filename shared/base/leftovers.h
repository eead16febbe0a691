// Temporary files and folders that a killed process leaves behind. Whoever makes one claims it and keeps it open for as long as it is in use; what
// nobody claims any more can be swept, also beside others that make some at this moment, and on a file system that several nodes share.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace ringwright::files {

// Takes the lock that says so on a file or folder that was just made, and is open as `descriptor`. False where a sweep was quicker: `path` is gone,
// and another has to be made. A file system without locks claims everything, and nothing is ever swept there.
bool claim(int descriptor, const std::filesystem::path& path);

// Removes what lies in `folder`, is this user's, has a name that `is_one` takes, and is claimed by nobody. Throws nothing.
void sweep(const std::filesystem::path& folder, const std::function<bool(const std::string& name)>& is_one);

}  // namespace ringwright::files
