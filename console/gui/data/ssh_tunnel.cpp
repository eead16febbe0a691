#include "console/gui/data/ssh_tunnel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "shared/base/error.h"
#include "shared/base/leftovers.h"

namespace ringwright::gui {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kPatience = std::chrono::seconds(20);  // longer than ssh's own ConnectTimeout
// The ones that this console needs: workers.sock is for the daemon's own workers.
constexpr std::array<const char*, 2> kSockets = {"control.sock", "events.sock"};
// Exit codes: ssh's own, a shell's for a program that is not there, and ours for a daemon that is not reached.
constexpr int kSshFailed = 255, kNotFound = 127, kNoDaemon = static_cast<int>(ExitCode::unreachable);

// Nobody can be asked for a password here, and a link that is cut is noticed within 15 s, which is when the console says `lost`.
std::vector<std::string> usual_options() {
  return {"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"};
}

Error unreachable(const char* code, const std::string& what, const SshPlace& place, const std::string& expected, const std::string& action) {
  return Error({code, what, place.text(), expected, action, ExitCode::unreachable});
}

std::string in_words(const SshProcess& process) { return process.complaint().empty() ? "it said nothing" : process.complaint(); }

}  // namespace

SshTunnel::SshTunnel(SshPlace place) : place_(std::move(place)), remote_folder_(place_.folder) {
  const std::filesystem::path above = std::filesystem::temp_directory_path();
  require_plain_path(above);
  const std::string start = "ringwright-ssh-";
  files::sweep(above, [&](const std::string& other) { return other.starts_with(start); });  // of consoles that were killed
  while (folder_fd_ < 0) {
    std::string name = (above / (start + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr || (folder_fd_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
      throw Error({"RW-SSH-007", "no folder can be made for the forwarded sockets: " + std::generic_category().message(errno), above.string(),
                   "a folder that you may write", "set TMPDIR to another", ExitCode::unreachable});
    folder_ = name;
    if (!files::claim(folder_fd_, folder_)) ::close(std::exchange(folder_fd_, -1));
  }
}

SshTunnel::~SshTunnel() {
  close();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  ::close(folder_fd_);
}

void SshTunnel::close() { process_.reset(); }

template <class Until>
bool SshTunnel::wait(const std::stop_token& stop, SshProcess& process, Until until) const {
  const auto patience = Clock::now() + kPatience;
  while (!stop.stop_requested()) {
    if (!process.runs() || until()) return true;
    if (Clock::now() > patience)
      throw unreachable("RW-SSH-005", "ssh takes too long: " + in_words(process), place_, "an answer within 20 s",
                        "try it by hand: " + place_.command() + " true");
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

Error SshTunnel::refused(const SshProcess& process) const {
  return unreachable("RW-SSH-002", "ssh does not reach the node: " + in_words(process), place_, "a login that asks nothing",
                     "make this work without a question first (a key in ssh-agent, a known host): " + place_.command() + " true");
}

// The node's own `ringwright` knows best where its daemon listens.
bool SshTunnel::ask_for_folder(const std::stop_token& stop) {
  std::vector<std::string> words = usual_options();
  for (const std::string& word : place_.destination()) words.push_back(word);
  words.emplace_back("ringwright daemon status --json");
  SshProcess question(std::move(words));
  if (!wait(stop, question, [] { return false; })) return false;
  const std::string name_it = "name the folder of its sockets instead: --connect " + place_.text() + "/run/user/UID/ringwright";
  if (question.exit_code() == kSshFailed) throw refused(question);
  if (question.exit_code() == kNotFound)
    throw unreachable("RW-SSH-003", "the node has no `ringwright` in the PATH of ssh's shell: " + in_words(question), place_,
                      "ringwright, as on this machine", "put it there, or " + name_it);
  if (question.exit_code() == kNoDaemon)
    throw unreachable("RW-SSH-004", "no daemon runs on the node", place_, "a running ringwrightd",
                      "start one: " + place_.command() + " ringwright daemon start");
  const nlohmann::json status = nlohmann::json::parse(question.out(), nullptr, false);
  const auto folder = status.is_object() ? status.find("runtime_directory") : status.end();
  if (question.exit_code() != 0 || folder == status.end() || !folder->is_string())
    throw unreachable("RW-SSH-003", "the node's `ringwright daemon status --json` does not say where the daemon listens: " + in_words(question),
                      place_, "ringwright of this release", "update it there, or " + name_it);
  remote_folder_ = folder->get<std::string>();
  require_plain_path(remote_folder_);
  return true;
}

bool SshTunnel::open(const std::stop_token& stop) {
  close();
  if (place_.folder.empty() && !ask_for_folder(stop)) return false;
  std::error_code ignored;
  // `-S none`: a connection that others share would go on without us, and its forwarding with it.
  std::vector<std::string> words = usual_options();
  words.insert(words.end(), {"-N", "-S", "none", "-o", "ExitOnForwardFailure=yes", "-o", "StreamLocalBindUnlink=yes"});
  for (const char* name : kSockets) {
    std::filesystem::remove(folder_ / name, ignored);
    words.insert(words.end(), {"-L", (folder_ / name).string() + ":" + (remote_folder_ / name).string()});
  }
  for (const std::string& word : place_.destination()) words.push_back(word);
  process_ = std::make_unique<SshProcess>(std::move(words));
  const auto are_there = [&] {
    for (const char* name : kSockets)
      if (!std::filesystem::exists(std::filesystem::symlink_status(folder_ / name))) return false;
    return true;
  };
  if (!wait(stop, *process_, are_there)) return false;
  if (!process_->runs()) throw refused(*process_);
  return true;
}

Error SshTunnel::ended() const {
  const std::string words = process_ ? in_words(*process_) : "it was not started";
  return unreachable("RW-SSH-006", "the tunnel has ended: " + words, place_, "a running ssh", "it is started again by itself");
}

}  // namespace ringwright::gui
