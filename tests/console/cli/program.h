// Calls the program `ringwright` and gives back what it printed.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ringwright::cli::testing {

struct Outcome {
  int exit_code = -1;  // 128 + n: ended by signal n
  std::string out, err;
};

// A process of the program; its streams go to files in `folder`, where the XDG folders lie too.
class Program {
 public:
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::string& program = "ringwright")
      : folder_(folder), name_(program) {
    arguments.insert(arguments.begin(), std::string(RINGWRIGHT_BINARY_DIR) + "/" + program);
    std::vector<std::string> settings = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + folder.string()};
    for (const char* name : {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
      settings.push_back(std::string(name) + "=" + folder.string());
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"})
      if (const char* value = std::getenv(name)) settings.push_back(std::string(name) + "=" + value);
    std::vector<char*> argv = pointers(arguments), envp = pointers(settings);
    const std::string out = stream("out").string(), err = stream("err").string();
    child_ = ::fork();
    if (child_ != 0) return;
    const int null = ::open("/dev/null", O_RDONLY), out_fd = ::open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600),
              err_fd = ::open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (::dup2(null, 0) < 0 || ::dup2(out_fd, 1) < 0 || ::dup2(err_fd, 2) < 0) ::_exit(126);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }

  pid_t pid() const { return child_; }
  std::string out() const { return slurp(stream("out")); }
  std::string err() const { return slurp(stream("err")); }
  Outcome wait() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out(), err()};
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& values) {
    std::vector<char*> result;
    for (std::string& value : values) result.push_back(value.data());
    result.push_back(nullptr);
    return result;
  }
  static std::string slurp(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::filesystem::path stream(const char* which) const { return folder_ / (name_ + ".std" + which); }

  std::filesystem::path folder_;
  std::string name_;
  pid_t child_ = -1;
};

inline Outcome call(const std::filesystem::path& folder, std::vector<std::string> arguments) { return Program(folder, std::move(arguments)).wait(); }

}  // namespace ringwright::cli::testing
