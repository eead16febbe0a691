#include "tests/daemon/worker/support/rank_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"

namespace ringwright::test {
namespace {

constexpr auto kDeadline = std::chrono::seconds(100);
constexpr const char* kRankVariable = "RINGWRIGHT_TEST_RANK";  // set in a rank: "rank port fd"

struct RankProcess {
  pid_t pid = -1;
  int status = -1;
  bool ended = false;
  std::string log;
};

std::string test_name() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("{}.{}", info->test_suite_name(), info->name());
}

RankProcess start_rank(int rank, const ListeningSocket& socket) {
  RankProcess process;
  std::string path = testing::TempDir() + "ringwright-rank-XXXXXX";
  const int log_fd = mkstemp(path.data());
  process.log = path;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  environment.push_back(fmt::format("{}={} {} {}", kRankVariable, rank, socket.port, socket.fd));
  std::vector<char*> environment_pointers;
  for (auto& entry : environment) {
    environment_pointers.push_back(entry.data());
  }
  environment_pointers.push_back(nullptr);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=" + test_name();
  std::vector<char*> arguments = {program.data(), filter.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDERR_FILENO);
  if (rank != 0) {
    posix_spawn_file_actions_addclose(&actions, socket.fd);
  }
  if (posix_spawn(&process.pid, program.c_str(), &actions, nullptr, arguments.data(), environment_pointers.data()) != 0) {
    process.ended = true;
  }
  posix_spawn_file_actions_destroy(&actions);
  close(log_fd);
  return process;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A rank that is still there at the deadline is killed.
void wait_for_all(std::vector<RankProcess>& processes) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  for (auto& process : processes) {
    while (!process.ended) {
      process.ended = waitpid(process.pid, &process.status, WNOHANG) == process.pid;
      if (!process.ended && std::chrono::steady_clock::now() > deadline) {
        kill(process.pid, SIGKILL);
        waitpid(process.pid, &process.status, 0);
        process.ended = true;
      } else if (!process.ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }
}

void run_as_rank(int world_size, const std::function<void(const worker::ProcessGroups&)>& body) {
  std::istringstream text(std::getenv(kRankVariable));
  int rank = 0, fd = -1;
  unsigned port = 0;
  text >> rank >> port >> fd;
  worker::configure_torch(1, 1);
  worker::Rendezvous rendezvous{.rank = rank, .world_size = world_size, .host = "127.0.0.1", .port = static_cast<uint16_t>(port), .listen_fd = {}};
  if (rank == 0) {
    rendezvous.listen_fd = fd;
  }
  mesh::ParallelismSizes sizes;
  sizes.cp = world_size;
  worker::ProcessGroupOptions options;
  options.connect_timeout = std::chrono::seconds(60);
  const worker::ProcessGroups ranks(mesh::Mesh::build(world_size, sizes), rendezvous, options);
  try {
    body(ranks);
  } catch (const Error& error) {
    ADD_FAILURE() << describe(error.parts());
  }
  if (!testing::Test::HasFailure()) {
    worker::barrier(ranks.group("world"));
  }
}

}  // namespace

ListeningSocket::ListeningSocket() {
  fd = socket(AF_INET, SOCK_STREAM, 0);
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

ListeningSocket::~ListeningSocket() { close(fd); }

void run_on_ranks(int world_size, const std::function<void(const worker::ProcessGroups&)>& body) {
  if (std::getenv(kRankVariable) != nullptr) {
    run_as_rank(world_size, body);
    return;
  }
  std::vector<RankProcess> processes;
  {
    const ListeningSocket socket;
    for (int rank = 0; rank < world_size; ++rank) {
      processes.push_back(start_rank(rank, socket));
    }
  }
  wait_for_all(processes);
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    if (processes[rank].status != 0) {
      ADD_FAILURE() << "rank " << rank << " ended with status " << processes[rank].status << ":\n" << read_file(processes[rank].log);
    }
    unlink(processes[rank].log.c_str());
  }
}

}  // namespace ringwright::test
