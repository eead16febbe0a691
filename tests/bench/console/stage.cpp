#include "tests/bench/console/stage.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "tests/bench/console/allocations.h"
#include "tests/bench/support/timing.h"

namespace {

// By label, what ImGui's test hooks told in the last frame.
bool is_looking = false;
std::map<ImGuiID, ImRect> places;
std::map<std::string, ImGuiID> labels;

}  // namespace

// ImGui is built for its test engine; this program is asked in the engine's place.
void ImGuiTestEngineHook_ItemAdd(ImGuiContext*, ImGuiID id, const ImRect& place, const ImGuiLastItemData*) {
  if (is_looking) places[id] = place;
}
void ImGuiTestEngineHook_ItemInfo(ImGuiContext*, ImGuiID id, const char* label, ImGuiItemStatusFlags) {
  if (is_looking && label != nullptr) labels[label] = id;
}
void ImGuiTestEngineHook_Log(ImGuiContext*, const char*, ...) {}
const char* ImGuiTestEngine_FindItemDebugLabel(ImGuiContext*, ImGuiID) { return nullptr; }

namespace ringwright::bench {
namespace {

gui::Options options_for(const std::string& view) {
  gui::Options options;
  options.demo_runs = 1;
  options.view = view;
  options.theme = "dark";
  options.scale = 1;
  options.screenshot = "still";  // no clock of its own, and nothing of the user's
  return options;
}

constexpr int kSettlingFrames = 8;

}  // namespace

double Frames::percentile(double share) const {
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

Stage::Stage(const std::string& view) : graphics_(gui::Graphics::Mode::none, 1600, 900), application_(options_for(view), graphics_) {
  application_.context().still = false;  // a picture takes the time that it needs, a frame for an operator does not
  frames(kSettlingFrames);
}

void Stage::frames(int count) {
  for (int i = 0; i < count; ++i) application_.frame();
}

Frames Stage::time(int count, const std::function<void(int)>& act) {
  Frames result;
  result.ms.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (act) act(i);
    const int64_t asked = allocations();
    const double start_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    application_.frame();
    result.ms.push_back((now_s(CLOCK_THREAD_CPUTIME_ID) - start_s) * 1e3);
    result.allocations += allocations() - asked;
  }
  return result;
}

ImVec2 Stage::center_of(const std::string& label) {
  is_looking = true;
  ImGuiContext* context = ImGui::GetCurrentContext();
  ImGuiContextHook hook;
  hook.Type = ImGuiContextHookType_NewFramePost;
  hook.Callback = [](ImGuiContext* of, ImGuiContextHook*) { of->TestEngineHookItems = true; };
  const ImGuiID added = ImGui::AddContextHook(context, &hook);
  frames(1);
  ImGui::RemoveContextHook(context, added);
  context->TestEngineHookItems = is_looking = false;
  const auto found = labels.find(label);
  if (found == labels.end()) throw std::runtime_error("nothing is labelled " + label);
  return places.at(found->second).GetCenter();
}

void Stage::point_at(ImVec2 place) { ImGui::GetIO().AddMousePosEvent(place.x, place.y); }

void Stage::type(const std::string& words) { ImGui::GetIO().AddInputCharactersUTF8(words.c_str()); }

void report(nlohmann::json& out, const std::string& prefix, const Frames& frames) {
  out[prefix + "p95_ms"] = frames.percentile(0.95);
  out[prefix + "p99_ms"] = frames.percentile(0.99);
  out[prefix + "allocations"] = static_cast<double>(frames.allocations) / static_cast<double>(frames.ms.size());
}

}  // namespace ringwright::bench
