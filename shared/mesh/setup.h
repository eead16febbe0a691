// A mesh together with the policies of a job (context-parallel contract, section 8), and the adapter that reads them from a section of text.
// Nothing here starts a process or knows of tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/mesh/mesh.h"
#include "shared/mesh/policy.h"

namespace ringwright::mesh {

enum class ActivationCheckpointing { off, full, selective };
// bool, null (off), or in any case: false/off/none/disabled/no, true/on/full/enabled/yes, selective. RW-SETUP-003: anything else.
ActivationCheckpointing activation_checkpointing_from(const Options& value, const std::string& where = "activation_checkpointing");

struct StrategyPolicy {
  Strategy strategy = Strategy::fsdp2;
  Options options;
};

// What a job is to be made of, before there is a world.
struct SetupRequest {
  StrategyPolicy strategy;
  ParallelismSizes sizes;
  std::optional<Options> pipeline, experts;  // absent: defaults where the size asks for them
  ActivationCheckpointing activation_checkpointing = ActivationCheckpointing::off;
};

// Topology and policies, complete: every option has a value. A pipeline is there exactly when pp > 1, experts exactly when ep > 1.
struct DistributedSetup {
  Mesh mesh;
  std::optional<StrategyPolicy> strategy;  // absent for a mesh that was given, which says nothing of policies
  std::optional<Options> pipeline, experts;
  ActivationCheckpointing activation_checkpointing = ActivationCheckpointing::off;
};

// RW-SETUP-006: selective with megatron_fsdp.
void check_activation_checkpointing(const SetupRequest& request, const std::string& where = "activation_checkpointing");

// Throws the mesh's errors, those of complete_options, and Error (exit code 3): RW-SETUP-004 a pipeline policy with pp <= 1, RW-SETUP-005 an expert
// policy with ep <= 1, RW-SETUP-006 selective activation checkpointing with megatron_fsdp.
DistributedSetup build_setup(int world_size, const SetupRequest& request);
// The same over an ordered list of global ranks.
DistributedSetup build_setup(const std::vector<int>& ranks, const SetupRequest& request);
// A topology-only setup.
DistributedSetup setup_of(Mesh mesh);

// What a section says, with one text for each thing that it says without effect.
struct Section {
  SetupRequest request;
  std::vector<std::string> warnings;
};

// Reads Automodel's `distributed` section: strategy, {dp,dp_replicate,tp,pp,cp,ep}_size, pipeline, moe, activation_checkpointing, and the strategy's
// options beside them. Softer than build_setup: null means the default, a pipeline block with pp <= 1 and a moe block with ep <= 1 are ignored with a
// warning. pp > 1 needs a pipeline block; an empty one will do. Throws Error (exit code 3): RW-SETUP-007 a size that is no whole number, RW-SETUP-008
// pp > 1 without a block, RW-SETUP-009 an option that the strategy does not have, and those above.
Section read_section(const Options& section, const PlaceOf& place = {});

}  // namespace ringwright::mesh
