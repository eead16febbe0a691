#include "shared/exchange/text_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "shared/base/files.h"
#include "shared/base/json_depth.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/run_content.h"
#include "shared/exchange/text_export.h"
#include "shared/history/metric_value.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kNestingMax = 64;
constexpr size_t kPointsPerRow = 4096;
constexpr int kFirstVersionWithAnEnd = 2;
constexpr const char* kExpected = "what was written by: ringwright runs export RUN --format json (or jsonl)";

Error unreadable(const fs::path& file, const std::string& why) {
  return Error({"RW-IMPORT-003", "this is no export of a run: " + why, file.string(), kExpected, "name another file"});
}

Error too_large(const std::string& place, const std::string& what, uint64_t bytes_max) {
  return Error({"RW-IMPORT-006", what, place, "at most " + std::to_string(bytes_max >> 20) + " MiB",
                "take the run along as an archive: ringwright runs export RUN -o RUN.tar.zst"});
}

json parse(std::string_view text) {
  if (text::json_depth(text) > kNestingMax) throw std::invalid_argument("values are nested too deeply");
  return json::parse(text);
}

// The points of a curve, each put into the segment that shows it: the newest that began at its step or before.
class Points {
 public:
  explicit Points(const TakeRow& take) : take_(take) {}

  void segment(const history::SegmentRecord& segment) {
    if (any_) throw std::invalid_argument("a segment stands behind a metric");
    segments_.push_back(segment);
  }
  void add(const std::string& metric, const json& row) {
    if (metric.empty()) throw std::invalid_argument("a metric has no name");
    any_ = true;
    const history::MetricPoint point = point_from_json(row);
    const int64_t segment = segment_of(point.step);
    const bool same = metric == series_.metric && point.rank == series_.rank && segment == series_.segment;
    if (!same || series_.points.size() >= kPointsPerRow) {
      end();
      series_ = {metric, point.rank, segment, {}};
    }
    series_.points.push_back(point);
  }
  void end() {
    if (!series_.points.empty()) take_(Row(std::move(series_)));
    series_ = SeriesPoints{};
  }

 private:
  int64_t segment_of(int64_t step) const {
    int64_t found = 1;
    for (const history::SegmentRecord& segment : segments_)
      if (segment.first_step && *segment.first_step <= step) found = std::max(found, segment.segment);
    return found;
  }

  const TakeRow& take_;
  std::vector<history::SegmentRecord> segments_;
  SeriesPoints series_;
  bool any_ = false;
};

class Loader {
 public:
  Loader(const fs::path& file, const TakeRow& take) : file_(file), take_(take), points_(take) {}

  TextExport load() {
    if (const std::string kind = files::kind_if_not_regular(file_); !kind.empty()) throw unreadable(file_, "it is " + kind);
    std::ifstream stream(file_, std::ios::binary);
    if (!stream) throw unreadable(file_, std::error_code(errno, std::generic_category()).message());
    // JSON lines tell themselves by a first line that is a whole object with a type.
    std::string first;
    const bool readable = next_line(stream, first) == Line::whole && text::json_depth(first) <= kNestingMax;
    const json head = readable ? json::parse(first, nullptr, false) : json();
    head.is_object() && head.contains("type") ? read_lines(stream, head) : read_document();
    return std::move(result_);
  }

 private:
  std::string place() const { return line_ > 0 ? fmt::format("{}:{}", file_.string(), line_) : file_.string() + (at_.empty() ? "" : ": " + at_); }

  Error damaged(const std::string& what) const {
    return Error(
        {"RW-IMPORT-004", "the export is damaged: " + what, place(), "rows as they were exported", "export the run again; nothing was imported"});
  }

  // What the values are not becomes one error, at its place.
  template <class Read>
  void guarded(Read read) {
    try {
      read();
    } catch (const json::exception& error) {
      throw damaged(error.what());
    } catch (const std::invalid_argument& error) {
      throw damaged(error.what());
    } catch (const std::out_of_range&) {
      throw damaged("it holds what is no part of an export");
    }
  }

  enum class Line { none, whole, too_long };
  static Line next_line(std::ifstream& stream, std::string& line) {
    line.clear();
    for (int c = 0; (c = stream.rdbuf()->sbumpc()) != std::char_traits<char>::eof();) {
      if (c == '\n') return Line::whole;
      if (line.size() >= kLineBytesMax) return Line::too_long;
      line += static_cast<char>(c);
    }
    return line.empty() ? Line::none : Line::whole;
  }

