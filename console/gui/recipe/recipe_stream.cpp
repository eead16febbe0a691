#include "console/gui/recipe/recipe_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/layout/layout.h"
#include "shared/layout/names.h"
#include "shared/shard_plan/shard_plan.h"

namespace ringwright::gui {
namespace {

int64_t chunk_of(const recipe::SftConfig& config, int64_t slots) { return config.cp_chunk.value_or(layout::default_chunk(slots, config.cp)); }

RecipeStream stream_of(const recipe::SftConfig& config, const flow::StepSizes& sizes) {
  LayoutQuestion question;
  question.cp = config.cp;
  question.layout = config.cp == 1 ? std::string(layout::names::kNone) : sizes.flavour;
  const shard_plan::Microbatch batch = shard_plan::longest_microbatch(config, question.layout);
  if (batch.document_offsets.empty()) {
    question.batch_slots = batch.row_length;
    question.tokens = std::min(config.max_total_sequence_length, batch.row_length);
    question.chunk = chunk_of(config, batch.row_length);
    return {question, batch.rows == 1 ? batch.text : "one of " + batch.text};
  }
  question.documents = static_cast<int64_t>(batch.document_offsets.size()) - 1;
  question.batch_slots = batch.document_offsets.back();
  question.chunk = chunk_of(config, question.batch_slots);
  const int64_t document_tokens = std::min(config.max_total_sequence_length, question.batch_slots / question.documents);
  question.tokens = document_tokens * question.documents;
  std::string words = batch.text;
  words += config.packing.enabled ? fmt::format(", {} documents of {}", text::format_count(question.documents), text::format_count(document_tokens))
                                  : std::string(" as one stream");
  return {question, words};
}

}  // namespace

std::optional<RecipeStream> recipe_stream(const recipe::Recipe& recipe, const flow::StepSizes& sizes) {
  try {
    RecipeStream stream = stream_of(recipe::sft_config(recipe), sizes);
    if (stream.question.batch_slots < 1) return std::nullopt;
    return stream;
  } catch (const Error&) {
    return std::nullopt;  // of another algorithm, or the guards say what is wrong
  }
}

}  // namespace ringwright::gui
