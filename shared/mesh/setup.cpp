#include "shared/mesh/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "shared/base/error.h"

namespace ringwright::mesh {
namespace {

struct Word {
  std::string_view text;
  ActivationCheckpointing mode;
};

constexpr std::array<Word, 11> kModes = {{{"false", ActivationCheckpointing::off},
                                          {"off", ActivationCheckpointing::off},
                                          {"none", ActivationCheckpointing::off},
                                          {"disabled", ActivationCheckpointing::off},
                                          {"no", ActivationCheckpointing::off},
                                          {"true", ActivationCheckpointing::full},
                                          {"on", ActivationCheckpointing::full},
                                          {"full", ActivationCheckpointing::full},
                                          {"enabled", ActivationCheckpointing::full},
                                          {"yes", ActivationCheckpointing::full},
                                          {"selective", ActivationCheckpointing::selective}}};

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& where, const std::string& expected,
                         const std::string& action) {
  throw Error({.code = code, .what = what, .where = where, .expected = expected, .action = action, .exit_code = ExitCode::refused});
}

void check_policies(const SetupRequest& request) {
  if (request.pipeline && request.sizes.pp <= 1) {
    refuse("RW-SETUP-004", fmt::format("there is a pipeline policy, and pp = {}", request.sizes.pp), "pipeline", "pp above 1",
           "set pp, or leave the policy out");
  }
  if (request.experts && request.sizes.ep <= 1) {
    refuse("RW-SETUP-005", fmt::format("there is a policy for expert layers, and ep = {}", request.sizes.ep), "moe", "ep above 1",
           "set ep, or leave the policy out");
  }
  check_activation_checkpointing(request);
}

// The type in which stages send activations to each other, unless the policy names another.
void fill_communication_type(const Options& strategy_options, Options& pipeline) {
  if (!pipeline.at("dtype").is_null()) return;
  if (const std::string type = activation_dtype(strategy_options); !type.empty()) pipeline["dtype"] = type;
}

DistributedSetup complete(Mesh mesh, const SetupRequest& request) {
  DistributedSetup setup{std::move(mesh), request.strategy, {}, {}, request.activation_checkpointing};
  setup.strategy->options = complete_options(kind_of(request.strategy.strategy), request.strategy.options);
  if (request.sizes.pp > 1) {
    setup.pipeline = complete_options(PolicyKind::pipeline, request.pipeline.value_or(Options()), "pipeline");
    fill_communication_type(setup.strategy->options, *setup.pipeline);
  }
  if (request.sizes.ep > 1) setup.experts = complete_options(PolicyKind::experts, request.experts.value_or(Options()), "moe");
  return setup;
}

}  // namespace

ActivationCheckpointing activation_checkpointing_from(const Options& value, const std::string& where) {
  if (value.is_null()) return ActivationCheckpointing::off;
  std::string text = value.is_string() ? value.get<std::string>() : value.is_boolean() ? value.dump() : "";
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Word& word : kModes)
    if (word.text == text) return word.mode;
  refuse("RW-SETUP-003", fmt::format("activation_checkpointing is {}", value.dump(-1, ' ', false, Options::error_handler_t::replace)), where,
         "true, false or selective", "correct the value");
}

void check_activation_checkpointing(const SetupRequest& request, const std::string& where) {
  const bool selective = request.activation_checkpointing == ActivationCheckpointing::selective;
  if (!selective || request.strategy.strategy != Strategy::megatron_fsdp) return;
  refuse("RW-SETUP-006", "megatron_fsdp has no selective activation checkpointing", where, "true or false; selective goes with fsdp2 and ddp",
         "set activation_checkpointing=true");
}

DistributedSetup build_setup(int world_size, const SetupRequest& request) {
  check_policies(request);
  return complete(Mesh::build(world_size, request.sizes, request.strategy.strategy), request);
}

DistributedSetup build_setup(const std::vector<int>& ranks, const SetupRequest& request) {
  check_policies(request);
  return complete(Mesh::build(ranks, request.sizes, request.strategy.strategy), request);
}

DistributedSetup setup_of(Mesh mesh) { return {std::move(mesh), {}, {}, {}, ActivationCheckpointing::off}; }

}  // namespace ringwright::mesh
