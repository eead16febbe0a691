#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "console/cli/activity_option.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::string run;
  ActivityOption activity;
};

std::string milliseconds(int64_t nanoseconds) { return text::format_value(static_cast<double>(nanoseconds) / 1e6); }

nlohmann::json document(const std::optional<history::StepPhases>& of) {
  nlohmann::json json = {{"step", nullptr}, {"phases", nlohmann::json::array()}};
  if (!of) return json;
  json["step"] = of->step;
  for (const history::PhaseTime& phase : of->phases)
    json["phases"].push_back({{"phase", phase.phase},
                              {"ranks", phase.ranks},
                              {"mean_ns", phase.mean_ns},
                              {"longest_ns", phase.longest_ns},
                              {"longest_rank", phase.longest_rank},
                              {"share", phase.share}});
  return json;
}

void print_table(const history::StepPhases& of) {
  fmt::print("step {}\n\n", of.step);
  Table table({{"phase"},
               {"ranks", Align::right},
               {"mean ms", Align::right},
               {"longest ms", Align::right},
               {"of rank", Align::right},
               {"share", Align::right}});
  for (const history::PhaseTime& phase : of.phases)
    table.add_row({text::printable(phase.phase), std::to_string(phase.ranks), milliseconds(phase.mean_ns), milliseconds(phase.longest_ns),
                   std::to_string(phase.longest_rank), fmt::format("{:.0f} %", phase.share * 100)});
  table.print();
}

int phases(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord run = reader.run(options.run);
  const auto of = history::phases_at(reader.spans(run.id, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
                                     options.activity.step, options.activity.activity());
  if (invocation.json)
    std::fputs(dump_document(document(of)).c_str(), stdout);
  else if (of)
    print_table(*of);
  else
    fmt::print("run {} has sent no spans{}\n", run.id, options.activity.words());
  return 0;
}

}  // namespace

void build_runs_phases(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "phases", "What a run's ranks spent their time on in one step, phase by phase");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  options->activity.add_to(command);
  options->store.add_to(command);
  set_action(command, invocation, [options, &invocation] { return phases(*options, invocation); });
}

}  // namespace ringwright::cli
