#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <variant>

#include "shared/base/failpoint.h"
#include "shared/history/database.h"
#include "shared/history/ownership.h"
#include "shared/history/recorder.h"
#include "shared/history/run_rows.h"
#include "shared/history/sql.h"
#include "shared/history/store.h"

namespace ringwright::history {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kQueueEventsMax = 65'536;
constexpr size_t kQueuePointsMax = 1'000'000;  // metric points in queued events; a point takes some 100 bytes here
constexpr size_t kBatchEventsMax = 8'192;
constexpr auto kTick = std::chrono::milliseconds(20);
constexpr auto kTickMax = std::chrono::milliseconds(200);
constexpr int kRestForWork = 3;  // so many times as long as a commit took, the next one is waited for: it is larger then, and cheaper for each event
constexpr int kTriesAtEndMax = 3;  // a writer that ends gives up after so many failed commits

// A change that its caller waits for. One that must not be lost is tried again like an event; its caller hears of the first failure.
struct Task {
  std::function<void(Database&, Recorder&)> change;
  bool retried = false;
  bool answered = false;
  std::promise<void> done;
  std::function<void()> settled;  // recorded, or given up as the change itself is wrong
};
using Item = std::variant<wire::Event, std::shared_ptr<Task>>;

size_t points_in(const wire::Event& event) {
  if (event.kind != wire::Kind::metric || !event.body.is_object()) return 0;
  const auto points = event.body.find("points");
  return points == event.body.end() ? 0 : points->size();
}

int64_t newest_segment(Database& database, const std::string& run) {
  SQLite::Statement& row = database.query(sql::run_key, run);
  const int64_t segment = row.executeStep() ? row.getColumn(1).getInt64() : 1;
  row.reset();
  return segment;
}

int64_t last_sign_unix_ns(Database& database, int64_t run_key) {
  SQLite::Statement& row = database.query(sql::run_last_sign, run_key);
  row.executeStep();
  const int64_t time_unix_ns = row.getColumn(0).getInt64();
  row.reset();
  return time_unix_ns;
}

}  // namespace

struct Writer::Impl {
  Impl(const std::filesystem::path& file, Hooks given_hooks, Limits limits)
      : hooks(std::move(given_hooks)),
        retry(limits.retry_ms),
        lock(prepared(file)),
        guard_of_file(file),
        database(file, Database::Access::write, limits.lock_wait_ms_max),
        recorder(made_recorder(database, limits)),
        committed_sequence(recorder.node_sequence()),
        thread([this] { work(); }) {}
  ~Impl();

  // The lock lies beside the file, so its folder has to be there first.
  static const std::filesystem::path& prepared(const std::filesystem::path& file) {
    std::error_code ignored;  // reported by the lock, which cannot be opened then
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    return file;
  }

  // What it reads first may meet a disk that fails.
  static Recorder made_recorder(Database& database, const Limits& limits) {
    try {
      return Recorder(database, limits);
    } catch (const SQLite::Exception& error) {
      throw Error(database.describe(error));
    }
  }

  void append(wire::Event event);
  void perform(std::function<void(Database&, Recorder&)> change, bool retried, std::function<void()> settled = nullptr);
  void flush();

  int64_t duration_ns(const std::string& run, RunState state, Clock::time_point now);

  enum class Work { end, batch, probe };
  void work();
  void probe();
  Work wait_for_work();
  void take_batch();
  bool commit_until_done();
  void commit_once();
  void answer_with(std::exception_ptr failure);
  static void answer(Task& waiting, const ErrorParts& failure);
  void report(const ErrorParts& failure);
  void batch_done(bool committed);

  Hooks hooks;
  std::chrono::milliseconds retry;
  WriterLock lock;
  FileGuard guard_of_file;  // before the database, so that it goes after it
  Database database;
  Recorder recorder;

  std::mutex mutex;
  std::condition_variable work_to_do, room, progress, ending;
  std::deque<Item> queue;
  size_t queued_points = 0;
  uint64_t appended = 0, finished = 0;  // items put into the queue, and done with
  bool urgent = false, stopping = false;
  std::optional<ErrorParts> failing;  // why the last commit failed: nobody is kept waiting then
  std::atomic<uint64_t> committed_sequence;
  std::atomic<uint64_t> full_count{0};

  // The writer thread's own.
  std::vector<wire::Event> batch;
  std::shared_ptr<Task> task;
  Clock::time_point last_commit{};
  Clock::duration tick = kTick;
  std::unordered_map<std::string, Clock::time_point> running_since;
  std::thread thread;
};

Writer::Impl::~Impl() {
  {
    const std::lock_guard guard(mutex);
    stopping = true;
  }
  work_to_do.notify_all();
  ending.notify_all();
  thread.join();
}

