// ringwright doctor: what this machine offers and what stands in the way; which NeMo RL would run here; what two fingerprints differ in.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "console/cli/fingerprint_source.h"
#include "console/cli/run_text.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/error.h"
#include "shared/base/host.h"
#include "shared/base/printable.h"
#include "shared/doctor/automodel.h"
#include "shared/doctor/machine_checks.h"
#include "shared/doctor/pins.h"
#include "shared/doctor/python_environment.h"
#include "shared/fingerprint/comparison.h"
#include "shared/fingerprint/machine.h"

namespace ringwright::cli {
namespace {

using doctor::Health;
using doctor::Observation;
using support_matrix::Target;

constexpr std::array<const char*, 3> kHealthNames = {"good", "note", "bad"};
constexpr std::array<Style, 3> kHealthStyles = {Style::good, Style::warning, Style::bad};
constexpr std::array<const char*, 3> kWeightNames = {"name", "may", "decides"};
constexpr std::array<Style, 3> kWeightStyles = {Style::dim, Style::warning, Style::bad};
constexpr const char* kDefaultTarget = "automodel-0.6";

struct Options {
  StoreOption store;
  std::string python, nemo_rl, target = kDefaultTarget;
  std::vector<std::string> compare, extras;
  bool fix = false;
};

// What was looked at for one target, or on this machine.
struct Section {
  std::string title;   // "" for the machine
  std::string target;  // "" for the machine
  std::vector<Observation> observations;
  std::string conclusion;  // the first thing that is wrong, with what breaks
};

bool is_bad(const Section& section) {
  return std::any_of(section.observations.begin(), section.observations.end(), [](const Observation& each) { return each.health == Health::bad; });
}

std::filesystem::path torch_folder() { return doctor::torch_folder(RINGWRIGHT_BUILT_TORCH_DIR); }

void print_text(const Section& section) {
  if (!section.title.empty()) fmt::print("{}\n", styled(section.title, Style::bold));
  Table table({{""}, {"what"}, {"seen", Align::left, true}});
  for (const Observation& seen : section.observations) {
    const auto index = static_cast<size_t>(seen.health);
    table.add_row({styled(kHealthNames[index], kHealthStyles[index]), text::printable(seen.name), text::printable(seen.seen)});
  }
  table.print();
  for (const Observation& seen : section.observations)
    if (!seen.fix.empty())
      fmt::print("\n{}: {}\n  to fix: {}\n", styled(text::printable(seen.name), kHealthStyles[static_cast<size_t>(seen.health)]),
                 text::printable(seen.seen), text::printable(seen.fix));
  if (!section.conclusion.empty()) fmt::print("\nfirst: {}\n", text::printable(section.conclusion));
}

// A script that does what the observations ask for; printed, never run.
void print_fixes(const std::vector<Section>& sections) {
  bool any = false;
  for (const Section& section : sections)
    for (const Observation& seen : section.observations) {
      if (seen.fix.empty()) continue;
      any = true;
      fmt::print("# {}{}: {}\n", section.target.empty() ? "" : section.target + ", ", text::printable(seen.name), text::printable(seen.seen));
      if (seen.commands.empty()) fmt::print("# by hand: {}\n", text::printable(seen.fix));
      for (const std::string& command : seen.commands) fmt::print("{}\n", text::printable(command));
    }
  if (!any) fmt::print("# nothing to do\n");
}

nlohmann::ordered_json to_json(const Observation& seen) {
  return {{"name", seen.name},
          {"health", kHealthNames[static_cast<size_t>(seen.health)]},
          {"seen", seen.seen},
          {"fix", seen.fix},
          {"commands", seen.commands}};
}

void print_json(const std::vector<Section>& sections, nlohmann::ordered_json document) {
  for (const Section& section : sections) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Observation& seen : section.observations) list.push_back(to_json(seen));
    if (section.target.empty())
      document["observations"] = std::move(list);
    else
      document["targets"].push_back(
          {{"target", section.target}, {"good", !is_bad(section)}, {"first", section.conclusion}, {"observations", std::move(list)}});
  }
  fmt::print("{}", dump_ordered_document(document));
}

int report(const std::vector<Section>& sections, const Options& options, const Invocation& invocation, nlohmann::ordered_json document) {
  if (invocation.json) {
    print_json(sections, std::move(document));
  } else if (options.fix) {
    print_fixes(sections);
  } else {
    for (const Section& section : sections) print_text(section);
  }
  // Of several targets one is enough.
  const bool bad = std::all_of(sections.begin(), sections.end(), is_bad);
  return static_cast<int>(bad ? ExitCode::run_failed : ExitCode::good);
}

std::vector<Target> targets_of(const Options& options) {
  if (options.target == "all") return {Target::automodel_0_4, Target::automodel_0_6};
  const Target target = support_matrix::target_from_name(options.target);
  (void)doctor::release_of(target);
  return {target};
}

