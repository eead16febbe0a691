// The question before something that cannot be undone: what it is done to, what is lost, and the command line that does the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ringwright::gui {

struct Context;

struct Confirmation {
  std::string title;                // "Kill 2 runs"
  std::vector<std::string> losses;  // one line each: the run by name, and what goes with it
  std::string cli;
  std::string verb;       // on the button: "Kill now"
  int count_to_type = 0;  // above 0: the number that has to be typed first
  std::function<void(Context&)> act;
};

// Draws the question that the context holds, if any. Cancel is where the keyboard starts.
void draw_confirmation(Context& context);

}  // namespace ringwright::gui
