#include "shared/exchange/run_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

#include "shared/base/json_depth.h"
#include "shared/exchange/archive_file.h"
#include "shared/exchange/record_json.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/run_content.h"
#include "shared/fingerprint/inputs.h"

namespace ringwright::exchange {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "ringwright-run";
constexpr const char* kRunFile = "run.json";
constexpr const char* kManifestFile = "manifest.json";
constexpr const char* kRowsSuffix = ".jsonl";
constexpr size_t kNumberDigits = 5;
constexpr size_t kFileBytes = size_t{4} << 20;  // a file of rows ends with the row that goes beyond
constexpr size_t kPointsPerRow = 4096;
constexpr int kNestingMax = 64;

// Collects rows into files.
class Builder {
 public:
  explicit Builder(const std::function<void(const std::string&)>& write) : archive_(write) {}

  void add_run(const history::RunRecord& run) {
    const std::string text = dump_document({{"format", kFormat}, {"version", kArchiveVersion}, {"run", to_whole_json(run)}});
    manifest_[kRunFile] = {{"xxh3", fingerprint::xxh3_of_text(text)}};
    archive_.add(kRunFile, text);
  }

  void add(const Row& row) {
    if (const std::string file = file_of(row); file != file_) {
      end_file();
      file_ = file, number_ = 0;
    }
    text_ += dump_line(row_to_json(row));
    ++rows_;
    if (text_.size() >= kFileBytes) end_file();
  }

  void finish() {
    end_file();
    archive_.add(kManifestFile, dump_document({{"files", manifest_}}));
    archive_.finish();
  }

 private:
  void end_file() {
    if (rows_ == 0) return;
    const std::string name = fmt::format("{}-{:0{}}{}", file_, ++number_, kNumberDigits, kRowsSuffix);
    manifest_[name] = {{"rows", rows_}, {"xxh3", fingerprint::xxh3_of_text(text_)}};
    archive_.add(name, text_);
    text_.clear();
    rows_ = 0;
  }

  ArchiveWriter archive_;
  json manifest_ = json::object();
  std::string file_, text_;
  int number_ = 0;
  uint64_t rows_ = 0;
};

void add_points(Builder& builder, const history::Reader& reader, const history::RunRecord& run) {
  const std::vector<history::SegmentRecord> segments = reader.segments(run.id);
  for_each_series(reader, run.id, [&](const std::string& metric, int rank) {
    for (const history::SegmentRecord& segment : segments) {
      const std::vector<history::MetricPoint> points = reader.metric(run.id, metric, rank, -1, segment.segment);
      for (size_t begin = 0; begin < points.size(); begin += kPointsPerRow) {
        const size_t end = std::min(points.size(), begin + kPointsPerRow);
        builder.add(
            SeriesPoints{metric, rank, segment.segment, {points.begin() + static_cast<int64_t>(begin), points.begin() + static_cast<int64_t>(end)}});
      }
    }
  });
}

Error damaged(const ArchiveReader& archive, const std::string& what) {
  return Error({"RW-ARCHIVE-003", "the archive is damaged: " + what, archive.place(), "rows as they were exported",
                "take another copy; nothing was imported"});
}

json parse(const ArchiveReader& archive, std::string_view text) {
  if (text::json_depth(text) > kNestingMax) throw damaged(archive, "values are nested too deeply");
  return json::parse(text);
}

// "metrics-00001.jsonl" -> "metrics"; empty for another name.
std::string rows_of(const std::string& name) {
  const size_t tail = 1 + kNumberDigits + std::string_view(kRowsSuffix).size();
  if (name.size() <= tail || !name.ends_with(kRowsSuffix) || name[name.size() - tail] != '-') return "";
  const auto digits = name.substr(name.size() - tail + 1, kNumberDigits);
  return std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }) ? name.substr(0, name.size() - tail) : "";
}

