// The path of one step: its stages in order, with the shape of what each makes and the factor between a rank's loss and the batch's gradient.
// `explain flow` prints it; a test of the worker runs steps and compares what they went through with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::flow {

enum class Stage { batch, shift, shard, forward, logprobs, backward, gather, reduce, update, teacher_forward, teacher_window, window, loss };

// Whose step it is: this engine's, or NeMo RL's with one of the two Automodel versions.
enum class Engine { ringwright, automodel_0_4, automodel_0_6 };
// How a context rank's loss relates to the batch's: every rank has its own tokens (partitioned), or the whole sequence's loss behind a gather.
enum class LossKind { partitioned, replicated };

// Of one microbatch. What is not known is 0, and is printed by its letter alone.
struct StepSizes {
  int64_t rows = 1, length = 0;  // B, S: in the batch's own order
  int64_t padded_length = 0;     // what the layout cuts
  int64_t hidden = 0;            // d
  int cp = 1, tp = 1, dp = 1;
  int64_t teacher_length = 0, teacher_vocabulary = 0;  // T, U
  bool packed = false;
  std::string flavour = "round_robin", method = "auto";
  bool teachers = false;  // with tokenizers of their own

  int64_t local_length() const { return padded_length / cp; }
};

struct Dimension {
  std::string_view letter;
  int64_t size = 0;  // 0: not known
};

struct StageText {
  Stage stage;
  std::string_view name;
  std::string_view place;  // of the worker; "": not this engine's
  std::vector<Dimension> shape;
  std::string note;
};

// The stages of a step in order. Ringwright's is what its worker does; NeMo RL's what its reference describes.
std::vector<StageText> path(Engine engine, LossKind loss, const StepSizes& sizes);
// What the letters in the stages' shapes stand for: "B rows, S tokens of a row". Throws std::logic_error for a letter that has no words.
std::string legend(const std::vector<StageText>& stages);
std::string shape_text(const std::vector<Dimension>& shape);  // "[B 1, L 512]"

// backward(loss x factor), where gradients are then added up and divided by `averaged_over`: factor = averaged_over / fanout.
struct LossScale {
  int averaged_over = 1;  // ranks; 1: gradients are summed
  int fanout = 1;         // context ranks whose loss feeds each rank's part
  int factor = 1;
  std::string words;
};
LossScale loss_scale(Engine engine, LossKind loss, int dp, int cp);

}  // namespace ringwright::flow
