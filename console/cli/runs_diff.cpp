#include <fmt/format.h>

#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/history/settings_difference.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::string a, b;
  bool recipe_only = false;
};

std::string cell(const std::optional<nlohmann::json>& value) {
  if (!value) return "-";
  return text::printable(value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

int diff(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord a = reader.run(options.a), b = reader.run(options.b);
  const auto differences = history::settings_difference(a, b, !options.recipe_only);
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const history::SettingDifference& each : differences)
      list.push_back({{"key", each.key},
                      {"a", each.a.value_or(nullptr)},
                      {"b", each.b.value_or(nullptr)},
                      {"in_a", each.a.has_value()},
                      {"in_b", each.b.has_value()}});
    std::fputs(dump_document({{"a", a.id}, {"b", b.id}, {"differences", list}}).c_str(), stdout);
    return 0;
  }
  if (differences.empty()) {
    fmt::print("{} and {} were started with the same {}\n", a.id, b.id, options.recipe_only ? "recipe" : "recipe, mesh and machine");
    return 0;
  }
  Table table({{"key"}, {printable(a).name + " (" + a.id + ")", Align::left, true}, {printable(b).name + " (" + b.id + ")", Align::left, true}});
  for (const history::SettingDifference& each : differences) table.add_row({text::printable(each.key), cell(each.a), cell(each.b)});
  table.print();
  return 0;
}

}  // namespace

void build_runs_diff(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "diff", "What two runs were started with, where it differs: recipe, mesh, machine");
  auto options = std::make_shared<Options>();
  command.add_option("a", options->a, "one run: its id, the beginning of one, a name, or last").required();
  command.add_option("b", options->b, "the other run").required();
  command.add_flag("--recipe", options->recipe_only, "only the recipe");
  options->store.add_to(command);
  command.footer("\nTheir values step by step: ringwright runs compare A B -m METRIC");
  set_action(command, invocation, [options, &invocation] { return diff(*options, invocation); });
}

}  // namespace ringwright::cli
