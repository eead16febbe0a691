#include "shared/flow/flow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace ringwright::flow {
namespace {

using Shape = std::vector<Dimension>;

struct Entry {
  Stage stage;
  std::string_view name, place;
  Shape (*shape)(const StepSizes&);
  std::string (*note)(const StepSizes&);
};

Shape whole(const StepSizes& s) { return {{"B", s.rows}, {"S", s.length}}; }
Shape local(const StepSizes& s) { return {{"B", s.rows}, {"L", s.local_length()}}; }
Shape hidden(const StepSizes& s) { return {{"B", s.rows}, {"L", s.local_length()}, {"d", s.hidden}}; }
Shape scalar(const StepSizes&) { return {}; }
int64_t divided(int64_t size, int parts) { return size / parts; }

// One entry a stage. A stage that a step does not have is not in that step's list below.
constexpr Entry kStages[] = {
    {Stage::batch, "canonical batch", "algorithms/sft_batch: make_batch", whole,
     [](const StepSizes& s) {
       return std::string(s.packed ? "one pack: documents in slots, positions from 0 in each" : "rows, padded at the right to the longest");
     }},
    {Stage::shift, "shift", "algorithms/sft_batch: make_batch", whole,
     [](const StepSizes&) { return std::string("the next token of each position, on the whole row: a document's last has none"); }},
    {Stage::shard, "shard", "algorithms/local_microbatch", local,
     [](const StepSizes& s) {
       if (s.cp == 1) return std::string("one rank has all tokens");
       return fmt::format("{} cuts {} slots over {} ranks, {} of them padding; ids, positions, targets and weights by one index map", s.flavour,
                          s.padded_length, s.cp, s.padded_length - s.length);
     }},
    {Stage::teacher_forward, "teacher's forward", "",
     [](const StepSizes& s) {
       return Shape{{"B", s.rows}, {"T/cp", divided(s.teacher_length, s.cp)}, {"U/tp", divided(s.teacher_vocabulary, s.tp)}};
     },
     [](const StepSizes&) { return std::string("each teacher rank writes its window of float32 logits into a buffer that the student reads"); }},
    {Stage::teacher_window, "teacher's window", "",
     [](const StepSizes& s) { return Shape{{"B", s.rows}, {"T/cp", divided(s.teacher_length, s.cp)}, {"U", s.teacher_vocabulary}}; },
     [](const StepSizes& s) {
       return fmt::format("student rank r takes the teacher's tokens [r x {0}, (r + 1) x {0}), with the whole vocabulary",
                          divided(s.teacher_length, s.cp));
     }},
    {Stage::forward, "forward", "models/llama_model: forward_hidden", hidden,
     [](const StepSizes& s) {
       return s.cp == 1 ? std::string("attention on whole sequences") : fmt::format("attention over {} ranks by {}", s.cp, s.method);
     }},
    {Stage::logprobs, "log-probabilities", "algorithms/fused_nll: fused_linear_nll", local,
     [](const StepSizes& s) {
       if (s.tp == 1) return std::string("logits of the vocabulary exist for a chunk of tokens at a time; each token's loss is counted on one rank");
       return fmt::format("over {} tensor ranks: the largest logit, the sum of exponentials and the target's logit, each by one reduction", s.tp);
     }},
    {Stage::gather, "gather and trim", "context_parallel/sharder: gather_token_tensor", whole,
     [](const StepSizes& s) {
       return s.cp == 1 ? std::string("nothing to gather")
                        : fmt::format("back into the batch's order; {} slots of padding are dropped", s.padded_length - s.length);
     }},
    {Stage::window, "student's window", "", [](const StepSizes& s) { return Shape{{"B", s.rows}, {"S/cp", divided(s.length, s.cp)}}; },
     [](const StepSizes& s) {
       return fmt::format("log-probabilities and the shifted mask, tokens [r x {0}, (r + 1) x {0}) of each rank r", divided(s.length, s.cp));
     }},
    {Stage::loss, "loss", "", scalar,
     [](const StepSizes&) { return std::string("divided by the token count of the global batch, not of the rank"); }},
    {Stage::backward, "backward", "algorithms/sft_trainer: run_local", scalar,
     [](const StepSizes&) { return std::string("of the rank's loss, which is already divided by the token count of the global batch"); }},
    {Stage::reduce, "sum of gradients", "parallel/gradients: sum_gradients", scalar,
     [](const StepSizes& s) { return fmt::format("over dp x cp = {} ranks that hold the same parameters", s.dp * s.cp); }},
    {Stage::update, "update", "algorithms/optimizer: AdamW", scalar,
     [](const StepSizes&) { return std::string("one gradient norm over all parameters, clipping, the same update on every rank"); }},
};

struct LetterWords {
  std::string_view letter, words;
};
constexpr LetterWords kLetters[] = {{"B", "rows"},        {"S", "tokens of a row"},           {"L", "of them on one rank"},
                                    {"d", "hidden size"}, {"T", "tokens of a teacher's row"}, {"U", "the teacher's vocabulary"}};

// "T" of "T/cp". Throws std::logic_error for one that the table does not have.
std::string_view letter_of(const Dimension& size) {
  const std::string_view letter = size.letter.substr(0, size.letter.find('/'));
  if (std::none_of(std::begin(kLetters), std::end(kLetters), [&](const LetterWords& each) { return each.letter == letter; }))
    throw std::logic_error("a letter without words: " + std::string(letter));
  return letter;
}

const Entry& entry_of(Stage stage) {
  for (const Entry& entry : kStages)
    if (entry.stage == stage) return entry;
  throw std::logic_error("a stage without an entry");
}

// The order of a step. Ringwright takes the gradient of a chunk's loss while its logits exist, so it gathers afterwards; NeMo RL computes the loss
// from the gathered sequence.
const std::vector<Stage>& stages(Engine engine, LossKind loss, bool teachers) {
  static const std::vector<Stage> kOurs = {Stage::batch,    Stage::shift,  Stage::shard,  Stage::forward, Stage::logprobs,
                                           Stage::backward, Stage::gather, Stage::reduce, Stage::update};
  static const std::vector<Stage> kGathered = {Stage::batch,  Stage::shift, Stage::shard,    Stage::forward, Stage::logprobs,
                                               Stage::gather, Stage::loss,  Stage::backward, Stage::reduce,  Stage::update};
  static const std::vector<Stage> kWindows = {Stage::batch,          Stage::shift,    Stage::teacher_forward, Stage::shard,  Stage::forward,
                                              Stage::teacher_window, Stage::logprobs, Stage::gather,          Stage::window, Stage::loss,
                                              Stage::backward,       Stage::reduce,   Stage::update};
  if (engine == Engine::ringwright) return kOurs;
  return teachers && loss == LossKind::partitioned ? kWindows : kGathered;
}

}  // namespace

