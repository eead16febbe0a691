#include "console/cli/layout_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "console/cli/recipe_arguments.h"
#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/layout/methods.h"
#include "shared/model/context_parallel.h"
#include "shared/recipe/recipe.h"

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
  int64_t length = 0;
  std::string recipe_layout;  // "": the recipe names none, or there is none
  bool packs = false;         // the recipe packs documents
  int64_t chunk = 0;          // of `balanced`, by the recipe; 0: there is none
  std::optional<recipe::Recipe> recipe = {};
};

Question from_recipe(const LayoutOptions& options) {
  const RecipeArguments arguments = split_recipe_arguments(options.words);
  if (arguments.files.size() > 1) {
    fail("RW-CLI-011", fmt::format("{} recipes are named", arguments.files.size()), "one recipe", "call it once for each recipe");
  }
  recipe::Recipe recipe = recipe::load_recipe(arguments.files.front(), arguments.overrides);
  const recipe::SftConfig config = recipe::sft_config(recipe);
  Question question{config.cp, config.max_total_sequence_length, config.cp_flavour, config.packing.enabled, config.cp_chunk, std::move(recipe)};
  // A flavour that the recipe chose for another cp is no answer for this one.
  if (options.cp && (*options.cp > 1) != (config.cp > 1)) question.recipe_layout.clear();
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
  if (options.length) question.length = *options.length;
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

Choice family_choice(const model::ContextParallelConfig& config, bool packed) {
  const model::ContextParallelFamily family = model::find_context_parallel_family(config.model_type);
  const std::string_view flavour = packed ? family.packed_flavour : family.row_flavour;
  if (!flavour.empty()) return {std::string(flavour), fmt::format("the family {}", config.model_type)};
  const bool streams_only = !family.packed_flavour.empty();
  fail("RW-CLI-012",
       fmt::format("the family {} has no flavour of context parallelism{}", config.model_type, streams_only ? " for rows of one sequence" : ""),
       streams_only ? "a stream of packed documents" : "another family",
       streams_only ? "give --documents" : "choose a layout with --layout to see it anyway", ExitCode::refused);
}

Choice choose(const LayoutOptions& options, const Question& question, const std::optional<model::ContextParallelConfig>& config) {
  if (options.layout) return {*options.layout, "--layout"};
  if (!question.recipe_layout.empty()) return {question.recipe_layout, "the recipe"};
  if (question.cp == 1) return {std::string(layout::names::kNone), "cp 1"};
  if (!options.prefix_tree.empty()) return {std::string(layout::names::kBalanced), "cp and the prefix tree"};
  const bool packed = !options.documents.empty() || question.packs;
  if (config) return family_choice(*config, packed);
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

// Whose sizes are shown, with them where they can be read: --model, else the model that the recipe names.
struct Model {
  std::optional<model::ContextParallelConfig> config;
  std::string words;  // "the model of DIR", or why there is none
};

Model find_model(const LayoutOptions& options, const Question& question) {
  if (options.model) return {model::read_context_parallel_config(*options.model), "the model of " + *options.model};
  if (!question.recipe) return {std::nullopt, "no model is named (--model DIR)"};
  try {
    const auto folder = recipe::resolve_name(*question.recipe, recipe::sft_config(*question.recipe).model_name);
    return {model::read_context_parallel_config(folder), "the recipe's model in " + folder.string()};
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("the recipe's model cannot be looked at: {} (--model DIR)", error.parts().what)};
  }
}

std::string shape_words(const LayoutOptions& options, const Model& model) {
  const bool given = options.heads || options.kv_heads || options.head_size || options.element_bytes;
  if (model.config) return model.words + (given ? ", and options" : "");
  return (given ? "by options, the others assumed: " : "assumed: ") + model.words;
}

std::vector<std::string> notes_of(const LayoutOptions& options, const std::optional<model::ContextParallelConfig>& config) {
  std::vector<std::string> notes;
  if (config && config->limits.kind == model::LayerLimits::Kind::window && options.window == 0) {
    notes.push_back(fmt::format("config.json has a sliding window of {0}: add --window {0} to see its layers", config->limits.size));
  }
  return notes;
}

// The stream's documents (one for a sequence, one a node for a tree) and its mask.
struct Stream {
  std::vector<layout::PlacedDocument> documents;
  layout::Mask mask;
  int64_t length = 0;
};

Stream stream_of(const LayoutOptions& options, const Question& question, const std::string& layout, int64_t multiple) {
  Stream stream;
  stream.mask.kind = options.full ? layout::Mask::Kind::full : layout::Mask::Kind::causal;
  stream.mask.window = options.window;
  if (!options.prefix_tree.empty()) {
    if (multiple > 1) {
      fail("RW-CLI-013", fmt::format("the layout {} pads documents, and a prefix tree has none", layout), "a layout that takes any stream",
           "choose --layout balanced", ExitCode::refused);
    }
    stream.mask.prefix_tree = parse_tree(options.prefix_tree);
    for (const layout::PrefixNode& node : stream.mask.prefix_tree) stream.documents.push_back({node.start, node.length, node.length});
  } else {
    const std::vector<int64_t> lengths = options.documents.empty() ? std::vector<int64_t>{question.length} : parse_documents(options.documents);
    stream.documents = layout::place_documents(lengths, multiple);
    if (!options.documents.empty()) stream.mask.document_offsets = layout::document_offsets(stream.documents);
  }
  stream.length = layout::document_offsets(stream.documents).back();
  return stream;
}

}  // namespace

LayoutReport report_layout(const LayoutOptions& options) {
  const Question question = ask(options);
  const Model model = find_model(options, question);
  const std::optional<model::ContextParallelConfig>& config = model.config;
  const Choice choice = choose(options, question, config);
  layout::Options made{.pad_multiple = options.pad_multiple.value_or(config ? config->pad_multiple : 1),
                       .chunk = options.chunk.value_or(question.chunk > 0 ? question.chunk : layout::kChunkDefault)};
  LayoutReport report{.chosen_by = choice.by,
                      .document_multiple = options.document_multiple.value_or(layout::document_multiple(choice.layout, question.cp, made)),
                      .shape = shape_of(options, config),
                      .shape_by = shape_words(options, model),
                      .layers = config ? config->layers : 1,
                      .notes = notes_of(options, config)};
  const Stream stream = stream_of(options, question, choice.layout, report.document_multiple);
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
