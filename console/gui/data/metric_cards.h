// Which plots the Metrics view has, in which order, under which heads. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui {

struct MetricCard {
  std::string metric;   // its name in the runs
  std::string section;  // "pinned", or what its name begins with: "train", "perf"; "" for a name without one
  std::string unit;     // "" where its name tells none
};

struct CardQuestion {
  std::vector<const Run*> runs;
  std::string filter;
  std::vector<std::string> pinned;
  std::vector<std::string> order;  // that the user has put them in; others come behind, in the order of their kind
};

struct CardList {
  std::vector<MetricCard> cards;
  bool has_heads = false;  // many cards stand in sections; few stand in the user's order alone
};
CardList metric_cards(const CardQuestion& question);

// From the end of a name: "tokens/s", "ms", "s", "B", "GiB", "%"; "" for what is a plain number.
std::string_view metric_unit(std::string_view metric);

// The order in which `metric` stands in the place of `target`, and what lay between makes room. Names that are not on the screen keep their order.
std::vector<std::string> moved_card(const CardList& list, const std::vector<std::string>& order, const std::string& metric,
                                    const std::string& target);

}  // namespace ringwright::gui
