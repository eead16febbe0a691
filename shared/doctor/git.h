// Questions to a git repository, put to the `git` program: it alone knows every form that a repository takes. Nothing is changed, nothing is fetched.
// Not for use from outside this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringwright::doctor {

struct GitAnswer {
  int exit_code = 0;
  std::string out, err;  // without the last line's end
};

// `git -C folder arguments..`, with none of the caller's GIT_ variables and without the repository's own hooks and monitors. Throws Error
// RW-DOCTOR-020 when git cannot be started, does not end within 20 s, or prints more than 16 MiB.
GitAnswer ask_git(const std::filesystem::path& folder, const std::vector<std::string>& arguments);

// Whether a repository begins in this very folder, rather than above it.
bool is_repository(const std::filesystem::path& folder);
// The commit that is checked out; "" where the folder is none's or has no commit yet.
std::string checked_out_commit(const std::filesystem::path& folder);

}  // namespace ringwright::doctor
