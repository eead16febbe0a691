// `ringwright layout`: where each token of a sequence lives, and what attention over it costs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/cli/layout_print.h"
#include "console/cli/run_text.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

constexpr int kStripWidthDefault = 80, kStripWidthMin = 10, kStripWidthMax = 1000;

struct Options {
  LayoutOptions layout;
  int width = 0;
  std::string svg;
};

void write_svg(const std::string& file, const std::string& picture) {
  std::ofstream stream(file, std::ios::binary);
  stream << picture << std::flush;
  if (stream) return;
  throw Error({.code = "RW-CLI-014",
               .what = "the picture cannot be written",
               .where = file,
               .expected = "a file in a folder that can be written to",
               .action = "choose another place",
               .exit_code = ExitCode::usage});
}

int show_layout(const Options& options, const Invocation& invocation) {
  const LayoutReport report = report_layout(options.layout);
  if (!options.svg.empty()) {
    if (options.svg == "-") {
      std::printf("%s", layout_svg(report).c_str());
      return 0;
    }
    write_svg(options.svg, layout_svg(report));
  }
  if (invocation.json) {
    fmt::print("{}", dump_ordered_document(layout_json(report)));
    return 0;
  }
  const int terminal = terminal_columns() > 0 ? std::clamp(terminal_columns(), kStripWidthMin, kStripWidthMax) : kStripWidthDefault;
  print_layout(report, options.width > 0 ? options.width : terminal);
  return 0;
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  LayoutOptions& layout = options->layout;
  command.add_option("recipe", layout.words,
                     "take layout, cp, the longest microbatch and the model from this recipe; overrides may follow: a.b=c, +a.b=c, ++a.b=c, ~a.b");
  std::string names;
  for (const std::string& name : layout::layout_names()) names += (names.empty() ? "" : ", ") + name;
  command.add_option("--layout", layout.layout,
                     names +
                         " (default: the recipe's, else the model family's, else round_robin, with documents thd, with a prefix tree balanced, with "
                         "cp 1 none)");
  command.add_option("--cp", layout.cp, "ranks that share one sequence");
  command.add_option("--length", layout.length, "tokens of one sequence");
  command.add_option("--documents", layout.documents, "lengths of packed documents: 300,1200,50");
  command.add_option("--prefix-tree", layout.prefix_tree, "nodes in the stream's order, LENGTH or LENGTH:PARENT: 4,2:0,3:0");
  command.add_option("--window", layout.window, "keys that a query sees at most, itself among them (default 0: all before it)")
      .check(whole_number(0, layout::kSequenceLengthMax));
  command.add_flag("--full", layout.full, "every query sees every key of its document");
  command.add_option("--chunk", layout.chunk, "balanced: tokens that stay together (default 512, fewer where a rank would get less than 16 chunks)");
  command.add_option("--pad-multiple", layout.pad_multiple, "contiguous, deepseek_v4: each rank's slots are a multiple of this");
  command.add_option("--document-multiple", layout.document_multiple, "each document's slot is a multiple of this (default: what the layout needs)");
  command.add_option("--model", layout.model,
                     "folder with a config.json, in place of the recipe's model: its family picks the layout, its heads the bytes");
  command.add_option("--heads", layout.heads, "query heads, for the bytes (default 32)");
  command.add_option("--kv-heads", layout.kv_heads, "key and value heads (default 8, with --heads as many)");
  command.add_option("--head-size", layout.head_size, "elements of a head (default 128)");
  command.add_option("--element-bytes", layout.element_bytes, "bytes of an element (default 2)");
  command.add_option("--width", options->width, "characters of the strip (default: the terminal's)").check(in_range(kStripWidthMin, kStripWidthMax));
  command.add_option("--svg", options->svg, "write the picture to this file; - for stdout, and nothing else");
  set_action(command, invocation, [options, &invocation] { return show_layout(*options, invocation); });
}

const VerbEntry kEntry({Group::recipes, "layout", "Show which rank holds which tokens of a sequence, and what attention costs", build});

}  // namespace
}  // namespace ringwright::cli
