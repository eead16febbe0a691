// Questions to the history file that take time: asked on the draw thread, answered on another, looked at in a later frame.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "shared/base/error.h"
#include "shared/history/store.h"

namespace ringwright::gui {

// One thread with one reader of the history file. It gives jobs the reader, in the order in which they came.
class Background {
 public:
  struct Access {
    std::filesystem::path file;
    const history::Reader& reader;
  };
  using Job = std::function<void(const Access&)>;
  using Failed = std::function<void(const ErrorParts&)>;

  // `history_file` is called on the thread; an empty path: there is none, and every job fails with RW-GUI-008.
  explicit Background(std::function<std::filesystem::path()> history_file);
  ~Background();

  void add(Job job, Failed failed);
  // A job waits or is under way.
  bool busy() const;

 private:
  struct Entry {
    Job job;
    Failed failed;
  };
  void work(const std::stop_token& stop);
  void serve(const Entry& entry);
  const history::Reader& reader_of(const std::filesystem::path& file);

  std::function<std::filesystem::path()> history_file_;
  std::filesystem::path opened_;
  std::unique_ptr<history::Reader> reader_;  // only used by the thread
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Entry> entries_;
  bool at_work_ = false;
  std::jthread thread_;
};

// The newest answer to a question that may be asked again before it came. All of it on the draw thread, but for what `answer` does.
template <class T>
class Question {
 public:
  // A question that is under way is forgotten; its answer is dropped when it comes.
  void ask(Background& background, std::function<T(const Background::Access&)> answer) {
    auto slot = std::make_shared<Slot>();
    waiting_ = slot;
    const std::weak_ptr<Slot> asker = slot;
    background.add(
        [asker, answer = std::move(answer)](const Background::Access& access) {
          if (asker.expired()) return;  // asked again, or the view is gone
          std::optional<T> value = answer(access);
          if (const auto waiting = asker.lock()) waiting->put(std::move(value), std::nullopt);
        },
        [asker](const ErrorParts& error) {
          if (const auto waiting = asker.lock()) waiting->put(std::nullopt, error);
        });
  }
  // True in the one call after which value() or error() is new.
  bool take() {
    if (!waiting_) return false;
    const std::scoped_lock lock(waiting_->mutex);
    if (!waiting_->value && !waiting_->error) return false;
    error_ = std::move(waiting_->error);
    if (waiting_->value) value_ = std::move(waiting_->value);
    finished_ = std::exchange(waiting_, nullptr);  // the lock lives in it
    return true;
  }
  bool waiting() const { return waiting_ != nullptr; }
  // The last good answer, kept beside a later error.
  const std::optional<T>& value() const { return value_; }
  const std::optional<ErrorParts>& error() const { return error_; }
  void forget() { *this = Question(); }

 private:
  struct Slot {
    std::mutex mutex;
    std::optional<T> value;
    std::optional<ErrorParts> error;
    void put(std::optional<T> answer, std::optional<ErrorParts> failure) {
      const std::scoped_lock lock(mutex);
      value = std::move(answer);
      error = std::move(failure);
    }
  };
  std::shared_ptr<Slot> waiting_, finished_;
  std::optional<T> value_;
  std::optional<ErrorParts> error_;
};

}  // namespace ringwright::gui