class Loader {
  // What the values are not becomes one error, at the place.
  template <class Read>
  auto guarded(Read read) {
    try {
      return read();
    } catch (const json::exception& error) {
      throw damaged(archive_, at_line() + error.what());
    } catch (const std::invalid_argument& error) {
      throw damaged(archive_, at_line() + error.what());
    } catch (const std::out_of_range& error) {
      throw Error({"RW-ARCHIVE-004", "the archive is refused: it holds a file that is none of ours", archive_.place(),
                   "an archive as made by: ringwright runs export RUN --format archive", "do not trust where it comes from; nothing was imported"});
    }
  }

 public:
  Loader(const std::filesystem::path& file, const TakeRow& take) : archive_(file), take_(take) {}

  history::RunRecord load() {
    history::RunRecord run = read_run();
    while (auto entry = archive_.next()) {
      if (complete_) throw damaged(archive_, "it goes on after its end");
      entry->name == kManifestFile ? guarded([&] { compare(parse(archive_, entry->content)); }) : guarded([&] { read_rows(*entry); });
    }
    if (!complete_) throw damaged(archive_, "it is cut off");
    return run;
  }

 private:
  std::string at_line() const { return line_ ? "line " + std::to_string(line_) + ": " : ""; }

  history::RunRecord read_run() {
    const auto entry = archive_.next();
    if (!entry || entry->name != kRunFile)
      throw Error({"RW-ARCHIVE-002", "this is no archive of a run: it does not begin with run.json", archive_.place(),
                   "an archive as made by: ringwright runs export RUN --format archive", "name another file"});
    found_[kRunFile] = {{"xxh3", fingerprint::xxh3_of_text(entry->content)}};
    return guarded([&] {
      const json head = parse(archive_, entry->content);
      if (head.at("format").get<std::string>() != kFormat) throw std::invalid_argument("its format is another one");
      if (!head.at("version").is_number_integer()) throw std::invalid_argument("its version is no number");
      if (const auto version = head.at("version").get<int64_t>(); version > kArchiveVersion)
        throw Error(
            {"RW-ARCHIVE-006",
             "the archive has version " + std::to_string(version) + ", newer than this program knows (" + std::to_string(kArchiveVersion) + ")",
             archive_.place(), "version " + std::to_string(kArchiveVersion) + " or older", "update Ringwright", ExitCode::version_mismatch});
      try {
        return run_from_json(head.at("run"));
      } catch (const Error& error) {
        throw damaged(archive_, error.what());
      }
    });
  }

  void read_rows(const ArchiveReader::Entry& entry) {
    const std::string rows = rows_of(entry.name);
    if (rows.empty()) throw std::out_of_range("no file of ours");
    line_ = 0;
    for (std::string_view rest = entry.content; !rest.empty();) {
      const size_t end = rest.find('\n');
      ++line_;
      if (end == rest.npos) throw damaged(archive_, at_line() + "it has no end");
      take_(row_from_json(rows, parse(archive_, rest.substr(0, end))));
      rest.remove_prefix(end + 1);
    }
    found_[entry.name] = {{"rows", line_}, {"xxh3", fingerprint::xxh3_of_text(entry.content)}};
    line_ = 0;
  }

  void compare(const json& manifest) {
    if (manifest.at("files") != found_) throw damaged(archive_, "its files are not those that the manifest names");
    complete_ = true;
  }

  ArchiveReader archive_;
  const TakeRow& take_;
  json found_ = json::object();
  uint64_t line_ = 0;
  bool complete_ = false;
};

}  // namespace

void export_archive(const history::Reader& reader, const history::RunRecord& run, const std::function<void(const std::string&)>& write) {
  Builder builder(write);
  builder.add_run(run);
  const TakeRow add = [&](Row&& row) { builder.add(row); };
  for_each_row_before_points(reader, run, add);
  for_each_fingerprint(run, add);
  add_points(builder, reader, run);
  for_each_row_after_points(reader, run, add);
  builder.finish();
}

history::RunRecord read_archive(const std::filesystem::path& file, const TakeRow& take) { return Loader(file, take).load(); }

}  // namespace ringwright::exchange
