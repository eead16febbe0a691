// Random recipes as people write them: block and flow style, all quotes, comments, blank lines, anchors, either line end, with or without the last
// one.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ringwright::recipe {

class YamlWriter {
 public:
  // `pick(n)`: any of 0 .. n-1.
  explicit YamlWriter(std::function<int(int)> pick) : pick_(std::move(pick)) {}

  std::string document() {
    step_ = 1 + pick_(4);
    line_end_ = one_in(3) ? "\r\n" : "\n";
    if (one_in(4)) comment_line(0);
    map(0, 0);
    if (one_in(4)) comment_line(0);
    std::string text = std::move(text_);
    if (one_in(3) && text.ends_with(line_end_)) text.resize(text.size() - line_end_.size());
    return text;
  }

 private:
  static constexpr int kDepthMax = 3;

  bool one_in(int n) { return pick_(n) == 0; }
  void indent(int column) { text_.append(static_cast<size_t>(column), ' '); }
  void comment() { text_ += "# note " + std::to_string(++comments_); }
  void comment_line(int column) {
    indent(column);
    comment();
    text_ += line_end_;
  }
  void end_line() {
    if (one_in(4)) {
      text_ += one_in(2) ? "  " : " ";
      comment();
    }
    text_ += line_end_;
    if (one_in(8)) text_ += line_end_;
  }

  std::string key(int index) {
    static const std::vector<std::string> kNames = {"a", "b", "c", "lr", "e_f", "g-h"};
    const std::string& name = kNames[static_cast<size_t>(index)];
    return one_in(8) ? "\"" + name + "\"" : one_in(8) ? "'" + name + "'" : name;
  }

  std::string scalar(bool flow) {
    static const std::vector<std::string> kScalars = {"1",       "-2.5",  "1e-5",     "true", "null",    "~",        "word", "two words",
                                                      "'it''s'", "\"q\"", "'x: # y'", "???",  "\"\\n\"", "12:30:45", "${a}", "[]"};
    static const std::vector<std::string> kBlockScalars = {"a, b", "x{y}", "http://h:1/p", "a#b", "-", "'two\n   lines'"};
    if (flow || one_in(2)) return kScalars[static_cast<size_t>(pick_(static_cast<int>(flow ? 14 : kScalars.size())))];
    const std::string text = kBlockScalars[static_cast<size_t>(pick_(4))];
    return text == "-" ? "'-'" : text;
  }

  std::string anchor() {
    if (!one_in(8)) return "";
    const std::string name = "n" + std::to_string(++anchors_);
    return "&" + name + " ";
  }

  std::string flow(int depth) {
    const int kind = depth >= kDepthMax ? 2 : pick_(4);
    if (kind > 1) return scalar(true);
    std::string inner;
    const int count = pick_(4);
    for (int i = 0; i < count; ++i) inner += (i ? one_in(4) ? " ,  " : ", " : "") + (kind == 0 ? key(i) + ": " : std::string()) + flow(depth + 1);
    const std::string gap = one_in(4) ? " " : "";
    return (kind == 0 ? "{" : "[") + gap + inner + gap + (kind == 0 ? "}" : "]");
  }

  void value(int column, int depth, bool behind_dash) {
    const int kind = depth >= kDepthMax ? 3 + pick_(3) : pick_(7);
    if (kind == 0 || kind == 1) {
      const bool list = kind == 1;
      if (behind_dash && !list && one_in(2)) {
        text_ += " ";
        map(column + 2, depth + 1, true);
        return;
      }
      const std::string name = anchor();
      text_ += name.empty() ? "" : " " + name.substr(0, name.size() - 1);
      end_line();
      list ? items(column + (behind_dash || one_in(2) ? step_ : 0), depth + 1) : map(column + step_, depth + 1);
    } else if (kind == 2) {
      text_ += " " + anchor() + flow(depth);
      end_line();
    } else if (kind == 3 && one_in(3)) {
      text_ += one_in(2) ? " |" : " >-";
      text_ += line_end_;
      for (int i = 0; i <= pick_(2); ++i) {
        indent(column + step_);
        text_ += "line # " + std::to_string(i) + line_end_;
      }
    } else if (kind == 4 && one_in(3)) {  // null
      end_line();
    } else if (kind == 5 && anchors_ > 0 && one_in(3)) {
      text_ += " *n" + std::to_string(1 + pick_(anchors_));
      end_line();
    } else {
      text_ += " " + anchor() + scalar(false);
      end_line();
    }
  }

  void map(int column, int depth, bool begun = false) {
    const int count = 1 + pick_(4);
    for (int i = 0; i < count; ++i) {
      if (i > 0 && one_in(5)) comment_line(column);
      if (i > 0 || !begun) indent(column);
      text_ += key(i) + ":";
      value(column, depth, false);
    }
  }

  void items(int column, int depth) {
    const int count = 1 + pick_(3);
    for (int i = 0; i < count; ++i) {
      indent(column);
      text_ += "-";
      value(column, depth, true);
    }
  }

  std::function<int(int)> pick_;
  std::string text_, line_end_;
  int step_ = 2, comments_ = 0, anchors_ = 0;
};

}  // namespace ringwright::recipe
