// Can this recipe run, where, and if not, why? The rows are data (rows_*.cpp); `check`, the daemon's admission, the console and the documentation
// read the same ones. Three targets: NeMo RL with Automodel 0.4.0, with Automodel 0.6.0, and this engine, whose column comes from the capability
// table. Three levels: the recipe; the files that it names; a run (running.h).
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/recipe.h"

namespace ringwright::support_matrix {

enum class Target { automodel_0_4, automodel_0_6, ringwright };
inline constexpr std::array<std::string_view, 3> kTargetNames = {"automodel-0.4", "automodel-0.6", "ringwright"};
// Throws Error RW-GUARD-001: another name.
Target target_from_name(std::string_view name);
// The same, or all three for "all".
std::vector<Target> targets_from_name(std::string_view name);

enum class Verdict {
  supported,
  conditional,  // runs under the condition named in the reason
  padded,       // runs; sequences are padded, and trimmed again
  refused,
  not_applicable,
  not_yet,  // this engine will have it, and stops before anything starts until then
  skipped,  // could not be looked at; never to be read as passed
};
inline constexpr std::array<std::string_view, 7> kVerdictNames = {"supported",      "conditional", "padded", "refused",
                                                                  "not_applicable", "not_yet",     "skipped"};
std::string_view to_string(Verdict verdict);
// Refused and not_yet.
bool stops(Verdict verdict);

// What a change does to the run.
enum class Effect { safe, changes_training };

// A key to change and the value to set: text of YAML in one line. `removes`: the key is taken out.
struct Change {
  std::string key, value;
  bool removes = false;
  Effect effect = Effect::safe;

  bool operator==(const Change&) const = default;
};
std::string as_override(const Change& change);

struct Finding {
  std::string code;                   // stable: RW-GUARD-110; a fault that another part found keeps its own: RW-MESH-001
  std::string scope;                  // what the row is about
  std::array<Verdict, 3> verdicts{};  // by Target
  std::string reason;
  std::string key;              // the recipe key that decides, or "" where none does
  recipe::Origin origin;        // where that key was written; line 0: it was not
  std::string fix;              // the way out, "" where nothing stands in the way
  std::vector<Change> changes;  // the same, where changes of the recipe will do

  Verdict verdict(Target target) const { return verdicts[static_cast<size_t>(target)]; }
};

// What a machine says of itself to others.
struct Machine {
  std::string host, host_address;  // "10.0.0.5"; "": the name stands for no address
  bool loopback = false;
  std::vector<std::string> interfaces;
  std::string gloo_interface;  // GLOO_SOCKET_IFNAME of the environment; "": unset
};
// The address of the host's name takes a look-up, which only several nodes are worth.
Machine this_machine(bool looks_up_address = true);

struct CheckOptions {
  bool look_at_files = true;                // level 2: the model's config.json, its tokenizer, the data file; absent ones give `skipped` rows
  std::filesystem::path model_folder = {};  // in place of what policy.model_name stands for
  bool map_megatron = false;                // read policy.megatron_cfg's sizes and optimizer as the DTensor backend's
  std::optional<Machine> machine = {};      // absent: this one, asked where the recipe makes it matter
};
// Looks this machine up where a recipe of several nodes is checked more than once.
void ask_machine(const recipe::Recipe& recipe, CheckOptions& options);

// Level 1 (recipe and mesh) and level 2 (files), in the order of the rows. One finding per fault. Throws Error (exit code 2) for a recipe whose
// values have the wrong kind, since then nothing can be said.
std::vector<Finding> check(const recipe::Recipe& recipe, const CheckOptions& options = {});
bool refused(const std::vector<Finding>& findings, Target target = Target::ringwright);
// Whether the finding stops one of the targets.
bool stops_one(const Finding& finding, const std::vector<Target>& targets);
// The first finding that stops the target, as an error with exit code 3. Throws std::logic_error when none does.
Error refusal(const std::vector<Finding>& findings, Target target = Target::ringwright);
nlohmann::ordered_json to_json(const Finding& finding);

// One row of the table, for the documentation and for the test that every row has a case.
struct RowText {
  std::string code, scope, condition, reason, key, fix;
  std::array<Verdict, 3> verdicts{};
  std::string capability;  // that the column ringwright is read from; "": a rule of its own
  std::string_view level;  // "recipe", "files", "run"
};
std::vector<RowText> rows();

}  // namespace ringwright::support_matrix
