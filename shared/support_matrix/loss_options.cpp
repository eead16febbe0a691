// Sets of loss options that NeMo RL's constructors refuse.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

struct OptionRule {
  std::string_view key;  // below loss_fn
  std::string_view what, fix;
  bool (*broken)(const Facts&);
};

bool on(const Facts& f, const char* key) { return f.on(std::string("loss_fn.") + key); }
bool given(const Facts& f, const char* key) { return f.given(std::string("loss_fn.") + key); }
std::string text(const Facts& f, const char* key) { return f.text(std::string("loss_fn.") + key); }
double number(const Facts& f, const char* key, double fallback) { return f.number(std::string("loss_fn.") + key, fallback); }

bool cispo(const Facts& f) { return on(f, "use_cispo"); }
bool token_level(const Facts& f) { return !f.is_false("loss_fn.token_level_loss"); }
bool by_sequence(const Facts& f) { return on(f, "sequence_level_importance_ratios"); }
bool truncates(const Facts& f) { return given(f, "truncated_importance_sampling_type"); }
bool truncates_as(const Facts& f, const char* type) { return text(f, "truncated_importance_sampling_type") == type; }

constexpr OptionRule kPolicyRules[] = {
    {"use_cispo", "CISPO needs importance ratios, and disable_ppo_ratio takes them away", "loss_fn.disable_ppo_ratio=false",
     [](const Facts& f) { return cispo(f) && on(f, "disable_ppo_ratio"); }},
    {"use_cispo", "CISPO needs importance ratios, and force_on_policy_ratio sets them to 1", "loss_fn.force_on_policy_ratio=false",
     [](const Facts& f) { return cispo(f) && on(f, "force_on_policy_ratio"); }},
    {"use_cispo", "CISPO clips the ratio once; ratio_clip_c would clip it twice", "loss_fn.ratio_clip_c=null",
     [](const Facts& f) { return cispo(f) && given(f, "ratio_clip_c"); }},
    {"use_cispo", "CISPO is a loss over tokens", "loss_fn.token_level_loss=true", [](const Facts& f) { return cispo(f) && !token_level(f); }},
    {"use_cispo", "CISPO takes ratios of tokens, not of sequences", "loss_fn.sequence_level_importance_ratios=false",
     [](const Facts& f) { return cispo(f) && by_sequence(f); }},
    {"sequence_level_importance_ratios", "ratios of sequences go with a loss over sequences", "loss_fn.token_level_loss=false",
     [](const Facts& f) { return by_sequence(f) && token_level(f); }},
    {"truncated_importance_sampling_type", "truncation needs the importance correction", "loss_fn.use_importance_sampling_correction=true",
     [](const Facts& f) { return truncates(f) && !on(f, "use_importance_sampling_correction"); }},
    {"truncated_importance_sampling_type", "there is no truncation of that type",
     "loss_fn.truncated_importance_sampling_type=tis, icepop or seq-mask-tis",
     [](const Facts& f) { return truncates(f) && !truncates_as(f, "tis") && !truncates_as(f, "icepop") && !truncates_as(f, "seq-mask-tis"); }},
    {"truncated_importance_sampling_ratio", "truncation needs a ratio above 0", "loss_fn.truncated_importance_sampling_ratio=2.0",
     [](const Facts& f) { return truncates(f) && number(f, "truncated_importance_sampling_ratio", 0) <= 0; }},
    {"truncated_importance_sampling_ratio_min", "the lower ratio is above the upper", "a smaller loss_fn.truncated_importance_sampling_ratio_min",
     [](const Facts& f) {
       return truncates(f) && number(f, "truncated_importance_sampling_ratio_min", 0) > number(f, "truncated_importance_sampling_ratio", 0);
     }},
    {"truncated_importance_sampling_ratio_min", "this type of truncation needs a lower ratio", "loss_fn.truncated_importance_sampling_ratio_min=0.5",
     [](const Facts& f) {
       return (truncates_as(f, "icepop") || truncates_as(f, "seq-mask-tis")) && !given(f, "truncated_importance_sampling_ratio_min");
     }},
    {"truncated_importance_sampling_type", "masking whole sequences goes with ratios of tokens", "loss_fn.sequence_level_importance_ratios=false",
     [](const Facts& f) { return truncates_as(f, "seq-mask-tis") && by_sequence(f); }},
};

double weight_sum(const Facts& f) {
  double sum = 0;
  const nlohmann::json* teachers = f.find("teachers");
  for (size_t i = 0; teachers && i < teachers->size(); ++i) sum += f.number("teachers." + std::to_string(i) + ".weight", 1);
  return sum;
}

std::string mode(const Facts& f) { return given(f, "kd_loss_mode") ? text(f, "kd_loss_mode") : "sum"; }

constexpr OptionRule kTeacherRules[] = {
    {"xtoken_loss", "the loss over chunks is an addition to the gold loss", "loss_fn.gold_loss=true",
     [](const Facts& f) { return on(f, "xtoken_loss") && !on(f, "gold_loss"); }},
    {"sum_weights_metric", "weights by a metric go with kd_loss_mode sum", "loss_fn.sum_weights_metric=null",
     [](const Facts& f) { return given(f, "sum_weights_metric") && mode(f) != "sum"; }},
    {"normalize_teacher_by_vocab", "normalising by vocabulary goes with kd_loss_mode sum", "loss_fn.normalize_teacher_by_vocab=false",
     [](const Facts& f) { return on(f, "normalize_teacher_by_vocab") && mode(f) != "sum"; }},
    {"kd_loss_mode", "averaged logits need weights that add up to more than 0", "a positive teachers[].weight",
     [](const Facts& f) { return mode(f) == "averaged_logits" && weight_sum(f) <= 0; }},
    {"kd_loss_mode", "there is no such mode; NeMo RL finds out with the first batch", "loss_fn.kd_loss_mode=sum, averaged_logits or select_teacher",
     [](const Facts& f) { return mode(f) != "sum" && mode(f) != "averaged_logits" && mode(f) != "select_teacher"; }},
};

}  // namespace

LossFault find_loss_fault(const Facts& facts) {
  const OptionRule* begin = facts.teachers ? std::begin(kTeacherRules) : std::begin(kPolicyRules);
  const OptionRule* end = facts.teachers ? std::end(kTeacherRules) : std::end(kPolicyRules);
  const OptionRule* found = std::find_if(begin, end, [&](const OptionRule& rule) { return rule.broken(facts); });
  if (found == end) return {};
  return {"loss_fn." + std::string(found->key), std::string(found->what), std::string(found->fix)};
}

}  // namespace ringwright::support_matrix
