// Level 2: the model's family under context parallelism.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shared/support_matrix/capabilities.h"
#include "shared/support_matrix/families.h"
#include "shared/support_matrix/family_facts.h"
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {
namespace {

const Family& family_of(const Facts& f) {
  const Family* found = find_family(f.model_type);
  return found ? *found : other_families();
}

AttentionRequest request_of(const Facts& f) {
  return {f.text("policy.dtensor_cfg.automodel_kwargs.backend.attn"), f.on("policy.dtensor_cfg.automodel_kwargs.force_hf")};
}

// Skipped for a family that is not to be trained here: nothing is known of it.
Verdict own_verdict(const std::string& model_type) {
  if (std::find(std::begin(kOwnFamilies), std::end(kOwnFamilies), model_type) == std::end(kOwnFamilies)) return kSkip;
  return capability("family." + model_type);
}

Verdicts decide(const Facts& f) {
  const Family& family = family_of(f);
  const AttentionRequest request = request_of(f);
  return {judge(family, Target::automodel_0_4, request).verdict, judge(family, Target::automodel_0_6, request).verdict, own_verdict(f.model_type)};
}

std::string own_words(const std::string& model_type) {
  const Verdict verdict = own_verdict(model_type);
  if (verdict == Verdict::not_yet) return fmt::format("{} is not trained by this version", model_type);
  if (verdict != kSkip) return fmt::format("{} in rows, streams and packs", model_type);
  return fmt::format("families are {}", fmt::join(kOwnFamilies, ", "));
}

}  // namespace

void name_family_words(Facts& facts) {
  const Family& family = family_of(facts);
  const AttentionRequest request = request_of(facts);
  const auto words = [&](Target target) { return judge(family, target, request).words; };
  const std::string attention = attention_way_out(family, request);
  facts.words["family_words"] = fmt::format("{}: automodel-0.4: {}; automodel-0.6: {}; ringwright: {}", facts.model_type,
                                            words(Target::automodel_0_4), words(Target::automodel_0_6), own_words(facts.model_type));
  facts.words["family_attention_key"] = attention.empty() ? "" : "policy.dtensor_cfg.automodel_kwargs.backend.attn";
  facts.words["family_attention"] = attention;
  facts.words["family_fix"] = facts.words["family_attention_key"].empty()
                                  ? "policy.dtensor_cfg.context_parallel_size=1, or a model of another family"
                                  : facts.words["family_attention_key"] + "=" + attention + ", or policy.dtensor_cfg.context_parallel_size=1";
}

const Rows& family_rows() {
  static const Rows kRows = {
      {.code = "RW-GUARD-230",
       .scope = "family and context parallelism",
       .when = {"cp > 1 (by model_type: the table of families)", [](const Facts& f) { return f.shards() && !f.model_type.empty(); }},
       .automodel = {kIf, kIf},
       .ours = can("family.llama"),
       .key = "policy.model_name",
       .reason = "{family_words}",
       .fix = {.changes = {{"{family_attention_key}", "{family_attention}"}}, .words = "{family_fix}"},
       .decide = decide},
      {.code = "RW-GUARD-231",
       .scope = "family that declares no context parallelism",
       .when = {"cp > 1, and the class in Automodel 0.6 declares that it does not support it",
                [](const Facts& f) { return f.shards() && !f.model_type.empty() && family_of(f).declared_no; }},
       .automodel = {kNone, kIf},
       .ours = always(kNone),
       .key = "policy.model_name",
       .reason = "Automodel 0.6 declares that {model_type} does not support it; what its live check says is in row RW-GUARD-230"},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix
