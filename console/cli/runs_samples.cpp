#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "console/cli/activity_option.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

constexpr size_t kSamplesMax = 1'000'000;
constexpr size_t kCellBytesMax = 400;  // more than any terminal has room for

struct Options {
  StoreOption store;
  std::string run;
  ActivityOption activity;
};

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
  const std::vector<size_t> listed = history::samples_at(all, options.activity.step, options.activity.activity());
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const size_t position : listed) list.push_back(to_json(all[position]));
    std::fputs(dump_document(list).c_str(), stdout);
  } else if (listed.empty()) {
    fmt::print("run {} has sent no samples{}\n", run.id, options.activity.words());
  } else {
    print_table(all, listed);
  }
  return 0;
}

}  // namespace

void build_runs_samples(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "samples", "What a run's model was asked and what it said, at one step");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  options->activity.add_to(command);
  options->store.add_to(command);
  command.footer("\nThe table cuts long texts; --json has them whole.");
  set_action(command, invocation, [options, &invocation] { return samples(*options, invocation); });
}

}  // namespace ringwright::cli
