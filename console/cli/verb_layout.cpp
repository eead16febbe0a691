// `ringwright layout`: where each token of a sequence lives.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "console/cli/recipe_arguments.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/layout/summary.h"
#include "shared/recipe/recipe.h"

namespace ringwright::cli {
namespace {

constexpr int kStripWidthDefault = 80, kStripWidthMin = 10, kStripWidthMax = 1000;
constexpr std::string_view kRankLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
// Backgrounds of the 256-colour palette that black letters can be read on.
constexpr int kRankColours[] = {75, 215, 114, 176, 221, 80, 210, 147, 150, 181};

struct Options {
  std::vector<std::string> words;  // a recipe and its overrides
  std::optional<std::string> layout;
  std::optional<int> cp;
  std::optional<int64_t> length;
  int64_t pad_multiple = 1;
  int width = 0;
};

// What was asked for: the recipe's answers, unless an option says otherwise.
struct Question {
  std::string layout;
  int cp = 1;
  int64_t length = 0;
};

Question from_recipe(const Options& options) {
  const RecipeArguments arguments = split_recipe_arguments(options.words);
  if (arguments.files.size() > 1) {
    throw Error({.code = "RW-CLI-011",
                 .what = fmt::format("{} recipes are named", arguments.files.size()),
                 .where = "ringwright layout",
                 .expected = "one recipe",
                 .action = "call it once for each recipe",
                 .exit_code = ExitCode::usage});
  }
  const recipe::SftConfig config = recipe::sft_config(recipe::load_recipe(arguments.files.front(), arguments.overrides));
  Question question{config.cp_flavour, config.cp, config.max_total_sequence_length};
  if (question.layout.empty()) question.layout = config.cp > 1 ? "round_robin" : "none";
  return question;
}

[[noreturn]] void missing(const std::string& what) {
  throw Error({.code = "RW-CLI-010",
               .what = fmt::format("{} is not known", what),
               .where = "ringwright layout",
               .expected = "a recipe, or --cp and --length",
               .action = "ringwright layout RECIPE, or: ringwright layout --layout round_robin --cp 4 --length 16384",
               .exit_code = ExitCode::usage});
}

Question ask(const Options& options) {
  Question question;
  if (!options.words.empty()) {
    question = from_recipe(options);
  } else {
    if (!options.cp) missing("--cp");
    if (!options.length) missing("--length");
    question.layout = *options.cp > 1 ? "round_robin" : "none";
  }
  if (options.cp) {
    // A flavour that the recipe chose for another cp is no answer for this one.
    if (!options.layout && (question.cp > 1) != (*options.cp > 1)) question.layout = *options.cp > 1 ? "round_robin" : "none";
    question.cp = *options.cp;
  }
  if (options.length) question.length = *options.length;
  if (options.layout) question.layout = *options.layout;
  return question;
}

nlohmann::json to_json(const layout::Summary& summary) {
  nlohmann::json ranks = nlohmann::json::array(), runs = nlohmann::json::array();
  for (const layout::RankSummary& own : summary.ranks) {
    ranks.push_back({{"rank", own.rank},
                     {"slots", own.slots},
                     {"tokens", own.tokens},
                     {"padding", own.padding},
                     {"visible_pairs", own.visible_pairs},
                     {"work_percent_of_mean", own.work_percent_of_mean}});
    for (const layout::Run& run : own.runs) {
      runs.push_back({{"rank", run.rank},
                      {"local_start", run.local_start},
                      {"global_start", run.global_start},
                      {"length", run.length},
                      {"document", run.document}});
    }
  }
  return {{"layout", summary.layout},
          {"cp", summary.cp},
          {"sequence_length", summary.sequence_length},
          {"padded_length", summary.padded_length},
          {"padding", summary.padding()},
          {"divisor", summary.divisor},
          {"slowest_rank", summary.slowest_rank},
          {"slowest_percent_of_mean", summary.slowest_percent()},
          {"sentence", layout::sentence(summary)},
          {"ranks", ranks},
          {"runs", runs}};
}

char letter_of(const layout::Column& column, const layout::Summary& summary) {
  if (column.padding_share > 0.5) return '/';
  if (summary.replicated) return '=';
  if (column.owner < 0) return ' ';
  return column.owner < static_cast<int>(kRankLetters.size()) ? kRankLetters[static_cast<size_t>(column.owner)] : '*';
}

// One character a column; where the terminal has colours, neighbours of one rank share a coloured block.
std::string strip_of(const layout::Summary& summary, const std::vector<layout::Run>& runs, int width) {
  const bool colours = colour_on(stdout);
  std::string text;
  for (const layout::Column& column : layout::columns(runs, width, 0, summary.padded_length, summary.sequence_length)) {
    const char letter = letter_of(column, summary);
    if (colours && column.owner >= 0 && letter != '/') {
      text += fmt::format("\x1b[30;48;5;{}m{}\x1b[0m", kRankColours[static_cast<size_t>(column.owner) % std::size(kRankColours)], letter);
    } else {
      text += letter;
    }
  }
  return text;
}

std::string ranges_of(const layout::RankSummary& own) {
  std::string text;
  for (const layout::Run& run : own.runs) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}-{}", text::format_count(run.global_start), text::format_count(run.global_start + run.length - 1));
  }
  return text;
}

