#include "console/cli/layout_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "console/cli/recipe_arguments.h"
#include "shared/base/error.h"
#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/methods.h"
#include "shared/model/context_parallel.h"
#include "shared/recipe/recipe.h"
#include "shared/shard_plan/shard_plan.h"

namespace ringwright::cli {
namespace {

// Where nothing names a model: eight KV heads of 128 in bfloat16 for 32 query heads.
constexpr layout::AttentionShape kUsualShape{.heads = 32, .kv_heads = 8, .head_size = 128, .element_bytes = 2};

[[noreturn]] void fail(std::string code, std::string what, std::string expected, std::string action, ExitCode exit_code = ExitCode::usage) {
  throw Error({std::move(code), std::move(what), "ringwright layout", std::move(expected), std::move(action), exit_code});
}

[[noreturn]] void missing(const std::string& what) {
  fail("RW-CLI-010", fmt::format("{} is not known", what), "a recipe, or --cp and one of --length, --documents, --prefix-tree",
       "ringwright layout RECIPE, or: ringwright layout --layout round_robin --cp 4 --length 16384");
}

// What was asked for: an option's answer, else the recipe's.
struct Question {
  int cp = 1;
  std::optional<int64_t> length;
  std::optional<recipe::SftConfig> config;                      // of the recipe, with this cp
  std::optional<model::ContextParallelConfig> model;            // that --model names, else the recipe
  std::string model_words = "no model is named (--model DIR)";  // "the model of DIR", or why there is none

