#include "console/gui/data/metric_cards.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "console/gui/data/run_text.h"

namespace ringwright::gui {
namespace {

constexpr size_t kFewCards = 6;
constexpr std::array kMainMetrics = {"loss", "grad_norm", "tokens_per_s", "lr"};
constexpr std::array<std::string_view, 8> kSections = {"train", "loss", "validation", "rollout", "reward", "perf", "timing", "optim"};
constexpr std::string_view kPinned = "pinned";

struct Unit {
  std::string_view ending, unit;
};
constexpr std::array kUnits = {Unit{"tokens_per_s", "tokens/s"},
                               Unit{"tokens_per_second", "tokens/s"},
                               Unit{"tokens_per_sec", "tokens/s"},
                               Unit{"_per_s", "1/s"},
                               Unit{"_ms", "ms"},
                               Unit{"_us", "µs"},
                               Unit{"_s", "s"},
                               Unit{"_seconds", "s"},
                               Unit{"_bytes", "B"},
                               Unit{"_gib", "GiB"},
                               Unit{"_percent", "%"},
                               Unit{"_tflops", "TFLOP/s"}};

template <typename List, typename Name>
size_t place_in(const List& list, const Name& name) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), name) - list.begin());
}

std::string section_of(const std::string& metric) {
  const size_t slash = metric.find('/');
  return slash == std::string::npos ? "" : metric.substr(0, slash);
}

size_t main_place(const CardQuestion& question, const std::string& metric) {
  for (size_t i = 0; i < kMainMetrics.size(); ++i)
    for (const Run* run : question.runs)
      if (metric_name(*run, kMainMetrics[i]) == metric) return i;
  return kMainMetrics.size();
}

std::set<std::string> names_of(const CardQuestion& question) {
  std::set<std::string> names;
  const auto consider = [&](const std::string& name) {
    if (question.filter.empty() || matches_words(name, question.filter)) names.insert(name);
  };
  for (const Run* run : question.runs) {
    for (const auto& [name, series] : run->metrics) consider(name);
    for (const auto& [name, summary] : run->parts.unread_metrics) consider(name);
  }
  return names;
}

}  // namespace

std::string_view metric_unit(std::string_view metric) {
  for (const Unit& entry : kUnits)
    if (metric.ends_with(entry.ending)) return entry.unit;
  return "";
}

CardList metric_cards(const CardQuestion& question) {
  const std::set<std::string> names = names_of(question);
  std::set<std::string> prefixes;
  for (const std::string& name : names) prefixes.insert(section_of(name));
  CardList list;
  list.has_heads = names.size() > kFewCards && prefixes.size() > 1;
  using Place = std::tuple<bool, size_t, std::string, size_t, size_t, std::string>;
  std::vector<std::pair<Place, MetricCard>> placed;
  for (const std::string& name : names) {
    const bool pinned = place_in(question.pinned, name) < question.pinned.size();
    const std::string prefix = section_of(name);
    const size_t own = place_in(question.order, name), main = main_place(question, name), section = place_in(kSections, prefix);
    // Where there are no heads the main metrics come first, whatever they begin with.
    Place place =
        list.has_heads ? Place{!pinned, pinned ? 0 : section, pinned ? "" : prefix, own, main, name} : Place{!pinned, own, "", main, section, name};
    placed.push_back({std::move(place), {name, pinned ? std::string(kPinned) : prefix, std::string(metric_unit(name))}});
  }
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [place, card] : placed) list.cards.push_back(std::move(card));
  return list;
}

std::vector<std::string> moved_card(const CardList& list, const std::vector<std::string>& order, const std::string& metric,
                                    const std::string& target) {
  std::vector<std::string> moved;
  for (const MetricCard& card : list.cards) moved.push_back(card.metric);
  const size_t from = place_in(moved, metric), to = place_in(moved, target);
  if (from >= moved.size() || to >= moved.size()) return order;
  moved.erase(moved.begin() + static_cast<std::ptrdiff_t>(from));
  moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(to), metric);
  for (const std::string& name : order)
    if (place_in(moved, name) == moved.size()) moved.push_back(name);
  return moved;
}

}  // namespace ringwright::gui
