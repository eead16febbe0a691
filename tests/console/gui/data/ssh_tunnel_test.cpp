// Addresses of other nodes, and ssh as a child of the console.
#include "console/gui/data/ssh_tunnel.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "console/gui/data/link_text.h"
#include "tests/console/gui/data/fake_ssh.h"
#include "tests/support/error_of.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"

namespace ringwright::gui {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SshPlace, ReadsWhatSshTakes) {
  const SshPlace plain = ssh_place("ssh://head-01");
  EXPECT_EQ(plain.host, "head-01");
  EXPECT_EQ(plain.user, "");
  EXPECT_EQ(plain.port, 0);
  EXPECT_TRUE(plain.folder.empty());
  EXPECT_THAT(plain.destination(), ElementsAre("--", "head-01"));
  EXPECT_EQ(plain.text(), "ssh://head-01");
  const SshPlace full = ssh_place("ssh://ann.b@head-01.example:2222/run/user/1000/ringwright");
  EXPECT_EQ(full.user, "ann.b");
  EXPECT_EQ(full.folder, "/run/user/1000/ringwright");
  EXPECT_THAT(full.destination(), ElementsAre("-p", "2222", "--", "ann.b@head-01.example"));
  EXPECT_EQ(full.text(), "ssh://ann.b@head-01.example:2222");
  EXPECT_EQ(full.command(), "ssh -p 2222 ann.b@head-01.example");
  const SshPlace six = ssh_place("ssh://[fe80::1%eth0]:22/");
  EXPECT_EQ(six.host, "fe80::1%eth0");
  EXPECT_EQ(six.text(), "ssh://[fe80::1%eth0]:22");
  EXPECT_TRUE(six.folder.empty());
}

TEST(SshPlace, RefusesWhatIsNoAddressAndWhatSshWouldTakeForSomethingElse) {
  for (const char* address : {"head-01", "http://head-01", "ssh://", "ssh://:22", "ssh://@head", "ssh://-oProxyCommand=reboot", "ssh://-a@head",
                              "ssh://a b", "ssh://head:0", "ssh://head:70000", "ssh://head:22x", "ssh://head$(reboot)", "ssh://head/run/a:b",
                              "ssh://head/run/%h", "ssh://[::1", "ssh://[::1]x"}) {
    const ErrorParts parts = error_of([&] { ssh_place(address); });
    EXPECT_EQ(parts.code, "RW-GUI-004") << address;
    EXPECT_EQ(parts.exit_code, ExitCode::usage) << address;
  }
}

class Tunnel : public ::testing::Test {
 protected:
  Tunnel() {
    for (const char* name : {"control.sock", "events.sock"}) node_.write(name, "");
    ssh_.answer_with(node_.path());
  }
  ErrorParts fault(const std::string& address = "ssh://head-01") {
    SshTunnel tunnel(ssh_place(address));
    return error_of([&] { tunnel.open({}); });
  }
  void expect_nothing_left() const {
    EXPECT_TRUE(ssh_.left_nothing());
    EXPECT_TRUE(ssh_.pid() < 0 || test::eventually([&] { return test::gone(ssh_.pid()); }));
  }

  const test::TemporaryFolder node_;
  FakeSsh ssh_;  // from here on TMPDIR is its own
};

