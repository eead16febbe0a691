#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/history/activity.h"

namespace ringwright::cli {
namespace {

constexpr size_t kSamplesMax = 1'000'000;
constexpr size_t kCellBytesMax = 400;  // more than any terminal has room for
constexpr const char* kActivityWords = "rollout, teacher or alignment (default: all)";

struct Options {
  StoreOption store;
  std::string run, of;
  std::optional<int64_t> step;
};

void add_options(Command& command, Options& options) {
  command.add_option("run", options.run, "the run's id, the beginning of one, a name, or last").required();
  command.add_option("--of", options.of, kActivityWords).check(one_of({"rollout", "teacher", "alignment"}));
  command.add_option("--step", options.step, "of this step, or the nearest before it that has some (default: the newest)")
      .check(whole_number(0))
      .type_name("N");
  options.store.add_to(command);
}

std::string cell_of(const history::SampleRecord& sample, const std::string& field) {
  return text::printable(text::one_line(text::excerpt(history::sample_field(sample, field.c_str()), kCellBytesMax)));
}

// Every text that one of them has, in the order of the first that has it.
std::vector<std::string> text_columns(const std::vector<history::SampleRecord>& samples, const std::vector<size_t>& listed) {
  std::vector<std::string> columns;
  for (const size_t position : listed)
    for (const std::string& field : history::text_fields(samples[position]))
      if (std::find(columns.begin(), columns.end(), field) == columns.end()) columns.push_back(field);
  return columns;
}

void print_table(const std::vector<history::SampleRecord>& samples, const std::vector<size_t>& listed) {
  const std::vector<std::string> numbers = history::number_fields(samples, listed), texts = text_columns(samples, listed);
  std::vector<Column> columns = {{"step", Align::right}, {"rank", Align::right}};
  for (const std::string& field : numbers) columns.push_back({text::printable(field), Align::right});
  for (const std::string& field : texts) columns.push_back({text::printable(field), Align::left, true});
  Table table(std::move(columns));
  for (const size_t position : listed) {
    const history::SampleRecord& sample = samples[position];
    std::vector<std::string> row = {std::to_string(sample.step), std::to_string(sample.rank)};
    for (const std::string& field : numbers) {
      const auto value = history::sample_number(sample, field.c_str());
      row.push_back(value ? text::format_value(*value) : "-");
    }
    for (const std::string& field : texts) row.push_back(cell_of(sample, field));
    table.add_row(std::move(row));
  }
  table.print();
}

int samples(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord run = reader.run(options.run);
  std::vector<history::SampleRecord> all = reader.samples(run.id, kSamplesMax);
  std::reverse(all.begin(), all.end());  // oldest first
  const std::vector<size_t> listed = history::samples_at(all, options.step, history::activity_named(options.of));
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const size_t position : listed) list.push_back(to_json(all[position]));
    std::fputs(dump_document(list).c_str(), stdout);
  } else if (listed.empty()) {
    fmt::print("run {} has sent no samples{}\n", run.id, options.of.empty() ? "" : fmt::format(" of {}", options.of));
  } else {
    print_table(all, listed);
  }
  return 0;
}

std::string milliseconds(int64_t nanoseconds) { return text::format_value(static_cast<double>(nanoseconds) / 1e6); }

int phases(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord run = reader.run(options.run);
  const auto of = history::phases_at(reader.spans(run.id, INT64_MIN, INT64_MAX), options.step, history::activity_named(options.of));
  if (invocation.json) {
    nlohmann::json json = {{"step", of ? nlohmann::json(of->step) : nlohmann::json()}, {"phases", nlohmann::json::array()}};
    for (const history::PhaseTime& phase : of ? of->phases : std::vector<history::PhaseTime>())
      json["phases"].push_back({{"phase", phase.phase},
                                {"ranks", phase.ranks},
                                {"mean_ns", phase.mean_ns},
                                {"longest_ns", phase.longest_ns},
                                {"longest_rank", phase.longest_rank},
                                {"share", phase.share}});
    std::fputs(dump_document(json).c_str(), stdout);
    return 0;
  }
  if (!of) {
    fmt::print("run {} has sent no spans{}\n", run.id, options.of.empty() ? "" : fmt::format(" of {}", options.of));
    return 0;
  }
  fmt::print("step {}\n\n", of->step);
  Table table({{"phase"},
               {"ranks", Align::right},
               {"mean ms", Align::right},
               {"longest ms", Align::right},
               {"of rank", Align::right},
               {"share", Align::right}});
  for (const history::PhaseTime& phase : of->phases)
    table.add_row({text::printable(phase.phase), std::to_string(phase.ranks), milliseconds(phase.mean_ns), milliseconds(phase.longest_ns),
                   std::to_string(phase.longest_rank), fmt::format("{:.0f} %", phase.share * 100)});
  table.print();
  return 0;
}

}  // namespace

void build_runs_samples(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "samples", "What a run's model was asked and what it said, at one step");
  auto options = std::make_shared<Options>();
  add_options(command, *options);
  command.footer("\nThe table cuts long texts; --json has them whole.");
  set_action(command, invocation, [options, &invocation] { return samples(*options, invocation); });
}

void build_runs_phases(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "phases", "What a run's ranks spent their time on in one step, phase by phase");
  auto options = std::make_shared<Options>();
  add_options(command, *options);
  set_action(command, invocation, [options, &invocation] { return phases(*options, invocation); });
}

}  // namespace ringwright::cli
