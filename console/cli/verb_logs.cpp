#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <optional>
#include <thread>

#include "console/cli/run_course.h"
#include "console/cli/run_text.h"
#include "console/cli/store_option.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/printable.h"

namespace ringwright::cli {
namespace {

constexpr auto kFollowPeriod = std::chrono::milliseconds(200);
constexpr size_t kPageLines = 10'000;
constexpr std::array<std::pair<const char*, Style>, 4> kLevels = {
    {{"debug", Style::dim}, {"info", Style::plain}, {"warn", Style::warning}, {"error", Style::bad}}};

struct Options {
  StoreOption store;
  std::string run, level = "debug";
  std::optional<int> rank;  // -1: the daemon
  int64_t lines = -1;
  bool follow = false;
};

// Position in kLevels; a level that is not there counts as info.
size_t level_number(const std::string& level) {
  const auto found = std::find_if(kLevels.begin(), kLevels.end(), [&](const auto& entry) { return level == entry.first; });
  return found == kLevels.end() ? 1 : static_cast<size_t>(found - kLevels.begin());
}

bool is_wanted(const history::LogLine& line, const Options& options) {
  return (!options.rank || line.rank == *options.rank) && level_number(line.level) >= level_number(options.level);
}

void print(const history::LogLine& line, bool json) {
  if (json) {
    std::fputs(dump_line(to_json(line)).c_str(), stdout);
    return;
  }
  const auto seconds = static_cast<std::time_t>(line.time_unix_ns / 1'000'000'000);
  const std::string who = line.rank < 0 ? "daemon" : fmt::format("rank {}", line.rank);
  fmt::print("{} {:<7} {} {}\n", styled(fmt::format("{:%H:%M:%S}.{:03}", fmt::localtime(seconds), line.time_unix_ns / 1'000'000 % 1000), Style::dim),
             who, styled(fmt::format("{:<5}", text::printable(line.level)), kLevels[level_number(line.level)].second),
             text::printable_lines(line.text));
}

void check_rank(const Options& options, const history::RunRecord& run) {
  if (!options.rank || (*options.rank >= -1 && *options.rank < run.world_size)) return;
  throw Error({"RW-CLI-026", fmt::format("run {} has no rank {}", run.id, *options.rank), "--rank",
               run.world_size == 1 ? "0, or -1 for the daemon" : fmt::format("0 to {}, or -1 for the daemon", run.world_size - 1),
               "name one of these, or leave --rank out", ExitCode::usage});
}

// The last node sequence numbers that were looked at.
struct Seen {
  uint64_t logged = 0, told = 0;
};

// The wanted lines behind those that were seen: what ranks logged, and what became of the run between them.
std::vector<history::LogLine> read_wanted(const history::Reader& reader, const std::string& run, Seen& seen, const Options& options) {
  std::vector<history::LogLine> logged;
  for (bool last = false; !last;) {
    std::vector<history::LogLine> page = reader.logs(run, seen.logged, kPageLines, false);
    last = page.size() < kPageLines;
    if (!page.empty()) seen.logged = page.back().node_sequence;
    for (history::LogLine& line : page)
      if (is_wanted(line, options)) logged.push_back(std::move(line));
  }
  std::vector<history::LogLine> told = run_course(reader, run, seen.told), wanted;
  if (!told.empty()) seen.told = told.back().node_sequence;
  std::erase_if(told, [&](const history::LogLine& line) { return !is_wanted(line, options); });
  std::merge(logged.begin(), logged.end(), told.begin(), told.end(), std::back_inserter(wanted),
             [](const history::LogLine& a, const history::LogLine& b) { return a.time_unix_ns < b.time_unix_ns; });
  return wanted;
}

int logs(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord record = reader.run(options.run);
  check_rank(options, record);
  const std::string& run = record.id;
  Seen seen;
  std::vector<history::LogLine> lines = read_wanted(reader, run, seen, options);
  const size_t skipped =
      options.lines >= 0 && lines.size() > static_cast<size_t>(options.lines) ? lines.size() - static_cast<size_t>(options.lines) : 0;
  for (size_t i = skipped; i < lines.size(); ++i) print(lines[i], invocation.json);
  while (options.follow) {
    std::fflush(stdout);
    const bool ended =
        history::is_final(options.store.as_it_is(reader, reader.run(run)).state);  // before the read, so that the last lines are not missed
    lines = read_wanted(reader, run, seen, options);
    for (const history::LogLine& line : lines) print(line, invocation.json);
    if (ended && lines.empty()) break;
    if (!ended) std::this_thread::sleep_for(kFollowPeriod);
  }
  return 0;
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  command.add_flag("-f,--follow", options->follow, "go on with new lines until the run has ended");
  command.add_option("--rank", options->rank, "only this rank's lines; -1: the daemon's");
  command.add_option("--level", options->level, "only lines of this level or above").check(one_of({"debug", "info", "warn", "error"}));
  command.add_option("-n,--lines", options->lines, "only the last N lines of those").check(whole_number(0)).type_name("N");
  options->store.add_to(command);
  command.footer(
      "\nBetween the lines stands what became of the run: its states, checkpoints and alerts. Values of each step: ringwright runs metrics RUN");
  set_action(command, invocation, [options, &invocation] { return logs(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "logs", "What a run's ranks have logged, and what became of it", build});

}  // namespace
}  // namespace ringwright::cli
