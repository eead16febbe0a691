// One line of text that a command asks for.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ringwright::gui {

struct Context;

struct Prompt {
  std::string title;                     // "Tag 3 runs"
  std::string hint;                      // in the empty field
  std::vector<std::string> suggestions;  // buttons that fill the field
  std::function<std::string(const std::string&)> cli;
  std::function<void(Context&, const std::string&)> act;
};

// Draws the prompt that the context holds, if any. Enter accepts, Esc leaves.
void draw_prompt(Context& context);

}  // namespace ringwright::gui
