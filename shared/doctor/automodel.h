// Which Automodel a NeMo RL checkout runs: the commit that its tree records, the one that is checked out, and the one that the target means. A tag is
// not trusted: it can be moved or made anew without any checkout changing.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "shared/doctor/observation.h"
#include "shared/support_matrix/migration.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::doctor {

struct AutomodelRelease {
  support_matrix::Target target;
  std::string_view commit, tag;  // the first 8 digits; the tag that once named it
};
inline constexpr std::array<AutomodelRelease, 2> kAutomodelReleases = {
    {{support_matrix::Target::automodel_0_4, support_matrix::kAutomodelCommit04, "v0.4.0"},
     {support_matrix::Target::automodel_0_6, support_matrix::kAutomodelCommit06, "v0.6.0"}}};
// Throws Error RW-DOCTOR-030 (exit code 2) for the target `ringwright`, which runs no Python.
const AutomodelRelease& release_of(support_matrix::Target target);

// "89c248a1, the commit of v0.6.0", "7e9493d7, on the branch r0.6.0", "0123abcd".
std::string describe_commit(const std::string& commit);

struct AutomodelCheckout {
  std::filesystem::path nemo_rl;
  std::string recorded;     // in the tree of NeMo RL's commit
  std::string staged;       // in its index; as `recorded` unless somebody is about to change it
  std::string checked_out;  // "": the submodule is not there
  size_t changed_files = 0;
  struct Tag {
    std::string name, commit;
  };
  std::vector<Tag> tags;  // those of kAutomodelReleases that the checkout has
};

// Throws Error RW-DOCTOR-021 (no git repository), RW-DOCTOR-022 (it records no Automodel), both with exit code 2, and those of ask_git.
AutomodelCheckout read_automodel_checkout(const std::filesystem::path& nemo_rl);

std::vector<Observation> compare_with_target(const AutomodelCheckout& checkout, support_matrix::Target target);

}  // namespace ringwright::doctor
