// Each view in both themes, at two scales and in many states, against the picture that is kept of it. RINGWRIGHT_KEEP_PICTURES=1 keeps what is
// drawn now as what is expected, to be looked at before it is committed.
#include "tests/console/gui/pictures/picture.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/console/gui/console_fixture.h"
#include "tests/console/gui/scenes.h"
#include "tests/deep_tier.h"

namespace ringwright::gui {
namespace {

namespace fs = std::filesystem;

// What is kept: small enough for a repository, large enough that no view falls back to tabs.
constexpr int kWidth = 960, kHeight = 600;

fs::path expected_folder() { return fs::path(RINGWRIGHT_SOURCE_DIR) / "tests" / "data" / "pictures"; }
// Actual, expected and difference of what failed.
fs::path failed_folder() { return fs::path(RINGWRIGHT_BINARY_DIR) / "pictures-failed"; }

class Pictures : public ConsoleTest {
 protected:
  static void SetUpTestSuite() { start(Graphics::Mode::offscreen, kWidth, kHeight); }

  static void resize(float factor) { start(Graphics::Mode::offscreen, static_cast<int>(kWidth * factor), static_cast<int>(kHeight * factor)); }

  void set_scene(const Scene& scene, const char* theme, float factor) {
    Options options = scene_options(scene, folder_.path());
    options.theme = theme;
    options.scale = factor;
    open(options);
    EXPECT_TRUE(eventually([&] { return !app().is_reading(); }));
    if (scene.change) scene.change(context());
  }

  Picture take(const std::string& view) {
    app().shell().show_only(view);
    frames(4);
    return {graphics().width(), graphics().height(), graphics().pixels()};
  }

  void expect_kept(const std::string& name, const Picture& actual) {
    const fs::path file = expected_folder() / (name + ".png");
    if (std::getenv("RINGWRIGHT_KEEP_PICTURES") != nullptr) {
      fs::create_directories(file.parent_path());
      write_png(file, actual.rgba, actual.width, actual.height);
      return;
    }
    const std::optional<Picture> expected = read_picture(file);
    ASSERT_TRUE(expected) << name << ": no picture is kept; RINGWRIGHT_KEEP_PICTURES=1 keeps one";
    const Comparison comparison = compare(*expected, actual);
    if (comparison.passes()) return;
    fs::create_directories(failed_folder());
    write_png(failed_folder() / (name + "-actual.png"), actual.rgba, actual.width, actual.height);
    fs::copy_file(file, failed_folder() / (name + "-expected.png"), fs::copy_options::overwrite_existing);
    if (comparison.same_size) write_png(failed_folder() / (name + "-difference.png"), comparison.difference.rgba, actual.width, actual.height);
    ADD_FAILURE() << name << ": " << comparison.text() << "; see " << failed_folder();
  }
};

TEST(Comparison, TellsALostIconFromNoise) {
  Picture plain{160, 160, std::vector<uint8_t>(160 * 160 * 4, 200)};
  Picture other = plain;
  for (size_t i = 0; i < other.rgba.size(); i += 4) other.rgba[i] = 205;  // a little, everywhere
  EXPECT_TRUE(compare(plain, other).passes());
  other = plain;
  for (size_t i = 0; i < 20; ++i) other.rgba[i * 4 * 1000] = 0;  // much, in a few places
  EXPECT_TRUE(compare(plain, other).passes());
  other = plain;
  for (size_t y = 0; y < 9; ++y) {
    for (size_t x = 0; x < 9; ++x) other.rgba[(y * 160 + x) * 4] = 0;  // an icon of 9 x 9
  }
  const Comparison lost = compare(plain, other);
  EXPECT_FALSE(lost.passes());
  EXPECT_GT(lost.worst_tile, kTileDifferingMax);
  EXPECT_FALSE(compare(plain, Picture{80, 160, std::vector<uint8_t>(80 * 160 * 4, 200)}).passes());
}

// Drawn twice by two consoles, a picture is the same; with another theme it is not.
TEST_F(Pictures, AreTheSameTwice) {
  const Scene& one = data_scenes()[1];
  const std::string view = view_entries().front().id;
  set_scene(one, "dark", 1);
  const Picture first = take(view);
  set_scene(one, "dark", 1);
  EXPECT_TRUE(compare(first, take(view)).passes());
  set_scene(one, "light", 1);
  EXPECT_FALSE(compare(first, take(view)).passes());
}

// Drawn at least: in the usual tier a few, in the deep tier the matrix, which is compared.
TEST_F(Pictures, AreThoseThatAreKept) {
  if (!test::deep_tier()) GTEST_SKIP() << "the matrix is of the deep tier";
  if (!fs::exists(expected_folder()) && std::getenv("RINGWRIGHT_KEEP_PICTURES") == nullptr)
    GTEST_SKIP() << "no pictures are kept; RINGWRIGHT_KEEP_PICTURES=1 keeps those of this machine's fonts and rasteriser";
  for (const float factor : {1.0F, 2.0F}) {
    resize(factor);
    for (const char* theme : {"dark", "light"}) {
      set_scene(data_scenes()[1], theme, factor);
      for (const ViewEntry& entry : view_entries()) expect_kept(entry.id + "-" + theme + (factor == 1 ? "" : "-2x"), take(entry.id));
    }
  }
  resize(1);
  std::vector<Scene> scenes = trouble_scenes();
  for (const Scene& scene : data_scenes()) {
    if (scene.name != "one") scenes.push_back(scene);
  }
  for (const Scene& scene : scenes) {
    set_scene(scene, "dark", 1);
    for (const ViewEntry& entry : view_entries()) expect_kept(entry.id + "-" + scene.name, take(entry.id));
  }
}

}  // namespace
}  // namespace ringwright::gui
