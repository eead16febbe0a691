#include "console/cli/layout_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "shared/base/text.h"
#include "shared/layout/methods.h"

namespace ringwright::cli {
namespace {

constexpr std::string_view kRankLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
// Backgrounds of the 256-colour palette that black letters can be read on.
constexpr int kRankColours[] = {75, 215, 114, 176, 221, 80, 210, 147, 150, 181};
constexpr size_t kDocumentsShown = 12, kRangesShown = 8;

char letter_of(const layout::Column& column, const layout::Summary& summary) {
  if (column.padding_share > 0.5) return '/';
  if (summary.replicated) return '=';
  if (column.owner < 0) return ' ';
  return column.owner < static_cast<int>(kRankLetters.size()) ? kRankLetters[static_cast<size_t>(column.owner)] : '*';
}

// One character a column; where the terminal has colours, neighbours of one rank share a coloured block.
std::string strip_of(const layout::Summary& summary, const std::vector<layout::Column>& columns) {
  const bool colours = colour_on(stdout);
  std::string text;
  for (const layout::Column& column : columns) {
    const char letter = letter_of(column, summary);
    if (colours && column.owner >= 0 && letter != '/') {
      text += fmt::format("\x1b[30;48;5;{}m{}\x1b[0m", kRankColours[static_cast<size_t>(column.owner) % std::size(kRankColours)], letter);
    } else {
      text += letter;
    }
  }
  return text;
}

std::string edges_of(const std::vector<layout::Column>& columns) {
  std::string text;
  for (const layout::Column& column : columns) text += column.document_starts ? '|' : ' ';
  return text;
}

std::string ranges_of(const layout::RankSummary& own) {
  std::string text;
  for (size_t i = 0; i < std::min(own.runs.size(), kRangesShown); ++i) {
    if (i > 0) text += ", ";
    text += fmt::format("{}-{}", text::format_count(own.runs[i].global_start), text::format_count(own.runs[i].global_start + own.runs[i].length - 1));
  }
  if (own.runs.size() > kRangesShown) text += fmt::format(" and {} more", text::format_count(static_cast<int64_t>(own.runs.size() - kRangesShown)));
  return text;
}

void print_strip(const layout::Summary& summary, int width) {
  std::vector<layout::Run> runs;
  for (const layout::RankSummary& own : summary.ranks) runs.insert(runs.end(), own.runs.begin(), own.runs.end());
  const int count = static_cast<int>(std::min<int64_t>(width, summary.padded_length));
  const std::vector<layout::Column> columns = layout::columns(runs, count, 0, summary.padded_length, summary.documents);
  std::printf("%s\n%s\n", styled("Global sequence", Style::bold).c_str(), strip_of(summary, columns).c_str());
  if (summary.documents.size() > 1) std::printf("%s\n", edges_of(columns).c_str());
  const double slots_per_column = static_cast<double>(summary.padded_length) / count;
  std::string legend = slots_per_column == 1 ? "one character is one position" : fmt::format("one character is {:.4g} positions", slots_per_column);
  legend += summary.replicated ? "; = every rank" : "; a character names the rank with most of them";
  if (summary.padding() > 0) legend += "; / mostly padding";
  if (summary.documents.size() > 1) legend += "; | a document starts";
  std::printf("%s\n\n", styled(legend, Style::dim).c_str());
}

void print_documents(const layout::Summary& summary) {
  if (summary.documents.size() < 2) return;
  Table table({{"document", Align::right}, {"starts at", Align::right}, {"tokens", Align::right}, {"slots", Align::right}});
  for (size_t d = 0; d < std::min(summary.documents.size(), kDocumentsShown); ++d) {
    const layout::PlacedDocument& document = summary.documents[d];
    table.add_row({fmt::format("{}", d), text::format_count(document.start), text::format_count(document.real_length),
                   text::format_count(document.slot_length)});
  }
  table.print();
  if (summary.documents.size() > kDocumentsShown) {
    std::printf("%s\n", styled(fmt::format("and {} more", summary.documents.size() - kDocumentsShown), Style::dim).c_str());
  }
  std::printf("\n");
}

void print_ranks(const layout::Summary& summary) {
  Table table({{"rank", Align::right},
               {"slots", Align::right},
               {"tokens", Align::right},
               {"padding", Align::right},
               {"attention area", Align::right},
               {"of the mean", Align::right},
               {"global positions", Align::left, true}});
  for (const layout::RankSummary& own : summary.ranks) {
    table.add_row({fmt::format("{}", own.rank), text::format_count(own.slots), text::format_count(own.tokens), text::format_count(own.padding),
                   text::format_count(own.visible_pairs), fmt::format("{:.1f} %", own.work_percent_of_mean), ranges_of(own)});
  }
  std::printf("%s\n", styled("Local slots by rank", Style::bold).c_str());
  table.print();
}

// What the rank that receives most receives, and all together, in a whole step.
struct Received {
  uint64_t forward_most = 0, backward_most = 0, total = 0;
};

Received received_of(const std::vector<layout::RankTraffic>& ranks, int64_t layers) {
  // Shown with three digits; a sum over ranks and layers may be beyond 64 bits.
  const auto in_all_layers = [layers](double bytes) { return static_cast<uint64_t>(std::min(bytes * static_cast<double>(layers), 0x1p63)); };
  double forward = 0, backward = 0, total = 0;
  for (const layout::RankTraffic& own : ranks) {
    const auto sent = static_cast<double>(own.forward_bytes), again = static_cast<double>(own.backward_bytes);
    forward = std::max(forward, sent), backward = std::max(backward, again), total += sent + again;
  }
  return {in_all_layers(forward), in_all_layers(backward), in_all_layers(total)};
}

void print_traffic(const LayoutReport& report) {
  if (report.summary.cp == 1) return;
  const layout::AttentionShape& shape = report.shape;
  std::printf("\n%s\n", styled("Bytes per step", Style::bold).c_str());
  Table table({{"method"}, {"forward, most of a rank", Align::right}, {"backward, most of a rank", Align::right}, {"all ranks", Align::right}});
  std::vector<std::string> refusals;
  for (const MethodTraffic& each : report.traffic) {
    if (!each.ranks) {
      table.add_row({each.method, "-", "-", "-"});
      refusals.push_back(
          fmt::format("{}: {}", each.method, layout::method_head_refusal(each.method, {shape.heads, shape.kv_heads}, report.summary.cp)));
      continue;
    }
    const Received received = received_of(*each.ranks, report.layers);
    table.add_row(
        {each.method, text::format_bytes(received.forward_most), text::format_bytes(received.backward_most), text::format_bytes(received.total)});
  }
  table.print();
  for (const std::string& refusal : refusals) std::printf("%s\n", refusal.c_str());
  const std::string words =
      fmt::format("one row, {} layer{}, {} heads over {} KV heads of {}, {} bytes an element; {}", report.layers, report.layers == 1 ? "" : "s",
                  shape.heads, shape.kv_heads, shape.head_size, shape.element_bytes, report.shape_by);
  std::printf("%s\n", styled(words, Style::dim).c_str());
}

}  // namespace

void print_layout(const LayoutReport& report, int width) {
  const layout::Summary& summary = report.summary;
  std::string rule = fmt::format("a multiple of {}", text::format_count(summary.divisor));
  if (report.document_multiple > 1) rule += fmt::format(", each document of {}", text::format_count(report.document_multiple));
  std::printf("%s with cp %d: %s slots = %s tokens + %s padding (%s)\n", summary.layout.c_str(), summary.cp,
              text::format_count(summary.padded_length).c_str(), text::format_count(summary.tokens()).c_str(),
              text::format_count(summary.padding()).c_str(), rule.c_str());
  const std::string drawn = report.drawn.empty() ? "" : fmt::format("{}; ", report.drawn);
  std::printf("%s\n", styled(fmt::format("{}mask: {}; layout chosen by {}", drawn, summary.mask, report.chosen_by), Style::dim).c_str());
  for (const std::string& note : report.notes) std::printf("%s\n", styled("note: " + note, Style::warning).c_str());
  std::printf("\n");
  if (summary.padded_length > 0) print_strip(summary, width);
  print_documents(summary);
  print_ranks(summary);
  std::printf("\n%s\n", layout::sentence(summary).c_str());
  print_traffic(report);
}

nlohmann::json layout_json(const LayoutReport& report) {
  using nlohmann::json;
  const layout::Summary& summary = report.summary;
  json ranks = json::array(), runs = json::array(), documents = json::array(), traffic = json::object();
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
  for (const layout::PlacedDocument& document : summary.documents) {
    documents.push_back({{"start", document.start}, {"tokens", document.real_length}, {"slots", document.slot_length}});
  }
  for (const MethodTraffic& each : report.traffic) {
    traffic[each.method] = nullptr;
    if (!each.ranks) continue;
    traffic[each.method] = json::array();
    for (const layout::RankTraffic& own : *each.ranks) {
      traffic[each.method].push_back({{"forward_bytes", own.forward_bytes}, {"backward_bytes", own.backward_bytes}});
    }
  }
  return {{"layout", summary.layout},
          {"chosen_by", report.chosen_by},
          {"drawn", report.drawn.empty() ? json() : json(report.drawn)},
          {"mask", summary.mask},
          {"cp", summary.cp},
          {"sequence_length", summary.sequence_length},
          {"padded_length", summary.padded_length},
          {"tokens", summary.tokens()},
          {"padding", summary.padding()},
          {"divisor", summary.divisor},
          {"document_multiple", report.document_multiple},
          {"slowest_rank", summary.slowest_rank},
          {"slowest_percent_of_mean", summary.slowest_percent()},
          {"sentence", layout::sentence(summary)},
          {"documents", documents},
          {"ranks", ranks},
          {"runs", runs},
          {"attention",
           {{"heads", report.shape.heads},
            {"kv_heads", report.shape.kv_heads},
            {"head_size", report.shape.head_size},
            {"element_bytes", report.shape.element_bytes},
            {"layers", report.layers},
            {"of", report.shape_by}}},
          {"bytes_received_per_layer", traffic},
          {"notes", report.notes}};
}

}  // namespace ringwright::cli
