#include "shared/support_matrix/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {
namespace {

constexpr FamilyAnswer yes(std::string_view note) { return {kYes, "", false, note}; }
constexpr FamilyAnswer no(std::string_view note) { return {kNo, "", false, note}; }
constexpr FamilyAnswer unknown(std::string_view note) { return {kSkip, "", false, note}; }
// The plain transformers class, which knows nothing of the attention backends.
constexpr FamilyAnswer plain(std::string_view note) { return {kIf, "", false, note}; }
constexpr FamilyAnswer with(std::string_view attention, std::string_view note = "") { return {kIf, attention, false, note}; }
constexpr FamilyAnswer with_or_plain(std::string_view attention) { return {kIf, attention, true, ""}; }

constexpr std::string_view kPlainLayout = "round_robin; streams head-tail per document";
constexpr std::string_view kVision = "a multimodal model, which NeMo RL does not shard";
constexpr std::string_view kNoClass = "Automodel has no class for it yet";
constexpr std::string_view kAfter = "its class comes after Automodel 0.6";
constexpr std::string_view kLiveOnly = "the live check takes te, whether it works is not established";
constexpr std::string_view kPlainNeeds = "plain transformers class; needs sdpa in it, and no Mamba or linear-attention layers";
constexpr std::string_view kDeclared = "the class declares that it does not support it, and that it works is not established";

std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= words.size();) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    parts.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool holds_word(std::string_view words, std::string_view word) {
  const auto parts = split(words);
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

const FamilyAnswer& answer_of(const Family& family, Target target) {
  if (target == Target::ringwright) throw std::logic_error("the table is about the Automodel targets");
  return target == Target::automodel_0_4 ? family.automodel_0_4 : family.automodel_0_6;
}

std::string or_list(std::string_view words) {
  std::string text(words);
  for (size_t blank = text.find(' '); blank != std::string::npos; blank = text.find(' ', blank + 4)) text.replace(blank, 1, " or ");
  return text;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> kTable = {
      {"llama", "generic", kPlainLayout, "rows; streams and packs with te", with_or_plain("te"), with_or_plain("te magi"), false, "llama"},
      {"qwen2", "generic", kPlainLayout, "rows; streams and packs with te", with_or_plain("te"), with_or_plain("te magi"), false, "qwen2"},
      {"qwen3", "generic", kPlainLayout, "rows; streams and packs with te", yes("plain transformers class with sdpa"), with_or_plain("te magi"),
       false, "qwen3"},
      {"qwen3_moe", "generic", kPlainLayout, "rows; streams and packs with te", with("te"), with("te magi"), false, "qwen3_moe"},
      {"qwen3_next", "generic; its linear-attention layers do not know of ranks", "", "",
       unknown("the live check takes te or sdpa, its linear-attention layers do not know of ranks"), no(kDeclared), true, "qwen3_next"},
      {"qwen3_5 qwen3_5_text", "auxiliary tensors only", "round_robin", "rows", no("refused by NeMo RL's guard"),
       with("te sdpa", "the text class declares that it does not support it"), true, "qwen3_5"},
      {"qwen3_5_moe qwen3_5_moe_text", "auxiliary tensors only", "round_robin; packs contiguous", "rows; packs with sdpa",
       with("te sdpa", "needs the package flash-linear-attention"), with("te sdpa", "needs the package flash-linear-attention"), false,
       "qwen3_5_moe"},
      {"nemotron_h", "generic, with an exchange of heads around Mamba blocks", "round_robin; streams head-tail per document", "rows, streams, packs",
       with("te sdpa"), with("te sdpa"), false, "nemotron_v3"},
      {"nemotron_omni", "auxiliary tensors only", "round_robin", "rows", no(kVision), no(kVision), false, "nemotron_omni"},
      {"gemma3 gemma3_text", "", "", "", no("refused by NeMo RL's guard"), no("refused by NeMo RL's guard"), false, "RL setup"},
      {"gemma4 gemma4_moe", "auxiliary tensors only, a ring of its own", "contiguous", "rows, packs by document map", no(kVision), no(kVision), false,
       "gemma4_moe"},
      {"gemma4_text", "auxiliary tensors only, a ring of its own", "contiguous", "rows, packs by document map", no(kVision),
       unknown("loading the text part alone is not established"), false, "gemma4_moe"},
      {"deepseek_v3", "generic", kPlainLayout, "rows; streams and packs with te", with("te"), with("te magi"), false, "deepseek_v3"},
      {"kimi_k2", "generic", kPlainLayout, "rows; streams and packs with te", unknown("as deepseek_v3, not established"),
       unknown("as deepseek_v3, not established"), false, "deepseek_v3"},
      {"deepseek_v32", "", "", "", unknown(kLiveOnly), no(kDeclared), true, "deepseek_v32"},
      {"deepseek_v4", "owned", "contiguous, padded to the compression multiple", "rows, streams, packs", no("no hook of its own yet"),
       with("tilelang"), false, "deepseek_v4"},
      {"glm_moe_dsa", "owned", "contiguous over the stream", "streams and packs", no("no hook of its own yet"),
       no("NeMo RL sends rows, and its hook wants a stream"), false, "glm_moe_dsa"},
      {"glm4_moe glm4_moe_lite minimax_m2 hy_v3 mimo_v2_flash step3p5", "", "", "", unknown(kLiveOnly), no(kDeclared), true, "each its own"},
      {"minimax_m3_vl", "auxiliary tensors only, sparse attention of its own", "round_robin", "rows, packs", no(kNoClass), no(kVision), false,
       "minimax_m3_vl"},
      {"step3p7", "auxiliary tensors only", "round_robin", "rows", no(kNoClass), no(kVision), false, "step3p7"},
      {"qwen3_vl", "auxiliary tensors only", "round_robin", "rows", no(kVision), no(kVision), false, "qwen3_vl"},
      {"kimi_k3", "owned", "contiguous", "rows, packs", no(kNoClass), with("te"), false, "kimi_k3"},
      {"kimi_linear", "owned", "contiguous", "rows, packs", no(kNoClass), no(kAfter), false, "kimi_linear"},
      {"muse_glimmer", "owned", "", "rows, streams", no(kNoClass), no(kAfter), false, "muse_glimmer"},
      {"gpt_oss", "generic, with te only", "round_robin", "rows", with("te"), with("te", "the class declares that it does not support it"), true,
       "gpt_oss"},
      {"mistral", "plain class, generic", "round_robin", "rows", yes("plain transformers class with sdpa"), yes("plain transformers class with sdpa"),
       false, "transformers"},
      {"ministral3 mistral3", "generic", "round_robin", "rows", yes("sdpa"), yes("sdpa; the class declares that it does not support it"), true,
       "mistral3"},
      {"mistral3_vlm qwen3_vl_moe qwen3_omni_moe qwen2_5_omni kimi_vl kimi_k25_vl llava_onevision nemotron_parse llama_nemotron_vl bagel inkling", "",
       "", "", no(kVision), no(kVision), true, "each its own"},
      {"mistral4", "", "", "", unknown("not established"), no(kDeclared), true, "mistral4"},
  };
  return kTable;
}

const Family& other_families() {
  static const Family kOther = {"any other",        "plain class, generic", "round_robin", "rows",
                                plain(kPlainNeeds), plain(kPlainNeeds),     false,         "capabilities"};
  return kOther;
}

const Family* find_family(std::string_view model_type) {
  const auto& table = families();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Family& family) { return holds_word(family.model_types, model_type); });
  return found == table.end() ? nullptr : &*found;
}

