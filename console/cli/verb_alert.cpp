// ringwright alert: what went wrong in runs, and whether the command that hears of it works.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "console/cli/daemon_access.h"
#include "console/cli/run_text.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/exchange/record_json.h"

namespace ringwright::cli {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr double kDaemonTicks_s = 5;  // beyond the command's own limit, and for calls that wait before it

struct ListOptions {
  StoreOption store;
  std::string run;
  size_t limit = 50;
};

struct Found {
  std::string run, name;
  history::AlertRecord alert;
};

std::vector<Found> find_alerts(const history::Reader& reader, const std::string& run) {
  std::vector<Found> found;
  const std::vector<history::RunRecord> runs =
      run.empty() ? reader.find("alert is not null and (archived = false or archived = true)") : std::vector{reader.run(run)};
  for (const history::RunRecord& one : runs)
    for (history::AlertRecord& alert : reader.alerts(one.id)) found.push_back({one.id, one.name, std::move(alert)});
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.alert.last_unix_ns > b.alert.last_unix_ns; });
  return found;
}

void print_table(const std::vector<Found>& alerts) {
  Table table({{"last"}, {"run"}, {"name", Align::left, true}, {"alert"}, {"times", Align::right}, {"what", Align::left, true}});
  for (const Found& one : alerts)
    table.add_row({format_time(one.alert.last_unix_ns), one.run, text::printable(one.name),
                   styled(text::printable(one.alert.kind), one.alert.kind == "finished" ? Style::good : Style::bad),
                   text::format_count(one.alert.count), text::printable(one.alert.text)});
  table.print();
}

int list(const ListOptions& options, const Invocation& invocation) {
  std::vector<Found> alerts;
  if (!options.store.is_unused()) alerts = find_alerts(options.store.open(), options.run);
  if (alerts.size() > options.limit) alerts.resize(options.limit);
  if (invocation.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const Found& one : alerts) {
      nlohmann::json json = exchange::to_json(one.alert);
      json["run"] = one.run, json["run_name"] = one.name;
      all.push_back(std::move(json));
    }
    std::fputs(dump_document(all).c_str(), stdout);
  } else if (alerts.empty()) {
    fmt::print("No alerts.\n");
  } else {
    print_table(alerts);
  }
  return 0;
}

nlohmann::json wait_for_result(wire::ControlClient& client, const nlohmann::json& test) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(test.value("time_limit_s", 10.0) + kDaemonTicks_s);
  for (;;) {
    nlohmann::json result = client.request("alert.result", {{"test", test.at("test")}});
    if (result.value("done", false)) return result;
    if (std::chrono::steady_clock::now() > end)
      throw Error({"RW-CLI-045", "the command's turn has not come: earlier calls of it take their time", "", "an end within its time limit",
                   "look into the daemon's log, and try again", ExitCode::run_failed});
    std::this_thread::sleep_for(kPoll);
  }
}

int test(const Invocation& invocation) {
  wire::ControlClient client(own_endpoints(), kAnswerTimeout);
  const nlohmann::json started = client.request("alert.test");
  const nlohmann::json result = wait_for_result(client, started);
  const bool good = result.value("good", false);
  const std::string what = result.value("what", "");
  if (invocation.json)
    std::fputs(dump_document({{"command", started.at("command")}, {"good", good}, {"what", what}, {"seconds", result.value("seconds", 0.0)}}).c_str(),
               stdout);
  else
    fmt::print("{} ({:.2f} s): {}\n", good ? styled("good", Style::good) : styled("failed", Style::bad), result.value("seconds", 0.0),
               text::printable(what));
  return static_cast<int>(good ? ExitCode::good : ExitCode::run_failed);
}

void build(Command& command, Invocation& invocation) {
  Command list_command = add_subverb(command, "list", "The alerts of a run, or of all, newest first");
  auto options = std::make_shared<ListOptions>();
  list_command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last (default: all runs)");
  list_command.add_option("-n,--limit", options->limit, "how many at most").show_default();
  options->store.add_to(list_command);
  set_action(list_command, invocation, [options, &invocation] { return list(*options, invocation); });

  Command test_command = add_subverb(command, "test", "Call the command that hears of alerts with a made-up one; exit code 1 when it fails");
  set_action(test_command, invocation, [&invocation] { return test(invocation); });

  command.footer(
      "\nWhat is worth an alert stands in $XDG_CONFIG_HOME/ringwright/daemon.yaml, and more for one run in its recipe below ringwright.alerts\n"
      "(the rules alone):\n"
      "  alerts:\n"
      "    command: 'mail -s \"training\" me'      # gets JSON on its standard input; run by the shell, or a list of words\n"
      "    command_time_limit_s: 10\n"
      "    repeat_after_s: 3600\n"
      "    rules:                                # in place of failed, nan, stall (1800 s), disk (1 GiB)\n"
      "      - {kind: finished}\n"
      "      - {kind: failed}                    # lost too\n"
      "      - {kind: nan, metric: \"train/*\"}    # infinities too\n"
      "      - {kind: threshold, metric: train/grad_norm, above: 100, steps: 3}\n"
      "      - {kind: stall, after_s: 600}       # without a new step\n"
      "      - {kind: straggler, ratio: 1.5, steps: 10}\n"
      "      - {kind: disk, free_below: 20 GiB}\n"
      "Find runs by alert with: ringwright runs list 'alert = nan'");
}

const VerbEntry kEntry({Group::service, "alert", "List alerts, or test the command that hears of them", build});

}  // namespace
}  // namespace ringwright::cli
