#include "console/gui/data/background.h"

#include "console/gui/data/guarded.h"

namespace ringwright::gui {

Background::Background(std::function<std::filesystem::path()> history_file) : history_file_(std::move(history_file)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Background::~Background() {
  thread_.request_stop();
  wake_.notify_all();
}

void Background::add(Job job, Failed failed) {
  {
    const std::scoped_lock lock(mutex_);
    entries_.push_back({std::move(job), std::move(failed)});
  }
  wake_.notify_one();
}

bool Background::busy() const {
  const std::scoped_lock lock(mutex_);
  return at_work_ || !entries_.empty();
}

const history::Reader& Background::reader_of(const std::filesystem::path& file) {
  if (file.empty() || !std::filesystem::exists(file))
    throw Error(
        {"RW-GUI-008", "there is no history yet", file.string(), "a run that was recorded", "start one: ringwright run RECIPE", ExitCode::store});
  if (!reader_ || opened_ != file) {
    reader_ = std::make_unique<history::Reader>(file);
    opened_ = file;
  }
  return *reader_;
}

void Background::serve(const Entry& entry) {
  const auto answer = [&] {
    const std::filesystem::path file = history_file_();
    entry.job({file, reader_of(file)});
  };
  guarded(answer, entry.failed);
}

void Background::work(const std::stop_token& stop) {
  for (;;) {
    std::optional<Entry> entry;
    {
      std::unique_lock lock(mutex_);
      at_work_ = false;
      wake_.wait(lock, stop, [this] { return !entries_.empty(); });
      if (stop.stop_requested()) return;
      entry = std::move(entries_.front());
      entries_.pop_front();
      at_work_ = true;
    }
    serve(*entry);
  }
}

}  // namespace ringwright::gui
