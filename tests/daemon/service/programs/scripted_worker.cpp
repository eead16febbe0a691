// A worker whose behaviour stands in the recipe: script.<rank>, else script.all, a map of
//   ignore_sigterm, ignore_stop   true: as it says
//   blocked                       true: the main thread hangs for ever, as in a collective
//   child                         true: a child process that ignores SIGTERM
//   stray                         true: a grandchild with a session of its own, whose parent has ended
//   print, complain               text for standard output, standard error
//   metrics                       so many metric messages, acknowledged before it goes on
//   tell                          {code, what}: the error that it tells, acknowledged before it goes on
//   exit_code                     ends with it after all that; otherwise it works until it is asked to stop
//   silent                        true: no channel
// A pause, a checkpoint and a stop after a checkpoint it answers as a trainer does that is at step 5.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "tests/daemon/service/programs/worker_arguments.h"

namespace {

int port_listened_on(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  int listens = 0;
  socklen_t listens_length = sizeof listens;
  if (fd < 0 || ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_length);
  return listens ? ntohs(address.sin_port) : 0;
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

int start_child() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::signal(SIGTERM, SIG_IGN);
  hang();
}

int start_stray() {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  if (const pid_t middle = ::fork(); middle != 0) {
    int stray = -1;
    if (::read(ends[0], &stray, sizeof stray) != sizeof stray) stray = -1;
    ::close(ends[0]);
    ::close(ends[1]);
    ::waitpid(middle, nullptr, 0);
    return stray;
  }
  ::setsid();
  const int stray = ::fork();
  if (stray == 0) {
    ::setsid();
    start_child();
    hang();
  }
  [[maybe_unused]] const ssize_t written = ::write(ends[1], &stray, sizeof stray);
  ::_exit(0);
}

// Whether it is to end.
bool follow_wishes(ringwright::worker::Channel& channel) {
  static bool paused = false;
  const nlohmann::json step = {{"step", 5}};
  const ringwright::worker::Wishes wishes = channel.take_wishes();
  if (wishes.pause != paused) channel.event(wishes.pause ? "run.paused" : "run.resumed", step);
  paused = wishes.pause;
  if (wishes.checkpoint) channel.event("checkpoint.saved", {{"step", 5}, {"path", "/x"}, {"bytes", 1}});
  if (wishes.stop_after_checkpoint) channel.event("run.stopping", step);
  return wishes.stop_after_checkpoint;
}

}  // namespace

int main(int count, char** arguments) {
  const ringwright::WorkerArguments given = ringwright::read_worker_arguments(count, arguments);
  const nlohmann::json scripts = given.spec.recipe.value("script", nlohmann::json::object());
  const nlohmann::json script = scripts.value(std::to_string(given.rank), scripts.value("all", nlohmann::json::object()));
  if (script.value("ignore_sigterm", false)) ::signal(SIGTERM, SIG_IGN);
  const int child = script.value("child", false) ? start_child() : 0;
  std::optional<ringwright::worker::Channel> channel;
  if (!script.value("silent", false)) channel.emplace(given.channel_options());
  const int stray = script.value("stray", false) ? start_stray() : 0;  // the channel adopts orphans
  if (channel) channel->event("test.started", {{"pid", ::getpid()}, {"child", child}, {"stray", stray}, {"port", port_listened_on(given.listen_fd)}});
  std::fputs(script.value("print", "").c_str(), stdout);
  std::fputs(script.value("complain", "").c_str(), stderr);
  std::fflush(stdout);
  const std::chrono::duration<double> metric_gap(script.value("metric_gap_s", 0.0));
  for (int step = 1; step <= script.value("metrics", 0); ++step) {
    channel->metric(step, step * 10, {{"train/loss", 1.0 / step}, {"train/lr", 0.5}});
    if (metric_gap.count() > 0) std::this_thread::sleep_for(metric_gap);
  }
  if (channel && script.contains("metrics") && channel->finish()) channel->event("test.acknowledged");
  if (script.value("blocked", false)) hang();
  if (channel && script.contains("tell")) {
    channel->event("run.error", script["tell"]);
    channel->finish();
  }
  if (script.contains("exit_code")) {
    if (channel) channel->finish();
    return script["exit_code"].get<int>();
  }
  if (!channel) hang();
  while (script.value("ignore_stop", false) || !channel->stop_requested()) {
    if (follow_wishes(*channel)) break;
    channel->wait_for_word(std::chrono::milliseconds(100));
  }
  channel->finish();
  return 0;
}