void print_strip(const layout::Summary& summary, int width) {
  std::vector<layout::Run> runs;
  for (const layout::RankSummary& own : summary.ranks) runs.insert(runs.end(), own.runs.begin(), own.runs.end());
  const int columns = static_cast<int>(std::min<int64_t>(width, summary.padded_length));
  std::printf("%s\n%s\n", styled("Global sequence", Style::bold).c_str(), strip_of(summary, runs, columns).c_str());
  const double slots_per_column = static_cast<double>(summary.padded_length) / columns;
  std::string legend = slots_per_column == 1 ? "one character is one position" : fmt::format("one character is {:.4g} positions", slots_per_column);
  legend += summary.replicated ? "; = every rank" : "; a character names the rank with most of them";
  if (summary.padding() > 0) legend += "; / mostly padding";
  std::printf("%s\n\n", styled(legend, Style::dim).c_str());
}

void print_ranks(const layout::Summary& summary) {
  Table table({{"rank", Align::right},
               {"slots", Align::right},
               {"tokens", Align::right},
               {"padding", Align::right},
               {"causal work", Align::right},
               {"global positions", Align::left, true}});
  for (const layout::RankSummary& own : summary.ranks) {
    table.add_row({fmt::format("{}", own.rank), text::format_count(own.slots), text::format_count(own.tokens), text::format_count(own.padding),
                   fmt::format("{:.1f} %", own.work_percent_of_mean), ranges_of(own)});
  }
  std::printf("%s\n", styled("Local slots by rank", Style::bold).c_str());
  table.print();
}

void print_picture(const layout::Summary& summary, int width) {
  std::printf("%s with cp %d: %s slots = %s tokens + %s padding (a multiple of %s)\n\n", summary.layout.c_str(), summary.cp,
              text::format_count(summary.padded_length).c_str(), text::format_count(summary.sequence_length).c_str(),
              text::format_count(summary.padding()).c_str(), text::format_count(summary.divisor).c_str());
  if (summary.padded_length > 0) print_strip(summary, width);
  print_ranks(summary);
  std::printf("\n%s\n", layout::sentence(summary).c_str());
}

int show_layout(const Options& options, const Invocation& invocation) {
  const Question question = ask(options);
  const auto layout = layout::make_layout(question.layout, question.cp, {.pad_multiple = options.pad_multiple});
  const layout::Summary summary = layout::summarize(*layout, layout::MaskArea({}, question.length));
  if (invocation.json) {
    std::printf("%s\n", to_json(summary).dump(2).c_str());
    return 0;
  }
  const int terminal = terminal_columns() > 0 ? std::clamp(terminal_columns(), kStripWidthMin, kStripWidthMax) : kStripWidthDefault;
  print_picture(summary, options.width > 0 ? options.width : terminal);
  return 0;
}

void build(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "take layout, cp and length from this recipe; overrides may follow: a.b=c, +a.b=c, ++a.b=c, ~a.b");
  command.add_option("--layout", options->layout, "none, round_robin or contiguous (default: round_robin, with cp 1 none)");
  command.add_option("--cp", options->cp, "ranks that share one sequence");
  command.add_option("--length", options->length, "tokens of the sequence");
  command.add_option("--pad-multiple", options->pad_multiple, "contiguous: each rank's slots are a multiple of this");
  command.add_option("--width", options->width, "characters of the strip (default: the terminal's)")
      ->check(CLI::Range(kStripWidthMin, kStripWidthMax));
  set_action(command, invocation, [options, &invocation] { return show_layout(*options, invocation); });
}

const VerbEntry kEntry({Group::recipes, "layout", "Show which rank holds which tokens of a sequence", build});

}  // namespace
}  // namespace ringwright::cli