void Writer::Impl::append(wire::Event event) {
  const size_t points = points_in(event);
  std::unique_lock guard(mutex);
  const auto has_room = [&] { return queue.size() < kQueueEventsMax && (queue.empty() || queued_points + points <= kQueuePointsMax); };
  if (!has_room()) {
    ++full_count;
    room.wait(guard, has_room);
  }
  queue.emplace_back(std::move(event));
  queued_points += points;
  ++appended;
  if (queue.size() == 1 || queue.size() >= kBatchEventsMax) work_to_do.notify_one();
}

void Writer::Impl::perform(std::function<void(Database&, Recorder&)> change, bool retried, std::function<void()> settled) {
  auto item = std::make_shared<Task>();
  item->change = std::move(change);
  item->settled = std::move(settled);
  item->retried = retried;
  std::future<void> done = item->done.get_future();
  {
    const std::lock_guard guard(mutex);
    if (failing && !retried) throw Error(*failing);
    if (failing) answer(*item, *failing);
    queue.emplace_back(item);
    ++appended;
    urgent = true;
  }
  work_to_do.notify_one();
  done.get();
}

void Writer::Impl::flush() {
  std::unique_lock guard(mutex);
  const uint64_t target = appended;
  urgent = true;
  work_to_do.notify_one();
  progress.wait(guard, [&] { return finished >= target; });
}

// T33: by a clock that never steps, so never negative. -1: not over, or the beginning was not seen.
int64_t Writer::Impl::duration_ns(const std::string& run, RunState state, Clock::time_point now) {
  if (state == RunState::running) running_since.try_emplace(run, now);
  const auto since = running_since.find(run);
  if (!is_final(state) || since == running_since.end()) return -1;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now - since->second).count();
}

void Writer::Impl::work() {
  for (Work work = wait_for_work(); work != Work::end; work = wait_for_work()) {
    if (work == Work::probe) {
      probe();
      continue;
    }
    take_batch();
    batch_done(commit_until_done());
  }
}

// When nothing waits to be tried again, somebody still has to find out that the trouble is over: those who ask for a new run are refused until then.
void Writer::Impl::probe() {
  batch.clear();
  task.reset();
  try {
    commit_once();
  } catch (const SQLite::Exception& error) {
    return report(database.describe(error));
  } catch (const Error& error) {
    return report(error.parts());
  }
  if (hooks.committed) hooks.committed(batch);
}

// The first event after a pause is committed at once; under load there is a commit per tick, which is longer where commits take long.
Writer::Impl::Work Writer::Impl::wait_for_work() {
  std::unique_lock guard(mutex);
  const auto has_work = [&] { return stopping || !queue.empty(); };
  if (!failing)
    work_to_do.wait(guard, has_work);
  else if (!work_to_do.wait_for(guard, retry, has_work))
    return Work::probe;
  if (queue.empty()) return Work::end;
  work_to_do.wait_until(guard, last_commit + tick, [&] { return stopping || urgent || queue.size() >= kBatchEventsMax; });
  return Work::batch;
}

// Events up to the next task, or a task alone: a task that fails takes no event with it.
void Writer::Impl::take_batch() {
  const std::lock_guard guard(mutex);
  batch.clear();
  task.reset();
  while (!queue.empty() && batch.size() < kBatchEventsMax) {
    if (auto* next_task = std::get_if<std::shared_ptr<Task>>(&queue.front())) {
      if (!batch.empty()) break;
      task = std::move(*next_task);
      queue.pop_front();
      if (!task->answered || task->retried) break;
      task.reset();  // its caller was told that it failed, and it is not to be tried again
      ++finished;
      continue;
    }
    batch.push_back(std::move(std::get<wire::Event>(queue.front())));
    queued_points -= points_in(batch.back());
    queue.pop_front();
  }
  if (queue.empty()) urgent = false;
  room.notify_all();
}

// False when the writer ends and the commit cannot be had, or a task failed.
bool Writer::Impl::commit_until_done() {
  for (int tries_at_end = 0;;) {
    ErrorParts failure;
    try {
      commit_once();
      return true;
    } catch (const SQLite::Exception& error) {
      failure = database.describe(error);
    } catch (const Error& error) {
      failure = error.parts();
      if (task && failure.code != kFileMoved && failure.code != kFileDeleted) {  // the change itself is wrong: no use to try it again
        if (task->settled) task->settled();
        return answer_with(std::current_exception()), false;
      }
    }
    report(failure);
    if (task && !task->retried) return false;
    std::unique_lock guard(mutex);
    if (stopping && ++tries_at_end >= kTriesAtEndMax) return false;
    ending.wait_for(guard, retry, [&] { return stopping && tries_at_end == 0; });
  }
}