int look_at_nemo_rl(const Options& options, const Invocation& invocation) {
  std::vector<Section> sections;
  nlohmann::ordered_json document;
  const std::vector<Target> targets = targets_of(options);
  for (const Target target : targets) {
    const std::string name(support_matrix::kTargetNames[static_cast<size_t>(target)]);
    sections.push_back({"as " + name, name, {}, ""});
  }
  if (!options.nemo_rl.empty()) {
    const doctor::AutomodelCheckout checkout = doctor::read_automodel_checkout(options.nemo_rl);
    document["nemo_rl"] = {
        {"folder", options.nemo_rl}, {"recorded", checkout.recorded}, {"staged", checkout.staged}, {"checked_out", checkout.checked_out}};
    for (size_t i = 0; i < targets.size(); ++i) sections[i].observations = doctor::compare_with_target(checkout, targets[i]);
  }
  if (!options.python.empty()) {
    const doctor::PythonEnvironment environment = doctor::read_python_environment(options.python);
    const std::vector<std::string> extras = options.extras.empty() ? doctor::extras_of(environment) : options.extras;
    document["python"] = {{"site_packages", environment.site_packages.string()}, {"packages", environment.packages.size()}, {"extras", extras}};
    for (size_t i = 0; i < targets.size(); ++i)
      for (Observation& seen : doctor::compare_with_pins(environment, targets[i], extras)) sections[i].observations.push_back(std::move(seen));
  }
  for (Section& section : sections) section.conclusion = doctor::first_broken_pin(section.observations);
  return report(sections, options, invocation, std::move(document));
}

int look_at_machine(const Options& options, const Invocation& invocation) {
  const Section section{"", "", doctor::examine_machine({torch_folder(), host::program_folder()}), ""};
  nlohmann::ordered_json document;
  if (invocation.json) document["fingerprint"] = fingerprint::node_fingerprint({.torch_folder = torch_folder()});
  return report({section}, options, invocation, std::move(document));
}

std::string value_text(const nlohmann::json& value) {
  if (value.is_null()) return "-";
  return text::printable(value.is_string() ? value.get<std::string>() : value.dump());
}

void print_differences(const NamedFingerprint& a, const NamedFingerprint& b, const std::vector<fingerprint::Difference>& differences) {
  fmt::print("A: {}\nB: {}\n", a.name, b.name);
  if (differences.empty()) {
    fmt::print("no difference\n");
    return;
  }
  Table table({{""}, {"what"}, {"A", Align::left, true}, {"B", Align::left, true}, {"so", Align::left, true}});
  for (const fingerprint::Difference& each : differences) {
    const auto index = static_cast<size_t>(each.weight);
    table.add_row(
        {styled(kWeightNames[index], kWeightStyles[index]), text::printable(each.path), value_text(each.a), value_text(each.b), each.effect});
  }
  table.print();
}

int compare(const Options& options, const Invocation& invocation) {
  const NamedFingerprint a = find_fingerprint(options.compare.front(), options.store, torch_folder());
  const NamedFingerprint b = find_fingerprint(options.compare.size() > 1 ? options.compare[1] : "this", options.store, torch_folder());
  const std::vector<fingerprint::Difference> differences = fingerprint::compare(a.content, b.content);
  if (invocation.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const fingerprint::Difference& each : differences)
      list.push_back(
          {{"path", each.path}, {"a", each.a}, {"b", each.b}, {"weight", kWeightNames[static_cast<size_t>(each.weight)]}, {"effect", each.effect}});
    std::fputs(dump_document({{"a", a.name}, {"b", b.name}, {"differences", std::move(list)}}).c_str(), stdout);
  } else {
    print_differences(a, b, differences);
  }
  const bool decides =
      std::any_of(differences.begin(), differences.end(), [](const auto& each) { return each.weight == fingerprint::Weight::decisive; });
  return static_cast<int>(decides ? ExitCode::run_failed : ExitCode::good);
}

int examine(const Options& options, const Invocation& invocation) {
  if (!options.compare.empty()) return compare(options, invocation);
  if (!options.python.empty() || !options.nemo_rl.empty()) return look_at_nemo_rl(options, invocation);
  return look_at_machine(options, invocation);
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  const Option python =
      command.add_option("--python", options->python, "a Python environment that NeMo RL runs in: compare it with the target's pins")
          .type_name("DIR");
  const Option nemo_rl =
      command.add_option("--nemo-rl", options->nemo_rl, "a checkout of NeMo RL: compare its Automodel with the target's").type_name("DIR");
  command.add_option("--target", options->target, "automodel-0.4, automodel-0.6 or all").show_default().type_name("T");
  command.add_option("--extra", options->extras, "which extra of NeMo RL the environment is for (default: as its packages tell); may be repeated")
      .check(one_of(doctor::pinned_extras()))
      .type_name("NAME")
      .needs(python);
  command
      .add_option("--compare", options->compare, "two fingerprints: runs, files with what --json prints, or `this` machine (also when B is left out)")
      .expected(1, 2)
      .type_name("A [B]")
      .excludes(python)
      .excludes(nemo_rl);
  command.add_flag("--fix", options->fix, "print what it would do, as a shell script; nothing is done");
  options->store.add_to(command);
  command.footer(
      "Exit code 1 when something is bad: runs would fail, another program would run than the one that was meant, or (--compare) two runs cannot "
      "give\n"
      "the same numbers. No Python is run.");
  set_action(command, invocation, [options, &invocation] { return examine(*options, invocation); });
}

const VerbEntry kEntry({Group::service, "doctor", "Look at this machine, at an environment of NeMo RL, or at what two runs' machines differ in",
                        build});

}  // namespace
}  // namespace ringwright::cli
