// ringwright doctor: what this machine offers, and what stands in the way.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "console/cli/doctor_checks.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/error.h"

namespace ringwright::cli {
namespace {

constexpr std::array<const char*, 3> kHealthNames = {"good", "note", "bad"};
constexpr std::array<Style, 3> kHealthStyles = {Style::good, Style::warning, Style::bad};

void print_text(const std::vector<Observation>& observations) {
  Table table({{""}, {"what"}, {"seen", Align::left, true}});
  for (const Observation& seen : observations) {
    const auto index = static_cast<size_t>(seen.health);
    table.add_row({styled(kHealthNames[index], kHealthStyles[index]), seen.name, seen.seen});
  }
  table.print();
  for (const Observation& seen : observations)
    if (!seen.fix.empty())
      fmt::print("\n{}: {}\n  to fix: {}\n", styled(seen.name, kHealthStyles[static_cast<size_t>(seen.health)]), seen.seen, seen.fix);
}

void print_json(const std::vector<Observation>& observations) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Observation& seen : observations)
    list.push_back({{"name", seen.name}, {"health", kHealthNames[static_cast<size_t>(seen.health)]}, {"seen", seen.seen}, {"fix", seen.fix}});
  fmt::print("{}\n", list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int doctor(const Invocation& invocation) {
  const std::vector<Observation> observations = examine();
  invocation.json ? print_json(observations) : print_text(observations);
  const bool bad = std::any_of(observations.begin(), observations.end(), [](const Observation& seen) { return seen.health == Health::bad; });
  return static_cast<int>(bad ? ExitCode::run_failed : ExitCode::good);
}

void build(CLI::App& command, Invocation& invocation) {
  command.footer("Exit code 1 when something is bad: runs would fail.");
  set_action(command, invocation, [&invocation] { return doctor(invocation); });
}

const VerbEntry kEntry({Group::service, "doctor", "Look at this machine: versions, LibTorch, devices, ports, permissions, display", build});

}  // namespace
}  // namespace ringwright::cli