FamilyVerdict judge(const Family& family, Target target, const AttentionRequest& request) {
  const FamilyAnswer& answer = answer_of(family, target);
  const std::string note = answer.note.empty() ? "" : fmt::format("; {}", answer.note);
  if (answer.attention.empty()) return {answer.verdict, std::string(answer.note)};
  if (request.force_hf && answer.plain_class) return {kYes, "plain transformers class with sdpa (force_hf)" + note};
  const std::string wanted = or_list(answer.attention) + (answer.plain_class ? ", or force_hf: true" : "");
  if (request.backend.empty()) return {kIf, fmt::format("needs attention {}{}", wanted, note)};
  if (!holds_word(answer.attention, request.backend))
    return {kNo, fmt::format("the live check takes attention {}, and backend.attn is {}{}", wanted, request.backend, note), true};
  return {answer.note.empty() ? kYes : kIf, fmt::format("attention {}{}", request.backend, note)};
}

std::string attention_way_out(const Family& family, const AttentionRequest& request) {
  for (const auto& [target, other] :
       {std::pair(Target::automodel_0_6, Target::automodel_0_4), std::pair(Target::automodel_0_4, Target::automodel_0_6)}) {
    if (!judge(family, target, request).refuses_backend) continue;
    const std::string_view others = answer_of(family, other).attention;
    const auto words = split(answer_of(family, target).attention);
    const auto both = std::find_if(words.begin(), words.end(), [&](std::string_view word) { return others.empty() || holds_word(others, word); });
    return std::string(both == words.end() ? words.front() : *both);
  }
  return "";
}

}  // namespace ringwright::support_matrix