TEST_F(Tunnel, AsksWhereTheDaemonListensAndForwardsItsSockets) {
  std::filesystem::path folder;
  {
    SshTunnel tunnel(ssh_place("ssh://ann@head-01:2222"));
    ASSERT_TRUE(tunnel.open({}));
    EXPECT_TRUE(tunnel.stands());
    folder = tunnel.folder();
    EXPECT_EQ(tunnel.endpoints().control, "ipc://" + (folder / "control.sock").string());
    EXPECT_EQ(std::filesystem::read_symlink(folder / "events.sock"), node_ / "events.sock");
    EXPECT_EQ(std::filesystem::status(folder).permissions() & std::filesystem::perms::all, std::filesystem::perms::owner_all) << "ours alone";
    for (const char* words :
         {"ringwright daemon status --json", "BatchMode=yes", "ExitOnForwardFailure=yes", "-p\n2222\n--\nann@head-01\n", "-S\nnone\n", "-N"})
      EXPECT_THAT(ssh_.arguments(), HasSubstr(words));
    ASSERT_TRUE(test::eventually([&] { return ssh_.pid() == tunnel.pid(); }));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  expect_nothing_left();
}

TEST_F(Tunnel, AGivenFolderNeedsNoQuestion) {
  ssh_.unset("answer");
  SshTunnel tunnel(ssh_place("ssh://head-01" + node_.path().string()));
  EXPECT_TRUE(tunnel.open({}));
  EXPECT_THAT(ssh_.arguments(), ::testing::Not(HasSubstr("daemon status")));
}

TEST_F(Tunnel, WithoutSshItSaysSo) {
  ::setenv("RINGWRIGHT_SSH", "/nowhere/ssh", 1);
  EXPECT_EQ(fault().code, "RW-SSH-001");
  EXPECT_EQ(fault().exit_code, ExitCode::unreachable);
  ::setenv("RINGWRIGHT_SSH", "no-such-ssh", 1);
  EXPECT_EQ(fault().what, "'no-such-ssh' is not in PATH");
  expect_nothing_left();
}

TEST_F(Tunnel, ARefusalIsInSshsLastWordsWithTheWayOut) {
  ssh_.set("refusal", "Warning: Permanently added 'head-01'.\r\nann@head-01: Permission denied (publickey).\r\n");
  for (const std::string& address : {std::string("ssh://ann@head-01"), "ssh://ann@head-01" + node_.path().string()}) {
    const ErrorParts parts = fault(address);
    EXPECT_EQ(parts.code, "RW-SSH-002");
    EXPECT_EQ(parts.what, "ssh does not reach the node: ann@head-01: Permission denied (publickey).");
    EXPECT_THAT(parts.action, HasSubstr("ssh ann@head-01 true"));
  }
  expect_nothing_left();
}

TEST_F(Tunnel, WhatIsMissingOnTheNodeIsNamed) {
  ssh_.unset("answer");
  const ErrorParts none = fault();
  EXPECT_EQ(none.code, "RW-SSH-003");
  EXPECT_THAT(none.what, HasSubstr("ringwright: not found"));
  EXPECT_THAT(none.action, HasSubstr("--connect ssh://head-01/run/user/UID/ringwright"));
  ssh_.set("exit", "4");
  EXPECT_EQ(fault().code, "RW-SSH-004");
  EXPECT_EQ(fault().action, "start one: ssh head-01 ringwright daemon start");
  for (const char* answer : {"{}", "welcome to head-01", R"({"runtime_directory": 5})"}) {
    ssh_.set("answer", answer);
    EXPECT_EQ(fault().code, "RW-SSH-003") << answer;
  }
  ssh_.set("answer", R"({"runtime_directory": "/tmp/a:b"})");
  EXPECT_EQ(fault().code, "RW-SSH-008");
}

TEST_F(Tunnel, OneThatDiesIsNoticedAndOpenedAgain) {
  SshTunnel tunnel(ssh_place("ssh://head-01"));
  ASSERT_TRUE(tunnel.open({}));
  const pid_t first = tunnel.pid();
  ::kill(first, SIGKILL);
  EXPECT_TRUE(test::eventually([&] { return !tunnel.stands(); }));
  EXPECT_EQ(tunnel.ended().parts().code, "RW-SSH-006");
  ASSERT_TRUE(tunnel.open({})) << "sockets of before stand in the way";
  EXPECT_TRUE(tunnel.stands());
  EXPECT_NE(tunnel.pid(), first);
}

// What ssh has started (a ProxyCommand) is in its group, and may outlive it.
TEST_F(Tunnel, WhatAnSshThatDiedHasStartedEndsWithTheTunnel) {
  ssh_.set("helper", "");
  pid_t helper = -1;
  {
    SshTunnel tunnel(ssh_place("ssh://head-01"));
    ASSERT_TRUE(tunnel.open({}));
    ASSERT_TRUE(test::eventually([&] { return (helper = ssh_.helper_pid()) > 0; }));
    ::kill(tunnel.pid(), SIGKILL);
    EXPECT_TRUE(test::eventually([&] { return !tunnel.stands(); }));
    EXPECT_FALSE(test::gone(helper));
  }
  EXPECT_TRUE(test::eventually([&] { return test::gone(helper); }));
  expect_nothing_left();
}

TEST_F(Tunnel, FoldersOfConsolesThatWereKilledAreRemovedAndThoseInUseStay) {
  const std::filesystem::path left = ssh_.temporary() / "ringwright-ssh-abcdef";
  std::filesystem::create_directories(left);
  std::filesystem::create_directories(ssh_.temporary() / "of-another");
  {
    const SshTunnel one(ssh_place("ssh://head-01"));
    EXPECT_FALSE(std::filesystem::exists(left));
    const SshTunnel two(ssh_place("ssh://head-02"));
    EXPECT_TRUE(std::filesystem::exists(one.folder()));
    EXPECT_TRUE(std::filesystem::exists(two.folder()));
  }
  EXPECT_TRUE(std::filesystem::remove(ssh_.temporary() / "of-another"));
  expect_nothing_left();
}

TEST_F(Tunnel, WhoeverStopsDoesNotWaitForAnSshThatHangs) {
  ssh_.set("hang", "");
  std::stop_source stop;
  {
    SshTunnel tunnel(ssh_place("ssh://head-01"));
    const std::jthread impatient([&] {
      EXPECT_TRUE(test::eventually([&] { return ssh_.pid() > 0; }));
      stop.request_stop();
    });
    EXPECT_FALSE(tunnel.open(stop.get_token()));
  }
  expect_nothing_left();
}

TEST(LinkText, SaysAttemptsAndAges) {
  constexpr int64_t kSecond = 1'000'000'000, kNow = 1'000 * kSecond;
  Link link;
  link.place = "ssh://head-01";
  link.attempt = 1;
  EXPECT_EQ(link_place_text(link, kNow), "ssh://head-01");
  link.attempt = 3;
  link.retry_unix_ns = kNow + 3 * kSecond + 1;
  EXPECT_EQ(link_place_text(link, kNow), "attempt 3, next in 4 s");
  link.attempt = 0;
  EXPECT_EQ(link_place_text(link, kNow), "next attempt in 4 s");
  link.state = LinkState::lost;
  link.last_message_unix_ns = kNow - 41 * kSecond;
  link.trouble = "the tunnel has ended: Connection reset";
  EXPECT_EQ(link_place_text(link, kNow), "41 s ago  ssh://head-01");
  EXPECT_THAT(link_lines(link, kNow), ElementsAre("ssh://head-01", "last message 41 s ago", "next attempt in 4 s", link.trouble));
  link = {};
  link.state = LinkState::connected;
  link.place = "ssh://head-01";
  link.tunnel_since_unix_ns = kNow - 192 * kSecond;
  EXPECT_EQ(link_place_text(link, kNow), "ssh://head-01");
  EXPECT_THAT(link_lines(link, kNow), ElementsAre("ssh://head-01", "the tunnel has stood for 3:12"));
}

}  // namespace
}  // namespace ringwright::gui