  bool packs() const { return config && config->packing.enabled; }
};

// A model that is not at hand costs the bytes, not the picture.
void read_recipe_model(const recipe::Recipe& recipe, Question& question) {
  try {
    const auto folder = recipe::resolve_name(recipe, question.config->model_name);
    question.model = model::read_context_parallel_config(folder);
    question.model->element_bytes = question.config->precision == "float32" ? 4 : 2;
    question.model_words = "the recipe's model in " + folder.string();
  } catch (const Error& error) {
    question.model_words = fmt::format("the recipe's model cannot be looked at: {} (--model DIR)", error.parts().what);
  }
}

Question from_recipe(const LayoutOptions& options) {
  const RecipeArguments arguments = split_recipe_arguments(options.words);
  if (arguments.files.size() > 1) {
    fail("RW-CLI-011", fmt::format("{} recipes are named", arguments.files.size()), "one recipe", "call it once for each recipe");
  }
  const recipe::Recipe recipe = recipe::load_recipe(arguments.files.front(), arguments.overrides);
  Question question;
  question.config = recipe::sft_config(recipe);
  question.cp = options.cp.value_or(question.config->cp);
  // A flavour that the recipe chose for another cp is no answer for this one.
  if ((question.cp > 1) != (question.config->cp > 1)) question.config->cp_flavour.clear();
  question.config->cp = question.cp;
  if (!options.model) read_recipe_model(recipe, question);
  return question;
}

Question ask(const LayoutOptions& options) {
  const bool has_stream = options.length || !options.documents.empty() || !options.prefix_tree.empty();
  if ((options.length ? 1 : 0) + (options.documents.empty() ? 0 : 1) + (options.prefix_tree.empty() ? 0 : 1) > 1) {
    fail("RW-CLI-013", "several of --length, --documents and --prefix-tree are given", "one of them", "leave out the others");
  }
  Question question;
  if (!options.words.empty()) {
    question = from_recipe(options);
  } else {
    if (!options.cp) missing("--cp");
    if (!has_stream) missing("--length");
  }
  if (options.cp) question.cp = *options.cp;
  if (options.model) {
    question.model = model::read_context_parallel_config(*options.model);
    question.model_words = "the model of " + *options.model;
  }
  question.length = options.length;
  if (options.length && *options.length < 1)
    fail("RW-CLI-013", fmt::format("--length is {}", *options.length), "a number of tokens from 1 on", "correct the length");
  return question;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= list.size();) {
    const size_t comma = std::min(list.find(',', start), list.size());
    parts.push_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<int64_t> parse_documents(const std::string& list) {
  std::vector<int64_t> lengths;
  for (const std::string& text : split(list)) {
    const std::optional<int64_t> length = whole(text);
    if (!length || *length < 1) {
      fail("RW-CLI-013", fmt::format("\"{}\" is no length of a document", text::excerpt(text)), "numbers of tokens from 1 on, with commas between",
           "for three documents: --documents 300,1200,50");
    }
    lengths.push_back(*length);
  }
  return lengths;
}

int64_t number(std::string_view text, const std::string& node) {
  const std::optional<int64_t> value = whole(text);
  if (!value) {
    fail("RW-CLI-013", fmt::format("\"{}\" is no node of a prefix tree", text::excerpt(node)),
         "LENGTH, or LENGTH:PARENT with the index of an earlier node", "for a prompt of 4 tokens with two answers: --prefix-tree 4,2:0,3:0");
  }
  return *value;
}

std::vector<layout::PrefixNode> parse_tree(const std::string& list) {
  std::vector<layout::PrefixNode> tree;
  int64_t start = 0;
  for (const std::string& text : split(list)) {
    const size_t colon = text.find(':');
    layout::PrefixNode node{start, number(std::string_view(text).substr(0, colon), text)};
    if (colon != std::string::npos)
      node.parent = static_cast<int>(std::clamp<int64_t>(number(std::string_view(text).substr(colon + 1), text), -2, INT32_MAX));
    if (node.length < 0 || node.length > layout::kSequenceLengthMax - start) number("", text);
    start += node.length;
    tree.push_back(node);
  }
  return tree;
}

// The layout's name and what chose it.
struct Choice {
  std::string layout, by;
};

Choice family_choice(const model::ContextParallelConfig& model, bool packed) {
  const model::ContextParallelFamily family = model::find_context_parallel_family(model.model_type);
  const std::string_view flavour = packed ? family.packed_flavour : family.row_flavour;
  if (!flavour.empty()) {
    return {std::string(flavour), fmt::format("the family {}, for {}", model.model_type, packed ? "packed documents" : "rows of one sequence")};
  }
  const bool streams_only = !family.packed_flavour.empty();
  fail("RW-CLI-012",
       fmt::format("the family {} has no flavour of context parallelism{}", model.model_type, streams_only ? " for rows of one sequence" : ""),
       streams_only ? "a stream of packed documents" : "another family",
       streams_only ? "give --documents" : "choose a layout with --layout to see it anyway", ExitCode::refused);
}

Choice choose(const LayoutOptions& options, const Question& question) {
  if (options.layout) return {*options.layout, "--layout"};
  if (question.config && !question.config->cp_flavour.empty()) return {question.config->cp_flavour, "the recipe"};
  if (question.cp == 1) return {std::string(layout::names::kNone), "cp 1"};
  if (!options.prefix_tree.empty()) return {std::string(layout::names::kBalanced), "cp and the prefix tree"};
  const bool packed = !options.documents.empty() || question.packs();
  if (question.model) return family_choice(*question.model, packed);
  if (!packed) return {std::string(layout::names::kRoundRobin), "cp"};
  return {std::string(layout::names::kThd), options.documents.empty() ? "cp and the recipe's packs" : "cp and documents"};
}

layout::AttentionShape shape_of(const LayoutOptions& options, const std::optional<model::ContextParallelConfig>& config) {
  layout::AttentionShape shape = kUsualShape;
  if (config) shape = {config->heads, config->kv_heads, config->head_size, config->element_bytes};
  if (options.heads) shape.heads = *options.heads;
  if (options.kv_heads) shape.kv_heads = *options.kv_heads;
  if (options.heads && !options.kv_heads && !config) shape.kv_heads = *options.heads;
  if (options.head_size) shape.head_size = *options.head_size;
  if (options.element_bytes) shape.element_bytes = *options.element_bytes;
  return shape;
}

std::string shape_words(const LayoutOptions& options, const Question& question) {
  const bool given = options.heads || options.kv_heads || options.head_size || options.element_bytes;
  if (question.model) return question.model_words + (given ? ", and options" : "");
  return (given ? "by options, the others assumed: " : "assumed: ") + question.model_words;
}

bool has_window(const Question& question) { return question.model && question.model->limits.kind == model::LayerLimits::Kind::window; }

// The window that every layer of a recipe's model keeps to is part of what a run does; 0: there is none.
int64_t window_of(const LayoutOptions& options, const Question& question) {
  const bool runs = question.config && !options.full && options.prefix_tree.empty();
  return options.window == 0 && runs && has_window(question) && question.model->limits.all() ? question.model->limits.size : options.window;
}

std::vector<std::string> notes_of(const LayoutOptions& options, const Question& question) {
  std::vector<std::string> notes;
  if (has_window(question) && window_of(options, question) == 0) {
    notes.push_back(fmt::format("config.json has a sliding window of {0}: add --window {0} to see its layers", question.model->limits.size));
  }
  return notes;
}

// The stream's documents (one for a sequence, one a node for a tree) and its mask.
struct Stream {
  std::vector<layout::PlacedDocument> documents;
  layout::Mask mask;
  int64_t length = 0;
  std::string drawn;  // of a recipe's microbatch; "": what was asked for
};

// The recipe's longest microbatch, one row of it.
void draw_recipe(const recipe::SftConfig& config, const std::string& layout, int64_t multiple, Stream& stream) {
  const shard_plan::Microbatch batch = shard_plan::longest_microbatch(config, layout);
  stream.drawn = batch.rows == 1 ? batch.text : "one of " + batch.text;
  const int64_t tokens = config.max_total_sequence_length;
  if (batch.document_offsets.empty()) {
    stream.documents = {{0, batch.row_length, std::min(tokens, batch.row_length)}};
    return;
  }
  int64_t start = 0;
  for (size_t i = 0; i + 1 < batch.document_offsets.size(); ++i) {
    const int64_t slot = round_up(batch.document_offsets[i + 1] - batch.document_offsets[i], multiple);
    stream.documents.push_back({start, slot, std::min(tokens, slot)});
    start += slot;
  }
  if (stream.documents.size() > 1 || config.packing.enabled) stream.mask.document_offsets = layout::document_offsets(stream.documents);
}

void draw_tree(const LayoutOptions& options, const std::string& layout, int64_t multiple, Stream& stream) {
  if (multiple > 1) {
    fail("RW-CLI-013", fmt::format("the layout {} pads documents, and a prefix tree has none", layout), "a layout that takes any stream",
         "choose --layout balanced", ExitCode::refused);
  }
  stream.mask.prefix_tree = parse_tree(options.prefix_tree);
  for (const layout::PrefixNode& node : stream.mask.prefix_tree) stream.documents.push_back({node.start, node.length, node.length});
}

Stream stream_of(const LayoutOptions& options, const Question& question, const std::string& layout, int64_t multiple) {
  Stream stream;
  stream.mask.kind = options.full ? layout::Mask::Kind::full : layout::Mask::Kind::causal;
  stream.mask.window = window_of(options, question);
  if (!options.prefix_tree.empty()) {
    draw_tree(options, layout, multiple, stream);
  } else if (!options.documents.empty()) {
    stream.documents = layout::place_documents(parse_documents(options.documents), multiple);
    stream.mask.document_offsets = layout::document_offsets(stream.documents);
  } else if (question.length) {
    stream.documents = layout::place_documents({*question.length}, multiple);
  } else {
    draw_recipe(*question.config, layout, multiple, stream);
  }
  stream.length = layout::document_offsets(stream.documents).back();
  return stream;
}

}  // namespace

LayoutReport report_layout(const LayoutOptions& options) {
  const Question question = ask(options);
  const std::optional<model::ContextParallelConfig>& model = question.model;
  const Choice choice = choose(options, question);
  layout::Options made{.pad_multiple = options.pad_multiple.value_or(model ? model->pad_multiple : 1), .chunk = options.chunk};
  if (!made.chunk && question.config) made.chunk = question.config->cp_chunk;
  LayoutReport report{.chosen_by = choice.by,
                      .document_multiple = options.document_multiple.value_or(layout::document_multiple(choice.layout, question.cp, made)),
                      .shape = shape_of(options, model),
                      .shape_by = shape_words(options, question),
                      .layers = model ? model->layers : 1,
                      .notes = notes_of(options, question)};
  const Stream stream = stream_of(options, question, choice.layout, report.document_multiple);
  report.drawn = stream.drawn;
  made.document_offsets = layout::document_offsets(stream.documents);
  made.sequence_length = stream.length;
  made.mask = stream.mask;
  const auto layout = layout::make_layout(choice.layout, question.cp, made);
  const layout::MaskArea area(stream.mask, stream.length);
  report.summary = layout::summarize(*layout, area, stream.documents);
  for (const std::string& method : layout::method_names()) {
    report.traffic.push_back({method, layout::traffic(method, *layout, area, report.summary.padded_length, report.shape)});
  }
  return report;
}

}  // namespace ringwright::cli
