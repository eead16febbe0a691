// A console without a display whose frames are timed one by one.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "console/gui/app/application.h"

namespace ringwright::bench {

// What a number of frames took, each.
struct Frames {
  std::vector<double> ms;  // CPU time of the draw thread
  int64_t allocations = 0;
  double percentile(double share) const;
};

class Stage {
 public:
  // `view` alone over the whole window of 1600 x 900.
  explicit Stage(const std::string& view);
  gui::Context& context() { return application_.context(); }
  gui::Application& application() { return application_; }
  template <class T>
  T& view(const std::string& id) {
    return dynamic_cast<T&>(*application_.shell().view(id));
  }
  void frames(int count);
  // `act` comes before each frame and is not timed.
  Frames time(int count, const std::function<void(int)>& act = {});
  // Where the item with this label was drawn in the last frame; throws std::runtime_error when there is none.
  ImVec2 center_of(const std::string& label);
  void point_at(ImVec2 place);
  void type(const std::string& words);

 private:
  gui::Graphics graphics_;
  gui::Application application_;
};

// p95, p99 and allocations a frame, the names with `prefix`.
void report(nlohmann::json& out, const std::string& prefix, const Frames& frames);

}  // namespace ringwright::bench
