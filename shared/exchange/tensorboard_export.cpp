#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "shared/exchange/run_content.h"
#include "shared/exchange/tensorboard_files.h"
#include "shared/tensorboard/event.h"
#include "shared/tensorboard/record_file.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsPerNs = 1e-9;

Error cannot_write(const fs::path& file, const std::string& why) {
  return Error({"RW-CLI-011", "the export cannot be written: " + why, file.string(), "a folder with room where you may write",
                "name another folder with -o FOLDER"});
}

double seconds(int64_t time_unix_ns) { return static_cast<double>(time_unix_ns) * kSecondsPerNs; }

// A file beside its place until it is whole.
class EventFile {
 public:
  EventFile(fs::path file, double wall_time_s) : file_(std::move(file)), part_(file_.string() + ".part") {
    std::error_code failure;
    fs::create_directories(file_.parent_path(), failure);
    if (failure) throw cannot_write(file_, failure.message());
    stream_.reset(std::fopen(part_.c_str(), "wb"));
    if (!stream_) throw cannot_write(file_, std::strerror(errno));
    tensorboard::Event first;
    first.wall_time_s = wall_time_s;
    first.file_version = tensorboard::kFileVersion;
    write(first);
  }
  ~EventFile() {
    if (stream_) std::remove(part_.c_str());
  }

  void write(const tensorboard::Event& event) {
    const std::string record = tensorboard::frame_record(tensorboard::encode_event(event));
    if (std::fwrite(record.data(), 1, record.size(), stream_.get()) != record.size()) throw cannot_write(file_, std::strerror(errno));
  }

  void close() {
    std::FILE* stream = stream_.release();
    if (std::fclose(stream) == 0 && std::rename(part_.c_str(), file_.c_str()) == 0) return;
    const std::string why = std::strerror(errno);
    std::remove(part_.c_str());
    throw cannot_write(file_, why);
  }

  const fs::path& path() const { return file_; }

 private:
  fs::path file_, part_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_{nullptr, &std::fclose};
};

// rank -1: the run as a whole.
void write_rank(const history::Reader& reader, const history::RunRecord& run, int rank, EventFile& file) {
  for (const std::string& name : reader.metric_names(run.id))
    for (const history::MetricPoint& point : reader.metric(run.id, name, rank)) {
      tensorboard::Event event;
      event.wall_time_s = seconds(point.time_unix_ns);
      event.step = point.step;
      event.scalars = {{name, point.value}};
      file.write(event);
    }
}

std::set<int> other_ranks(const history::Reader& reader, const std::string& run) {
  std::set<int> ranks;
  for_each_series(reader, run, [&](const std::string&, int rank) {
    if (rank > 0) ranks.insert(rank);
  });
  return ranks;
}

}  // namespace

std::vector<fs::path> export_tensorboard(const history::Reader& reader, const history::RunRecord& run, const fs::path& folder) {
  const double begin_s = seconds(run.started_unix_ns ? run.started_unix_ns : run.created_unix_ns);
  const std::string name = fmt::format("events.out.tfevents.{:010.0f}.{}", begin_s, run.id);
  std::vector<std::unique_ptr<EventFile>> files;
  files.push_back(std::make_unique<EventFile>(folder / name, begin_s));
  write_rank(reader, run, -1, *files.back());
  for (const int rank : other_ranks(reader, run.id)) {
    files.push_back(std::make_unique<EventFile>(folder / fmt::format("rank{}", rank) / name, begin_s));
    write_rank(reader, run, rank, *files.back());
  }
  std::vector<fs::path> paths;
  for (const auto& file : files) {
    file->close();
    paths.push_back(file->path());
  }
  return paths;
}

}  // namespace ringwright::exchange
