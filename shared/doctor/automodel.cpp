#include "shared/doctor/automodel.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/doctor/git.h"

namespace ringwright::doctor {
namespace {

using support_matrix::Target;

constexpr const char* kSubmodule = "3rdparty/Automodel-workspace/Automodel";
constexpr const char* kGitLinkMode = "160000";
constexpr size_t kShortDigits = 8;

// Commits that are no release's, and are met.
struct KnownCommit {
  std::string_view commit, what;
};
constexpr KnownCommit kKnownCommits[] = {{"7e9493d7", "on the branch r0.6.0, recorded by a proposed upgrade of NeMo RL"},
                                         {"94387e43", "on the branch r0.6.0"}};

std::string shortened(const std::string& commit) { return commit.substr(0, kShortDigits); }

// "160000 commit <id>\tpath" of ls-tree, "160000 <id> 0\tpath" of ls-files: the id, "" when it is no link to another repository.
std::string link_in(const std::string& line, size_t id_word) {
  if (!line.starts_with(kGitLinkMode)) return "";
  size_t begin = 0;
  for (size_t word = 0; word < id_word && begin != std::string::npos; ++word) begin = line.find(' ', begin + 1);
  if (begin == std::string::npos) return "";
  const size_t end = line.find_first_of(" \t", begin + 1);
  return line.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
}

std::string recorded_commit(const std::filesystem::path& nemo_rl) {
  const GitAnswer answer = ask_git(nemo_rl, {"ls-tree", "HEAD", "--", kSubmodule});
  if (answer.exit_code != 0)
    throw Error({"RW-DOCTOR-021", "git cannot read this as a checkout of NeMo RL: " + answer.err.substr(0, answer.err.find('\n')), nemo_rl.string(),
                 "a git checkout", "name the folder that NeMo RL was cloned into: --nemo-rl DIR"});
  const std::string commit = link_in(answer.out, 2);
  if (commit.empty())
    throw Error({"RW-DOCTOR-022", "this repository records no commit of Automodel", (nemo_rl / kSubmodule).string(), "a submodule there",
                 "name the folder that NeMo RL was cloned into: --nemo-rl DIR"});
  return commit;
}

std::vector<AutomodelCheckout::Tag> tags_of(const std::filesystem::path& folder) {
  std::vector<AutomodelCheckout::Tag> tags;
  for (const AutomodelRelease& release : kAutomodelReleases) {
    const std::string name(release.tag);
    const GitAnswer answer = ask_git(folder, {"rev-parse", "--verify", "--quiet", "refs/tags/" + name + "^{commit}"});
    if (answer.exit_code == 0) tags.push_back({name, answer.out});
  }
  return tags;
}

std::string command(const std::filesystem::path& folder, const std::string& rest) {
  return "git -C " + text::shell_word(folder.string()) + " " + rest;
}

std::vector<std::string> adopt(const AutomodelCheckout& checkout, const AutomodelRelease& release) {
  const std::string commit(release.commit);
  return {command(checkout.nemo_rl, fmt::format("submodule update --init {}", kSubmodule)), command(checkout.nemo_rl / kSubmodule, "fetch origin"),
          command(checkout.nemo_rl / kSubmodule, "checkout --detach " + commit), command(checkout.nemo_rl, fmt::format("add {}", kSubmodule))};
}

Observation recorded(const AutomodelCheckout& checkout, const AutomodelRelease& release) {
  Observation seen{"Automodel, recorded", Health::good, describe_commit(checkout.recorded), "", {}};
  if (checkout.staged != checkout.recorded) seen.seen += "; staged: " + (checkout.staged.empty() ? "nothing" : describe_commit(checkout.staged));
  if (checkout.recorded.starts_with(release.commit)) return seen;
  seen.health = Health::bad;
  seen.fix = fmt::format("{} is {}: check it out in the submodule and commit the changed link, or ask for the target that is meant",
                         support_matrix::kTargetNames[static_cast<size_t>(release.target)], release.commit);
  seen.commands = adopt(checkout, release);
  return seen;
}

Observation checked_out(const AutomodelCheckout& checkout, const AutomodelRelease& release) {
  const std::string update = command(checkout.nemo_rl, fmt::format("submodule update --init {}", kSubmodule));
  if (checkout.checked_out.empty()) return {"Automodel, checked out", Health::bad, "nothing: the submodule's folder is empty", "fetch it", {update}};
  Observation seen{"Automodel, checked out", Health::good, describe_commit(checkout.checked_out), "", {}};
  const bool as_recorded = checkout.checked_out == checkout.recorded, as_meant = checkout.checked_out.starts_with(release.commit);
  if (!as_recorded) seen.seen += ", not the recorded commit";
  if (as_recorded && as_meant) return seen;
  seen.health = as_meant ? Health::note : Health::bad;
  const bool old_meets_new = checkout.recorded.starts_with(release_of(Target::automodel_0_4).commit) &&
                             checkout.checked_out.starts_with(release_of(Target::automodel_0_6).commit);
  if (old_meets_new) {
    seen.health = Health::bad;
    seen.seen += "; this NeMo RL fails at import with it: it has a class of its own that this Automodel exports";
  }
  const bool recorded_is_meant = checkout.recorded.starts_with(release.commit);
  seen.fix = recorded_is_meant ? "go back to the recorded commit" : "see the recorded commit";
  if (recorded_is_meant) seen.commands = {update};
  return seen;
}

Observation changes(const AutomodelCheckout& checkout) {
  if (checkout.changed_files == 0) return {"Automodel, files", Health::good, "as they were committed", "", {}};
  return {"Automodel, files",
          Health::note,
          fmt::format("{} changed since the commit: it is not what its name says", checkout.changed_files),
          "look at the changes, and commit or undo them",
          {command(checkout.nemo_rl / kSubmodule, "status --short")}};
}

Observation tag_seen(const AutomodelCheckout::Tag& tag) {
  const auto release = std::find_if(kAutomodelReleases.begin(), kAutomodelReleases.end(), [&](const auto& each) { return each.tag == tag.name; });
  if (tag.commit.starts_with(release->commit))
    return {"tag " + tag.name, Health::good, "at " + shortened(tag.commit) + "; a tag alone proves nothing", "", {}};
  return {"tag " + tag.name,
          Health::note,
          fmt::format("at {}, while the release is {}: the tag was moved or made anew", shortened(tag.commit), release->commit),
          "go by the commit, not by the tag",
          {}};
}

}  // namespace

const AutomodelRelease& release_of(Target target) {
  for (const AutomodelRelease& release : kAutomodelReleases)
    if (release.target == target) return release;
  throw Error({"RW-DOCTOR-030", "this target runs no Python, so it has no pins", "--target ringwright", "automodel-0.4 or automodel-0.6",
               "leave --target out, or name one of these"});
}

std::string describe_commit(const std::string& commit) {
  for (const AutomodelRelease& release : kAutomodelReleases)
    if (commit.starts_with(release.commit)) return fmt::format("{}, the commit of {}", shortened(commit), release.tag);
  for (const KnownCommit& known : kKnownCommits)
    if (commit.starts_with(known.commit)) return fmt::format("{}, {}", shortened(commit), known.what);
  return shortened(commit);
}

AutomodelCheckout read_automodel_checkout(const std::filesystem::path& nemo_rl) {
  AutomodelCheckout checkout;
  checkout.nemo_rl = nemo_rl;
  checkout.recorded = recorded_commit(nemo_rl);
  checkout.staged = link_in(ask_git(nemo_rl, {"ls-files", "--stage", "--", kSubmodule}).out, 1);
  const std::filesystem::path folder = nemo_rl / kSubmodule;
  checkout.checked_out = checked_out_commit(folder);
  if (checkout.checked_out.empty()) return checkout;
  const std::string changed = ask_git(folder, {"status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"}).out;
  checkout.changed_files = changed.empty() ? 0 : 1 + static_cast<size_t>(std::count(changed.begin(), changed.end(), '\n'));
  checkout.tags = tags_of(folder);
  return checkout;
}

std::vector<Observation> compare_with_target(const AutomodelCheckout& checkout, Target target) {
  const AutomodelRelease& release = release_of(target);
  std::vector<Observation> observations = {recorded(checkout, release), checked_out(checkout, release)};
  if (!checkout.checked_out.empty()) observations.push_back(changes(checkout));
  for (const AutomodelCheckout::Tag& tag : checkout.tags) observations.push_back(tag_seen(tag));
  return observations;
}

}  // namespace ringwright::doctor