  void read_run(const json& run, const json& version) {
    if (!version.is_number_integer()) throw std::invalid_argument("it has no export_version");
    version_ = version.get<int64_t>();
    if (version_ > kExportVersion)
      throw Error({"RW-IMPORT-005", fmt::format("the export has version {}, newer than this program knows ({})", version_, kExportVersion), place(),
                   fmt::format("version {} or older", kExportVersion), "update Ringwright", ExitCode::version_mismatch});
    if (version_ < 1) throw std::invalid_argument("its export_version is " + std::to_string(version_));
    try {
      result_.run = run_from_json(run);
    } catch (const Error& error) {
      throw damaged(error.what());  // a state that is none
    }
    if (version_ < kFirstVersionWithAnEnd)
      result_.notes.emplace_back("the export is of an older kind: it holds metrics, checkpoints and logs, and does not tell whether it is whole");
  }

  void take_row(const std::string& file, const json& json) {
    Row row = row_from_json(file, json);
    if (const auto* segment = std::get_if<history::SegmentRecord>(&row)) points_.segment(*segment);
    take_(std::move(row));
  }

  void read_lines(std::ifstream& stream, const json& head) {
    line_ = 1;
    guarded([&] {
      if (head.at("type") != "run") throw unreadable(file_, "the first line is not the run");
      read_run(head, head.value("export_version", json()));
      for_each_fingerprint(result_.run, take_);
    });
    bool ended = false;
    for (std::string line;;) {
      ++line_;
      const Line next = next_line(stream, line);
      if (next == Line::none) break;
      if (next == Line::too_long) throw too_large(place(), "a line has more bytes than are kept in memory", kLineBytesMax);
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      if (ended) throw damaged("it goes on behind its end");
      guarded([&] { ended = read_line(parse(line)); });
    }
    line_ = 0;
    points_.end();
    if (!ended && version_ >= kFirstVersionWithAnEnd) throw damaged("it is cut off");
  }

  // True: it is the end.
  bool read_line(const json& row) {
    const auto type = row.at("type").get<std::string>();
    if (type == "end") {
      if (row.at("lines") != lines_) throw std::invalid_argument("it has lost lines, or gained some");
      return true;
    }
    ++lines_;
    if (type == "metric")
      points_.add(row.at("metric").get<std::string>(), row);
    else
      take_row(file_of_type(type), row);
    return false;
  }

  void read_document() {
    std::string text;
    try {
      text = files::read_all(file_, kDocumentBytesMax);
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::file_too_large)
        throw too_large(file_.string(), "the document has more bytes than are kept in memory", kDocumentBytesMax);
      throw unreadable(file_, error.code().message());
    }
    json document;
    guarded([&] { document = parse(text); });
    if (!document.is_object() || !document.contains("run")) throw unreadable(file_, "it has no run");
    guarded([&] {
      at_ = "run";
      read_run(document["run"], document.value("export_version", json()));
      for_each_fingerprint(result_.run, take_);
      // What decides where points belong comes before them.
      for (const char* list : {"counters", "segments"})
        if (document.contains(list)) read_list(list, document[list]);
      if (document.contains("metrics")) read_series(document["metrics"]);
      for (const char* done : {"export_version", "run", "counters", "segments", "metrics"}) document.erase(done);
      for (const auto& [list, rows] : document.items()) read_list(list, rows);
    });
  }

  void read_list(const std::string& list, const json& rows) {
    at_ = list;
    if (rows.is_object()) return take_row(list, rows);  // counters
    if (!rows.is_array()) throw std::invalid_argument("it is no list");
    for (size_t i = 0; i < rows.size(); ++i) {
      at_ = fmt::format("{}[{}]", list, i);
      take_row(list, rows[i]);
    }
  }

  void read_series(const json& list) {
    at_ = "metrics";
    if (!list.is_array()) throw std::invalid_argument("it is no list");
    for (size_t i = 0; i < list.size(); ++i) {
      at_ = fmt::format("metrics[{}]", i);
      const auto metric = list[i].at("metric").get<std::string>();
      const json& points = list[i].at("points");
      if (!points.is_array()) throw std::invalid_argument("its points are no list");
      for (size_t point = 0; point < points.size(); ++point) {
        at_ = fmt::format("metrics[{}].points[{}]", i, point);
        points_.add(metric, points[point]);
      }
    }
    points_.end();
  }

  fs::path file_;
  const TakeRow& take_;
  Points points_;
  TextExport result_;
  int64_t version_ = 0;
  uint64_t line_ = 0;   // of JSON lines
  uint64_t lines_ = 1;  // before the end; the run is one
  std::string at_;      // in a document
};

}  // namespace

bool begins_like_json(const fs::path& file) {
  if (!files::kind_if_not_regular(file).empty()) return false;
  std::ifstream stream(file, std::ios::binary);
  char c = 0;
  return static_cast<bool>(stream >> c) && c == '{';
}

TextExport read_text_export(const fs::path& file, const TakeRow& take) { return Loader(file, take).load(); }

}  // namespace ringwright::exchange
