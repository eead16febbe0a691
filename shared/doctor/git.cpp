#include "shared/doctor/git.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "shared/base/error.h"
#include "shared/base/program_call.h"

extern char** environ;

namespace ringwright::doctor {
namespace {

constexpr auto kAnswerWithin = std::chrono::seconds(20);
constexpr size_t kAnswerBytesMax = size_t{16} << 20;
constexpr int kNotFound = 127;

Error no_answer(const std::string& why) {
  return Error({"RW-DOCTOR-020", "git gives no answer: " + why, "git", "the git program in PATH", "install git", ExitCode::run_failed});
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** each = environ; *each; ++each)
    if (std::strncmp(*each, "GIT_", 4) != 0 && std::strncmp(*each, "LC_", 3) != 0) variables.emplace_back(*each);
  for (const char* each : {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}) variables.emplace_back(each);
  return variables;
}

}  // namespace

GitAnswer ask_git(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", folder.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ProgramOutcome outcome = call_program({std::move(words), kAnswerWithin, own_environment(), kAnswerBytesMax});
  if (!outcome.failure.empty()) throw no_answer(outcome.failure);
  if (outcome.exit_code == kNotFound) throw no_answer("it is not in PATH");
  for (std::string* text : {&outcome.out, &outcome.err})
    while (!text->empty() && text->back() == '\n') text->pop_back();
  return {outcome.exit_code, std::move(outcome.out), std::move(outcome.err)};
}

bool is_repository(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / ".git", ignored);
}

std::string checked_out_commit(const std::filesystem::path& folder) {
  if (!is_repository(folder)) return "";
  const GitAnswer answer = ask_git(folder, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  return answer.exit_code == 0 ? answer.out : "";
}

}  // namespace ringwright::doctor