void Writer::Impl::commit_once() {
  last_commit = Clock::now();
  if (const std::optional<ErrorParts> displaced = guard_of_file.displaced()) throw Error(*displaced);
  try {
    database.transact([&] {
      task ? task->change(database, recorder) : recorder.store(batch);
      failpoint("history.before_commit");
    });
    failpoint("history.after_commit");
    tick = std::clamp<Clock::duration>(kRestForWork * (Clock::now() - last_commit), kTick, kTickMax);
  } catch (...) {
    recorder.forget();
    throw;
  }
  committed_sequence = recorder.node_sequence();
  {
    const std::lock_guard guard(mutex);
    failing.reset();
  }
  if (task && task->settled) task->settled();
  if (task && !task->answered) task->done.set_value();
}

void Writer::Impl::answer_with(std::exception_ptr failure) {
  if (!task->answered) task->done.set_exception(failure);
  task->answered = true;
}

void Writer::Impl::answer(Task& waiting, const ErrorParts& failure) {
  if (waiting.answered) return;
  ErrorParts parts = failure;
  if (waiting.retried) parts.action += (parts.action.empty() ? "" : "; ") + std::string("until then it is tried again every second");
  waiting.done.set_exception(std::make_exception_ptr(Error(parts)));
  waiting.answered = true;
}

// Whoever waits behind the change that failed is told too.
void Writer::Impl::report(const ErrorParts& failure) {
  {
    const std::lock_guard guard(mutex);
    failing = failure;
    if (task) answer(*task, failure);
    for (Item& item : queue)
      if (auto* waiting = std::get_if<std::shared_ptr<Task>>(&item)) answer(**waiting, failure);
  }
  if (hooks.failed) hooks.failed(failure);
}

void Writer::Impl::batch_done(bool committed) {
  if (committed && !batch.empty() && hooks.committed) hooks.committed(batch);
  {
    const std::lock_guard guard(mutex);
    finished += batch.size() + (task ? 1 : 0);
  }
  progress.notify_all();
}

Writer::Writer(const std::filesystem::path& file, Hooks hooks, Limits limits) : impl_(std::make_unique<Impl>(file, std::move(hooks), limits)) {}
Writer::~Writer() = default;

void Writer::create_run(const RunRecord& run) {
  impl_->perform([run](Database& database, Recorder&) { insert_run(database, run); }, false);
}

void Writer::set_fingerprint(const std::string& run, const nlohmann::json& fingerprint) {
  impl_->perform(
      [run, fingerprint](Database& database, Recorder&) {
        const int64_t key = run_key(database, run);
        history::set_fingerprint(database, key, newest_segment(database, run), "daemon", fingerprint);
      },
      true);
}

void Writer::set_state(const std::string& run, RunState state, const std::string& reason, int failed_rank, int64_t time_unix_ns) {
  const int64_t now = time_unix_ns > 0 ? time_unix_ns : wire::now_unix_ns();
  const Clock::time_point moment = Clock::now();
  impl_->perform(
      [=, this](Database& database, Recorder& recorder) {
        run_key(database, run);
        const int64_t duration_ns = impl_->duration_ns(run, state, moment);
        database.run(sql::run_set_state, run, std::string(to_string(state)), reason, failed_rank, state == RunState::running ? 1 : 0,
                     is_final(state) ? 1 : 0, now, duration_ns);
        if (is_final(state)) recorder.forget_run(run);
      },
      true,
      [this, run, state] {
        if (impl_->hooks.state_settled) impl_->hooks.state_settled(run, state);
      });
}

std::vector<std::string> Writer::mark_unfinished_as_lost(const std::string& reason) {
  std::vector<std::string> lost;
  impl_->perform(
      [&](Database& database, Recorder&) {
        std::vector<int64_t> keys;
        SQLite::Statement& rows = database.query(sql::run_unfinished);
        while (rows.executeStep()) lost.push_back(rows.getColumn(0).getString()), keys.push_back(rows.getColumn(1).getInt64());
        rows.reset();
        for (size_t i = 0; i < lost.size(); ++i)
          database.run(sql::run_set_state, lost[i], std::string(to_string(RunState::lost)), reason, -1, 0, 1, last_sign_unix_ns(database, keys[i]),
                       int64_t{-1});
      },
      false);
  return lost;
}

void Writer::append(wire::Event event) { impl_->append(std::move(event)); }
void Writer::flush() { impl_->flush(); }
uint64_t Writer::node_sequence() const { return impl_->committed_sequence; }
uint64_t Writer::queue_full_count() const { return impl_->full_count; }

}  // namespace ringwright::history
