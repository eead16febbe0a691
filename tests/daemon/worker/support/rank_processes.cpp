#include "tests/daemon/worker/support/rank_processes.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/eventually.h"

namespace ringwright::test {
namespace {

constexpr const char* kRankVariable = "RINGWRIGHT_TEST_RANK";  // "rank world_size port fd"

// Bound to a free port of the loopback interface and listening; inherited by child processes.
struct ListeningSocket {
  ListeningSocket() : fd(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no listening socket on the loopback interface");
    }
    port = ntohs(address.sin_port);
  }
  ~ListeningSocket() { close(fd); }
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int fd;
  uint16_t port = 0;
};

struct RankProcess {
  pid_t pid = -1;
  int status = -1;
  bool ended = false;
  std::string log;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

RankProcess start_rank(int rank, int world_size, std::vector<std::string> arguments, const ListeningSocket& socket) {
  RankProcess process;
  process.log = (std::filesystem::temp_directory_path() / "ringwright-rank-XXXXXX").string();
  const int log_fd = mkstemp(process.log.data());
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  environment.push_back(fmt::format("{}={} {} {} {}", kRankVariable, rank, world_size, socket.port, socket.fd));
  arguments.insert(arguments.begin(), "/proc/self/exe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDERR_FILENO);
  if (rank != 0) {
    posix_spawn_file_actions_addclose(&actions, socket.fd);
  }
  process.ended = posix_spawn(&process.pid, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(), pointers(environment).data()) != 0;
  posix_spawn_file_actions_destroy(&actions);
  close(log_fd);
  return process;
}

void wait_for(RankProcess& process, std::chrono::steady_clock::time_point deadline) {
  if (process.ended) return;
  const double seconds = std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
  process.ended = eventually([&] { return waitpid(process.pid, &process.status, WNOHANG) == process.pid; }, seconds);
  if (process.ended) return;
  kill(process.pid, SIGKILL);
  process.ended = waitpid(process.pid, &process.status, 0) == process.pid;
}

std::string take_file(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  unlink(path.c_str());
  return text.str();
}

}  // namespace

std::vector<RankExit> run_rank_processes(int world_size, std::vector<std::string> arguments, std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::vector<RankProcess> processes;
  {
    const ListeningSocket socket;
    for (int rank = 0; rank < world_size; ++rank) {
      processes.push_back(start_rank(rank, world_size, arguments, socket));
    }
  }
  std::vector<RankExit> exits;
  for (auto& process : processes) {
    wait_for(process, end);
    exits.push_back({process.status, take_file(process.log)});
  }
  return exits;
}

std::optional<worker::Rendezvous> rank_rendezvous() {
  const char* variable = std::getenv(kRankVariable);
  if (variable == nullptr) {
    return std::nullopt;
  }
  worker::Rendezvous rendezvous;
  int fd = -1;
  std::istringstream(variable) >> rendezvous.rank >> rendezvous.world_size >> rendezvous.port >> fd;
  if (rendezvous.rank == 0) {
    rendezvous.listen_fd = fd;
  }
  return rendezvous;
}

mesh::Mesh data_mesh(int dp, int cp) {
  mesh::ParallelismSizes sizes;
  sizes.dp = dp;
  sizes.cp = cp;
  return mesh::Mesh::build(dp * cp, sizes);
}

worker::ProcessGroups connect_ranks(const worker::Rendezvous& rendezvous, const mesh::Mesh& mesh, worker::ProcessGroupOptions options) {
  options.connect_timeout = std::chrono::seconds(60);
  return worker::ProcessGroups(mesh, rendezvous, options);
}

}  // namespace ringwright::test
