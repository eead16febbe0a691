#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "shared/base/error.h"
#include "shared/wire/control.h"
#include "tests/shared/wire/small_daemon.h"

namespace ringwright::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) { return std::chrono::duration<double>(steady_clock::now() - start).count(); }

ErrorParts error_of(ControlClient& client, const std::string& op) {
  try {
    client.request(op);
  } catch (const Error& error) {
    return error.parts();
  }
  return {};
}

TEST(ControlClient, GetsTheReply) {
  const TemporaryFolder folder;
  const SmallDaemon daemon(endpoints_in(folder.path()));
  ControlClient client(endpoints_in(folder.path()));
  EXPECT_EQ(client.request("hello")["ok"], true);
}

TEST(ControlClient, PassesTheDaemonsOwnErrorOn) {
  const TemporaryFolder folder;
  const SmallDaemon daemon(endpoints_in(folder.path()));
  ControlClient client(endpoints_in(folder.path()));
  const ErrorParts parts = error_of(client, "refuse");
  EXPECT_EQ(parts.code, "RW-MESH-002");
  EXPECT_EQ(parts.action, "use 8");
  EXPECT_EQ(parts.exit_code, ExitCode::refused);
}

TEST(ControlClient, OtherVersionExitsWithFive) {
  const TemporaryFolder folder;
  const SmallDaemon daemon(endpoints_in(folder.path()));
  ControlClient client(endpoints_in(folder.path()));
  EXPECT_EQ(error_of(client, "old").exit_code, ExitCode::version_mismatch);
}

// T36: nothing listens.
TEST(ControlClient, T36NobodyListensIsSaidAtOnceAndQuittingIsQuick) {
  const TemporaryFolder folder;
  const auto start = steady_clock::now();
  {
    ControlClient client(endpoints_in(folder.path()));
    const ErrorParts parts = error_of(client, "run.stop");
    EXPECT_EQ(parts.code, "RW-DAEMON-001");
    EXPECT_EQ(parts.exit_code, ExitCode::unreachable);
    EXPECT_NE(parts.what.find("not delivered"), std::string::npos) << parts.what;
  }
  EXPECT_LT(seconds_since(start), 2);
}

// T36: a frozen daemon accepts connections (the kernel does), and never says a word.
TEST(ControlClient, T36FrozenDaemonDoesNotHoldUsOnQuitting) {
  const TemporaryFolder folder;
  const Endpoints endpoints = endpoints_in(folder.path());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (folder.path() / "control.sock").c_str());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 16), 0);
  steady_clock::time_point quit;
  {
    ControlClient client(endpoints, milliseconds(200));
    const ErrorParts parts = error_of(client, "run.stop");
    EXPECT_EQ(parts.code, "RW-DAEMON-001");
    EXPECT_NE(parts.what.find("not known"), std::string::npos) << parts.what;
    quit = steady_clock::now();
  }
  EXPECT_LT(seconds_since(quit), 2);
  quit = steady_clock::now();
  {
    EventStream stream(endpoints, 0, [](const Event&) {});
  }
  EXPECT_LT(seconds_since(quit), 2);
  ::close(listener);
}

TEST(ControlClient, LateAnswersAreNotTakenForTheNextOne) {
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  ControlClient client(endpoints_in(folder.path()), milliseconds(500));
  EXPECT_EQ(client.request("hello")["ok"], true);
  daemon.set_answering(false);
  EXPECT_EQ(error_of(client, "refuse").code, "RW-DAEMON-001");
  daemon.set_answering(true);
  EXPECT_EQ(client.request("hello")["ok"], true);
}

}  // namespace
}  // namespace ringwright::wire