std::vector<StageText> path(Engine engine, LossKind loss, const StepSizes& sizes) {
  std::vector<StageText> result;
  for (const Stage stage : stages(engine, loss, sizes.teachers)) {
    const Entry& entry = entry_of(stage);
    result.push_back({stage, entry.name, engine == Engine::ringwright ? entry.place : "", entry.shape(sizes), entry.note(sizes)});
  }
  return result;
}

std::string legend(const std::vector<StageText>& stages) {
  std::vector<std::string> parts;
  for (const LetterWords& each : kLetters) {
    const auto uses = [&](const StageText& stage) {
      return std::any_of(stage.shape.begin(), stage.shape.end(), [&](const Dimension& size) { return letter_of(size) == each.letter; });
    };
    if (std::any_of(stages.begin(), stages.end(), uses)) parts.push_back(fmt::format("{} {}", each.letter, each.words));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string shape_text(const std::vector<Dimension>& shape) {
  std::vector<std::string> parts;
  for (const Dimension& each : shape) parts.push_back(each.size > 0 ? fmt::format("{} {}", each.letter, each.size) : std::string(each.letter));
  return shape.empty() ? "" : fmt::format("[{}]", fmt::join(parts, ", "));
}

LossScale loss_scale(Engine engine, LossKind loss, int dp, int cp) {
  LossScale scale;
  if (engine == Engine::ringwright) {
    scale.words = fmt::format("gradients are summed over {} ranks and each token is in one rank's loss: loss x 1", dp * cp);
    return scale;
  }
  scale.averaged_over = dp * cp;
  const bool feeds_all = engine == Engine::automodel_0_6 && loss == LossKind::replicated;
  scale.fanout = feeds_all ? cp : 1;
  scale.factor = scale.averaged_over / scale.fanout;
  scale.words = fmt::format("gradients are averaged over dp x cp = {} ranks, {}: loss x {} = loss x {}", scale.averaged_over,
                            feeds_all ? fmt::format("and the gather's backward adds up the loss of all {} context ranks", cp)
                                      : std::string("and each part of the loss reaches one context rank"),
                            feeds_all ? "dp" : "dp x cp", scale.factor);
  return scale;
}

}  // namespace ringwright::flow
