#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "console/cli/layout_print.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

constexpr double kWidth = 960, kLeft = 90, kBar = kWidth - 2 * kLeft, kRow = 26, kHeight = 18;
constexpr std::string_view kColours[] = {"#5fafff", "#ffaf5f", "#87d787", "#d787d7", "#ffd75f",
                                         "#5fd7d7", "#ff8787", "#afafff", "#afd787", "#d7afaf"};
constexpr size_t kRunsDrawn = 4096;  // of one bar: more are narrower than a pixel

class Picture {
 public:
  explicit Picture(const layout::Summary& summary) : summary_(summary) {}

  void text(double x, double y, const std::string& words, std::string_view anchor = "start") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
  }
  void box(double x, double y, double width, std::string_view fill, const std::string& tip) {
    body_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n", x, y,
                         std::max(width, 0.5), kHeight, fill, tip);
  }
  // Runs by rank, at their global or local place, over `positions`.
  void runs(const std::vector<layout::Run>& runs, double y, bool global, int64_t positions) {
    const size_t step = runs.size() / kRunsDrawn + 1;
    for (size_t i = 0; i < runs.size(); i += step) {
      const layout::Run& run = runs[i];
      box(x_of(global ? run.global_start : run.local_start, positions), y, kBar * static_cast<double>(run.length) / static_cast<double>(positions),
          kColours[static_cast<size_t>(run.rank) % std::size(kColours)],
          fmt::format("rank {}, slots {}-{}, positions {}-{}", run.rank, run.local_start, run.local_start + run.length - 1, run.global_start,
                      run.global_start + run.length - 1));
    }
  }
  void documents(double y) {
    const size_t step = summary_.documents.size() / kRunsDrawn + 1;
    for (size_t d = 0; d < summary_.documents.size(); d += step) {
      const layout::PlacedDocument& document = summary_.documents[d];
      const double x = x_of(document.start, summary_.padded_length);
      body_ += fmt::format("<line x1=\"{0:.2f}\" y1=\"{1:.1f}\" x2=\"{0:.2f}\" y2=\"{2:.1f}\"/>\n", x, y - 4, y + kHeight + 4);
      padding(document.start + document.real_length, document.start + document.slot_length, y);
    }
    padding(summary_.sequence_length, summary_.padded_length, y);
  }
  std::string finish(double height, const std::string& title) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n<title>{2}</title>\n"
        "<style>text{{font:12px sans-serif;fill:currentColor}}line{{stroke:currentColor;stroke-width:1}}svg{{color:#444}}"
        "@media(prefers-color-scheme:dark){{svg{{color:#ccc}}}}</style>\n"
        "<defs><pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" stroke=\"currentColor\"/>"
        "</pattern></defs>\n{3}</svg>\n",
        kWidth, height, title, body_);
  }

 private:
  double x_of(int64_t position, int64_t positions) const { return kLeft + kBar * static_cast<double>(position) / static_cast<double>(positions); }
  void padding(int64_t first, int64_t last, double y) {
    if (first >= last) return;
    box(x_of(first, summary_.padded_length), y, kBar * static_cast<double>(last - first) / static_cast<double>(summary_.padded_length),
        "url(#padding)", fmt::format("padding {}-{}", first, last - 1));
  }

  const layout::Summary& summary_;
  std::string body_;
};

}  // namespace

std::string layout_svg(const LayoutReport& report) {
  const layout::Summary& summary = report.summary;
  Picture picture(summary);
  const std::string title = fmt::format("{} with cp {}: {} slots, {} padding; {}", summary.layout, summary.cp,
                                        text::format_count(summary.padded_length), text::format_count(summary.padding()), summary.mask);
  picture.text(kLeft, 20, title);
  double y = 36;
  if (summary.padded_length > 0) {
    picture.text(kLeft - 8, y + 13, "sequence", "end");
    for (const layout::RankSummary& own : summary.ranks) {
      if (!summary.replicated || own.rank == 0) picture.runs(own.runs, y, true, summary.padded_length);
    }
    picture.documents(y);
    y += kRow + 12;
    for (const layout::RankSummary& own : summary.ranks) {
      picture.text(kLeft - 8, y + 13, fmt::format("rank {}", own.rank), "end");
      picture.runs(own.runs, y, false, std::max<int64_t>(own.slots, 1));
      picture.text(kLeft + kBar + 8, y + 13, fmt::format("{:.1f} %", own.work_percent_of_mean));
      y += kRow;
    }
  }
  picture.text(kLeft, y + 16, layout::sentence(summary));
  return picture.finish(y + 30, title);
}

}  // namespace ringwright::cli
