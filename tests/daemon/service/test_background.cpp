#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "daemon/service/background.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::service {
namespace {

TEST(ServiceManager, IsToldWithOneDatagram) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "notify";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  const int manager = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  ASSERT_EQ(::bind(manager, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  notify_service_manager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  char bytes[32] = {};
  EXPECT_EQ(::recv(manager, bytes, sizeof bytes, 0), 7);
  EXPECT_STREQ(bytes, "READY=1");
  notify_service_manager("STOPPING=1");  // nobody to tell
  EXPECT_EQ(::recv(manager, bytes, sizeof bytes, 0), -1);
  ::close(manager);
}

}  // namespace
}  // namespace ringwright::service
