#include "shared/doctor/pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/doctor/automodel.h"
#include "shared/doctor/git.h"
#include "shared/doctor/version.h"

namespace ringwright::doctor {
namespace {

namespace fs = std::filesystem;
using support_matrix::Target;

struct ExtraMark {
  std::string_view extra, package;  // "": nothing gives it away
};
constexpr ExtraMark kExtraMarks[] = {
    {"automodel", "nemo-automodel"}, {"fsdp", ""}, {"vllm", "vllm"}, {"mcore", "megatron-core"}, {"sglang", "sglang"}};

constexpr std::string_view kLoading = "loading of models and tokenizers: the classes that the policy is built from are those of another release";
constexpr std::string_view kRollouts = "rollouts: their environment and the policy's then disagree on a model's classes";
constexpr std::string_view kTileLang = "attention kernels in TileLang: deepseek_v4 and glm_moe_dsa cannot run under context parallelism";

std::string python_of(const PythonEnvironment& environment) {
  std::error_code ignored;
  const fs::path python = environment.folder / "bin/python";
  return fs::exists(python, ignored) ? python.string() : "";
}

std::vector<std::string> install(const PythonEnvironment& environment, const std::string& what) {
  const std::string python = python_of(environment);
  if (python.empty()) return {};
  return {fmt::format("uv pip install --python {} {}", text::shell_word(python), text::shell_word(what))};
}

std::string where_it_is_pinned(const Pin& pin) { return pin.extra.empty() ? std::string("every environment") : fmt::format("extra {}", pin.extra); }

Observation look_at_commit(const Pin& pin, const std::string& wanted, const PythonEnvironment& environment) {
  const InstalledPackage* package = environment.find(std::string(pin.package));
  if (!package)
    return {std::string(pin.package), Health::note, "not installed", fmt::format("pinned to commit {}; needed for: {}", wanted, pin.breaks), {}};
  if (package->commit.starts_with(wanted)) return {package->name, Health::good, fmt::format("{} from commit {}", package->version, wanted), "", {}};
  const std::string from =
      package->commit.empty() ? "from no commit that its metadata names" : "from commit " + package->commit.substr(0, wanted.size());
  return {package->name,
          Health::bad,
          fmt::format("{} {}, breaks the pin to commit {}: {}", package->version, from, wanted, pin.breaks),
          "install it from that commit",
          {}};
}

Observation look_at_version(const Pin& pin, const std::string& wanted, const PythonEnvironment& environment) {
  const bool advice = pin.kind == PinKind::advice;
  const std::string name(pin.package);
  const InstalledPackage* package = environment.find(name);
  const auto commands = [&] { return install(environment, name + wanted); };
  if (!package)
    return {name, Health::bad, fmt::format("not installed, while {} is pinned ({}): {}", wanted, where_it_is_pinned(pin), pin.breaks),
            "install " + name + wanted, commands()};
  try {
    const Version version(package->version);
    if (satisfies(version, wanted))
      return {name, Health::good, fmt::format("{}, pinned {} ({})", package->version, wanted, where_it_is_pinned(pin)), "", {}};
  } catch (const Error& error) {
    return {name, Health::bad, fmt::format("{}: {}", error.parts().what, error.parts().where), error.parts().action, commands()};
  }
  return {name, advice ? Health::note : Health::bad,
          fmt::format("{} {} {} ({}): {}", package->version, advice ? "is not" : "breaks the pin", wanted, where_it_is_pinned(pin), pin.breaks),
          fmt::format("install {}{}", name, wanted), commands()};
}

// Automodel's own version is a name that many commits have had.
Observation look_at_automodel(const InstalledPackage& package, Target target) {
  const AutomodelRelease& release = release_of(target);
  const std::string commit = !package.commit.empty() ? package.commit : package.source.empty() ? "" : checked_out_commit(package.source);
  if (commit.empty())
    return {package.name,
            Health::note,
            package.version + ", from no commit that its metadata names: which Automodel it is cannot be told",
            "compare the checkout: --nemo-rl DIR",
            {}};
  const bool good = commit.starts_with(release.commit);
  return {package.name,
          good ? Health::good : Health::bad,
          fmt::format("{} from {}{}", package.version, describe_commit(commit),
                      good ? "" : fmt::format(", breaks the pin to commit {}: another Automodel runs than the one that is meant", release.commit)),
          good ? "" : "compare the checkout: --nemo-rl DIR",
          {}};
}

bool on_loader_path(const fs::path& folder) {
  const char* variable = std::getenv("LD_LIBRARY_PATH");
  std::istringstream path(variable ? variable : "");
  std::error_code ignored;
  for (std::string each; std::getline(path, each, ':');)
    if (!each.empty() && fs::equivalent(each, folder, ignored)) return true;
  return false;
}

Observation look_at_z3(const PythonEnvironment& environment) {
  const fs::path folder = environment.site_packages / "z3/lib";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return {"z3", Health::bad, "its library folder is not there: TileLang cannot be imported", "install z3-solver",
            install(environment, "z3-solver")};
  if (on_loader_path(folder)) return {"z3", Health::good, folder.string() + " is on LD_LIBRARY_PATH", "", {}};
  return {"z3",
          Health::note,
          "its library folder is not on LD_LIBRARY_PATH of this shell: TileLang cannot be imported without it",
          "put it there where NeMo RL is started",
          {fmt::format("export LD_LIBRARY_PATH={}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}", text::shell_word(folder.string()))}};
}

void add_condition_of_metadata(const PythonEnvironment& environment, std::vector<Observation>& observations) {
  for (const std::string& name : environment.twice)
    observations.push_back(
        {name, Health::note, "installed more than once: which one Python sees depends on their order", "uninstall it, and install it again", {}});
  if (!environment.damaged.empty())
    observations.push_back(
        {"metadata", Health::note, fmt::format("names no package or version: {}", fmt::join(environment.damaged, ", ")), "install these again", {}});
}

}  // namespace

// Source: NeMo RL's own project file before and after its upgrade of Automodel.
const std::vector<Pin>& pins() {
  static const std::vector<Pin> kPins = {
      {"transformers", "", "", PinKind::version, {">=5.5.0,<5.9.0", ">=5.5.0,<=5.12.1"}, kLoading},
      {"transformers", "automodel", "", PinKind::version, {">=5.5.0,<5.6.0", "==5.12.1"}, kLoading},
      {"transformers", "fsdp", "", PinKind::version, {"", "==5.12.1"}, kLoading},
      {"transformers", "vllm", "", PinKind::version, {"", "==5.12.1"}, kRollouts},
      {"transformers", "mcore", "", PinKind::version, {"", "==5.12.1"}, kLoading},
      {"transformers", "sglang", "", PinKind::version, {"", "==5.6.0"}, kRollouts},
      {"tilelang", "automodel", "x86_64", PinKind::version, {"", "==0.1.11"}, kTileLang},
      {"apache-tvm-ffi",
       "automodel",
       "",
       PinKind::version,
       {">=0.1.9", "==0.1.11"},
       "TileLang's kernels, which are built for one TVM FFI: they cannot be loaded"},
      {"megatron-fsdp", "", "", PinKind::commit, {"", "455389c4"}, "the strategy Megatron FSDP"},
      {"transformers",
       "",
       "",
       PinKind::advice,
       {"", ">=5.12.1"},
       "gemma4 alone: its layers that share keys and values need use_cache=True in training"},
  };
  return kPins;
}

std::vector<std::string> pinned_extras() {
  std::vector<std::string> names;
  for (const ExtraMark& mark : kExtraMarks) names.emplace_back(mark.extra);
  return names;
}

std::vector<std::string> extras_of(const PythonEnvironment& environment) {
  std::vector<std::string> extras;
  for (const ExtraMark& mark : kExtraMarks)
    if (!mark.package.empty() && environment.find(std::string(mark.package))) extras.emplace_back(mark.extra);
  return extras;
}

std::vector<Observation> compare_with_pins(const PythonEnvironment& environment, Target target, const std::vector<std::string>& extras) {
  (void)release_of(target);
  std::vector<Observation> observations;
  if (const InstalledPackage* automodel = environment.find("nemo-automodel")) observations.push_back(look_at_automodel(*automodel, target));
  for (const Pin& pin : pins()) {
    const std::string wanted(pin.wanted[static_cast<size_t>(target)]);
    const bool applies = pin.extra.empty() || std::find(extras.begin(), extras.end(), pin.extra) != extras.end();
    const bool machine = pin.machine.empty() || environment.machine.empty() || pin.machine == environment.machine;
    const bool said_already = pin.kind == PinKind::advice && !environment.find(std::string(pin.package));
    if (wanted.empty() || !applies || !machine || said_already) continue;
    observations.push_back(pin.kind == PinKind::commit ? look_at_commit(pin, wanted, environment) : look_at_version(pin, wanted, environment));
  }
  if (environment.find("tilelang")) observations.push_back(look_at_z3(environment));
  add_condition_of_metadata(environment, observations);
  return observations;
}

std::string first_broken_pin(const std::vector<Observation>& observations) {
  const auto found = std::find_if(observations.begin(), observations.end(), [](const Observation& each) { return each.health == Health::bad; });
  return found == observations.end() ? "" : found->name + " " + found->seen;
}

}  // namespace ringwright::doctor
