#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/service/listening_port.h"
#include "shared/base/error.h"

namespace ringwright::service {
namespace {

// T40: by default each run gets a port of its own, held from choice to use.
TEST(ListeningPort, T40DefaultsDoNotCollide) {
  const ListeningPort first(0), second(0);
  EXPECT_NE(first.port(), 0);
  EXPECT_NE(first.port(), second.port());
}

// T40: an explicit port that is taken is refused at once, with the port and its owner.
TEST(ListeningPort, T40TakenPortIsRefusedWithItsOwner) {
  const ListeningPort taken(0);
  try {
    const ListeningPort second(taken.port());
    FAIL() << "the port was given twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-DAEMON-020");
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_NE(error.parts().what.find(std::to_string(taken.port())), std::string::npos);
    EXPECT_NE(error.parts().what.find("process " + std::to_string(::getpid())), std::string::npos) << error.parts().what;
  }
}

TEST(ListeningPort, T40IsFreeAgainAtOnce) {
  uint16_t port = 0;
  {
    const ListeningPort first(0);
    port = first.port();
  }
  EXPECT_EQ(owner_of_port(port), "");
  EXPECT_EQ(ListeningPort(port).port(), port);
}

TEST(ListeningPort, MovingKeepsTheSocket) {
  ListeningPort first(0);
  const ListeningPort second(std::move(first));
  EXPECT_NE(second.fd(), -1);
  EXPECT_EQ(first.fd(), -1);
}

}  // namespace
}  // namespace ringwright::service
