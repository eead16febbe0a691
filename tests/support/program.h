// Calls one of our programs and gives back what it printed.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ringwright::test {

struct Outcome {
  int exit_code = -1;  // 128 + n: ended by signal n
  std::string out, err;
};

using Environment = std::map<std::string, std::string>;

// Nothing of the caller's but the sanitizers' options; the XDG folders are `folder`.
inline Environment clean_environment(const std::filesystem::path& folder) {
  Environment variables = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}, {"HOME", folder.string()}};
  for (const char* name : {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}) variables[name] = folder.string();
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) variables[name] = value;
  return variables;
}

// A process of the program. It works in `folder`; what it prints goes to files there.
class Program {
 public:
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::string& program = "ringwright")
      : Program(folder, std::move(arguments), program, clean_environment(folder)) {}
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::string& program, const Environment& variables)
      : streams_(folder / ("." + program + std::to_string(next_number()))) {
    arguments.insert(arguments.begin(), std::string(RINGWRIGHT_BINARY_DIR) + "/" + program);
    std::vector<std::string> settings;
    for (const auto& [name, value] : variables) settings.push_back(name + "=" + value);
    std::vector<char*> argv = pointers(arguments), envp = pointers(settings);
    const std::string out = stream("out").string(), err = stream("err").string();
    child_ = ::fork();
    if (child_ != 0) return;
    const int null = ::open("/dev/null", O_RDONLY), out_fd = ::open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600),
              err_fd = ::open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (::chdir(folder.c_str()) != 0 || ::dup2(null, 0) < 0 || ::dup2(out_fd, 1) < 0 || ::dup2(err_fd, 2) < 0) ::_exit(126);
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
  static int next_number() {
    static std::atomic<int> last{0};
    return ++last;
  }
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
  std::filesystem::path stream(const char* which) const { return streams_.string() + ".std" + which; }

  std::filesystem::path streams_;
  pid_t child_ = -1;
};

inline Outcome call(const std::filesystem::path& folder, std::vector<std::string> arguments) { return Program(folder, std::move(arguments)).wait(); }

}  // namespace ringwright::test
