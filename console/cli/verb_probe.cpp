// ringwright probe RECIPE [OVERRIDE..]: does context parallelism change the numbers? One batch, both ways.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "console/cli/daemon_access.h"
#include "console/cli/run_follow.h"
#include "console/cli/run_launch.h"
#include "console/cli/run_text.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/history/comparison.h"
#include "shared/history/metric_value.h"
#include "shared/history/store.h"

namespace ringwright::cli {
namespace {

constexpr size_t kEventsMax = 1000;
constexpr size_t kParametersShownMax = 12;

struct Options {
  std::vector<std::string> words;
  LaunchOptions launch;
  DaemonOptions daemon;
  bool all = false;
  double tolerance = history::kToleranceDefault;
};

// The worker's event `probe.result`, read.
struct Result {
  std::string method, refusal;
  double loss_whole = 0, loss_sharded = 0, loss = 0, logprobs = 0, gradient = 0;  // the last three: relative differences
  std::vector<std::pair<std::string, double>> parameters;                         // the most different first

  double largest() const { return std::max({loss, logprobs, gradient}); }
  bool is_within(double tolerance) const { return !refusal.empty() || largest() <= tolerance; }
};

Result read_result(const nlohmann::json& body) {
  const auto value = [&](const char* name) { return history::metric_value_from_json(body.at(name)); };
  // A difference that is no number is beyond every tolerance.
  const auto difference = [&](const nlohmann::json& json) {
    const double number = history::metric_value_from_json(json);
    return number == number ? number : std::numeric_limits<double>::infinity();
  };
  Result result;
  result.method = body.at("method");
  result.refusal = body.value("refused", "");
  if (!result.refusal.empty()) return result;
  result.loss_whole = value("loss_whole"), result.loss_sharded = value("loss_sharded");
  result.loss = difference(body.at("loss_difference")), result.logprobs = difference(body.at("logprob_difference"));
  for (const nlohmann::json& parameter : body.at("gradient_differences"))
    result.parameters.emplace_back(parameter.at(0).get<std::string>(), difference(parameter.at(1)));
  if (!result.parameters.empty()) result.gradient = result.parameters.front().second;
  return result;
}

void print_text(const std::vector<Result>& results, double tolerance) {
  Table table({{"method"},
               {"loss, cp 1", Align::right},
               {"loss", Align::right},
               {"difference", Align::right},
               {"logprobs", Align::right},
               {"gradients", Align::right},
               {"most in", Align::left, true},
               {""}});
  for (const Result& result : results) {
    if (!result.refusal.empty()) {
      table.add_row({result.method, "-", "-", "-", "-", "-", result.refusal, styled("refused", Style::dim)});
      continue;
    }
    const bool good = result.is_within(tolerance);
    const auto number = [](double value) { return fmt::format("{:.2e}", value); };
    table.add_row({result.method, fmt::format("{:.7g}", result.loss_whole), fmt::format("{:.7g}", result.loss_sharded), number(result.loss),
                   number(result.logprobs), number(result.gradient), result.parameters.empty() ? "" : result.parameters.front().first,
                   good ? styled("equal", Style::good) : styled("differs", Style::bad)});
  }
  table.print();
  for (const Result& result : results) {
    if (result.is_within(tolerance)) continue;
    fmt::print("\n{}: gradients that differ by more than {:g} of their largest value\n", result.method, tolerance);
    size_t shown = 0;
    for (const auto& [name, difference] : result.parameters)
      if (difference > tolerance && shown++ < kParametersShownMax) fmt::print("  {:.2e}  {}\n", difference, name);
    if (shown > kParametersShownMax) fmt::print("  and {} more\n", shown - kParametersShownMax);
  }
}

nlohmann::json to_json(const Result& result, double tolerance) {
  if (!result.refusal.empty()) return {{"method", result.method}, {"refused", result.refusal}};
  const auto number = [](double value) { return history::metric_value_to_json(value); };
  nlohmann::json parameters = nlohmann::json::object();
  for (const auto& [name, difference] : result.parameters) parameters[name] = number(difference);
  return {{"method", result.method},
          {"loss_whole", number(result.loss_whole)},
          {"loss_sharded", number(result.loss_sharded)},
          {"loss_difference", number(result.loss)},
          {"logprob_difference", number(result.logprobs)},
          {"gradient_difference", number(result.gradient)},
          {"gradient_differences", parameters},
          {"within_tolerance", result.is_within(tolerance)}};
}

std::vector<Result> read_results(const std::string& store, const std::string& run) {
  std::vector<Result> results;
  for (const wire::Event& event : history::Reader(store).run_events(run, {"probe.result"}, kEventsMax))
    if (event.body.is_object()) results.push_back(read_result(event.body));
  std::reverse(results.begin(), results.end());
  return results;
}

void require_ranks(const recipe::Recipe& recipe) {
  const recipe::SftConfig config = recipe::sft_config(recipe);
  if (config.cp > 1) return;
  throw Error({"RW-CLI-027", "the recipe has one context-parallel rank, so there is nothing to compare it with",
               "policy.dtensor_cfg.context_parallel_size", "2 or more",
               "add policy.dtensor_cfg.context_parallel_size=2 cluster.gpus_per_node=2 to the command"});
}

// A probe that compared nothing has shown nothing.
void require_one_compared(const std::vector<Result>& results) {
  if (std::any_of(results.begin(), results.end(), [](const Result& result) { return result.refusal.empty(); })) return;
  throw Error({"RW-CLI-030", "no method could be compared: " + results.front().refusal, "method " + results.front().method,
               "a method that takes this model over this many ranks", "probe with --all, or set ringwright.cp.method=auto", ExitCode::refused});
}

int probe(Options options, const Invocation& invocation) {
  const recipe::Recipe recipe = load_one_recipe(options.words);
  require_ranks(recipe);
  admit(recipe, invocation.json);
  options.launch.probe = options.all ? Probe::all : Probe::chosen;
  const Launch launch = make_launch(recipe, options.launch);
  options.daemon.exit_when_idle = true;
  const nlohmann::json daemon = join_or_start_daemon(options.daemon);
  const auto store = daemon.at("store").get<std::string>();
  const wire::Endpoints endpoints = own_endpoints();
  const std::string id = wire::ControlClient(endpoints).request("run.launch", launch.request).at("run").get<std::string>();
  RunDisplay display(invocation.json ? RunDisplay::Mode::quiet : RunDisplay::Mode::notes);
  if (!invocation.json)
    display.show_note(
        fmt::format("{}: starting {} ranks ({})", id, launch.request.at("world_size").get<int>(), format_mesh(launch.request.at("mesh"))));
  if (const int code = follow({id, launch.name, store, 0, daemon.value("node_sequence", uint64_t{0})}, endpoints, display); code != 0) return code;
  const std::vector<Result> results = read_results(store, id);
  if (results.empty())
    throw Error({"RW-CLI-028", "the probe ended without a result", id, "", "look at its log: ringwright logs " + id, ExitCode::run_failed});
  require_one_compared(results);
  const bool good = std::all_of(results.begin(), results.end(), [&](const Result& result) { return result.is_within(options.tolerance); });
  if (invocation.json) {
    nlohmann::json json = {{"run", id}, {"mesh", launch.request.at("mesh")}, {"tolerance", options.tolerance}, {"within_tolerance", good}};
    for (const Result& result : results) json["results"].push_back(to_json(result, options.tolerance));
    std::fputs(dump_document(json).c_str(), stdout);
  } else {
    fmt::print("{} on {}: one batch, each document alone at cp 1, against the recipe's way\n", id, format_mesh(launch.request.at("mesh")));
    print_text(results, options.tolerance);
    fmt::print("\n{}\n", tolerance_verdict(good, options.tolerance));
  }
  return static_cast<int>(good ? ExitCode::good : ExitCode::run_failed);
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "the recipe, and overrides: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)").required();
  command.add_flag("--all", options->all, "every method, not only the one that the recipe chooses");
  command.add_option("--tolerance", options->tolerance, "largest relative difference of loss, log-probabilities and any gradient that is let pass")
      .check(from_zero_on())
      .show_default();
  command.add_option("--name", options->launch.name, "the name in the history (default: the recipe's, with -probe)");
  command.add_option("--store", options->daemon.store, "the history file, when this starts the daemon").type_name("FILE");
  command.footer(
      "\nDifferences are relative: of the loss, of the largest log-probability, of each gradient's largest value (at least a hundredth of the\n"
      "model's largest). Exit code 1 beyond the tolerance.");
  set_action(command, invocation, [options, &invocation] { return probe(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "probe", "Compare one batch with and without context parallelism: loss, log-probabilities, gradients", build});

}  // namespace
}  // namespace ringwright::cli
