// What a console that is to show another node says where it does not come through.
#include <gmock/gmock.h>

#include "tests/console/gui/data/fake_ssh.h"
#include "tests/console/gui/inspect/words_test.h"
#include "tests/support/error_of.h"

namespace ringwright::gui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class RemoteConsole : public WordsTest {
 protected:
  void open_remote() {
    Options options;
    options.connect = "ssh://head-01";
    options.scale = 1;
    open(options);
  }

  FakeSsh ssh_;
};

TEST_F(RemoteConsole, ARefusalIsOneClearErrorWithTheWayOut) {
  ssh_.set("refusal", "head-01: Permission denied (publickey).\n");
  open_remote();
  ASSERT_TRUE(eventually([&] { return context().state.failure().has_value() && context().state.link().retry_unix_ns > 0; }));
  const std::vector<std::string> said = words();
  EXPECT_THAT(said, Contains(HasSubstr("Permission denied (publickey).")));
  EXPECT_THAT(said, Contains(HasSubstr("ssh head-01 true")));
  EXPECT_THAT(said, Contains("Connecting"));
  EXPECT_THAT(said, Contains(HasSubstr("next in")));
  EXPECT_THAT(context().commands.refusal("runs.stop", context()).value_or(""), ::testing::Not(""));
  application_.reset();
  EXPECT_TRUE(ssh_.left_nothing());
}

TEST_F(RemoteConsole, AWrongAddressIsRefusedBeforeThereIsAWindow) {
  const auto code_of = [](std::vector<const char*> words) {
    words.insert(words.begin(), "ringwright-console");
    return test::error_code([&] { parse_options(static_cast<int>(words.size()), const_cast<char**>(words.data())); });
  };
  EXPECT_EQ(code_of({"--connect", "head-01"}), "RW-GUI-004");
  EXPECT_EQ(code_of({"--connect", "ssh://-oProxyCommand=x"}), "RW-GUI-004");
  EXPECT_EQ(code_of({"--connect", "ssh://head-01", "--demo", "3"}), "RW-GUI-004");
  EXPECT_EQ(code_of({"--connect", "ssh://head-01"}), "none");
  EXPECT_EQ(code_of({"--connect", ""}), "RW-GUI-004") << "no other daemon is meant by it";
  EXPECT_EQ(code_of({"--recipe", ""}), "RW-GUI-004");
  EXPECT_EQ(code_of({"--scale", "nan"}), "RW-GUI-004");
  EXPECT_EQ(code_of({"--scale", "0.7"}), "RW-GUI-004");
  EXPECT_EQ(code_of({"--scale", "1.5"}), "none");
}

}  // namespace
}  // namespace ringwright::gui
