// A console whose every drawn word can be read.
#pragma once

#include <string>
#include <vector>

#include "tests/console/gui/console_fixture.h"
#include "tests/console/gui/inspect/drawn_text.h"
#include "tests/console/gui/scenes.h"

namespace ringwright::gui {

class WordsTest : public ConsoleTest {
 protected:
  void open_view(const std::string& view, const std::string& scene = "one") {
    Options options = scene_options(data_scene(scene), folder_.path());
    options.view = view;
    open(options);
    EXPECT_TRUE(eventually([&] { return !app().is_reading(); }));
    if (data_scene(scene).change) data_scene(scene).change(context());
  }
  // Where a text that begins so is drawn.
  ImVec2 place_of(const std::string& beginning) {
    const TextRecording recording;
    frames(1);
    for (const DrawnText& drawn : recording.texts())
      if (drawn.text.starts_with(beginning)) return drawn.place.GetCenter();
    ADD_FAILURE() << beginning << " is not drawn";
    return {};
  }
  // Of the next frame, once what was asked for before has been drawn.
  std::vector<std::string> words() {
    frames(4);
    const TextRecording recording;
    frames(1);
    std::vector<std::string> all;
    for (const DrawnText& drawn : recording.texts()) all.push_back(drawn.text);
    return all;
  }
};

}  // namespace ringwright::gui
