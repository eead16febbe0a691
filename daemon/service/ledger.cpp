#include "daemon/service/ledger.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "shared/history/ownership.h"

namespace ringwright::service {
namespace {

constexpr size_t kInFlightEventsMax = 16'384;
constexpr size_t kInFlightPointsMax = 400'000;
constexpr size_t kInFlightBytesMax = size_t{32} << 20;

}  // namespace

Ledger::Ledger(const std::filesystem::path& store) : store_(store), fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  history::Writer::Hooks hooks;
  hooks.committed = [this](std::vector<wire::Event>& events) { committed(events); };
  hooks.failed = [this](const ErrorParts& error) { failed(error); };
  hooks.state_settled = [this](const std::string& run, history::RunState state) { settled(run, state); };
  writer_ = std::make_unique<history::Writer>(store_, std::move(hooks));
}

Ledger::~Ledger() {
  reader_.reset();  // before the writer lets go of the file and with it of all of this process's locks on it
  writer_.reset();
  name_what_is_lost();
  ::close(fd_);
}

void Ledger::name_what_is_lost() const {
  const size_t lost = in_flight_.events - std::min(in_flight_.events, committed_.size());
  for (const auto& [run, unrecorded] : unrecorded_)
    spdlog::error("run {}: lost: its state {}{}{} could not be recorded", run, history::to_string(unrecorded.state),
                  unrecorded.reason.empty() ? "" : ": ", unrecorded.reason);
  if (lost > 0) spdlog::error("lost: {} events could not be recorded", lost);
}

// A rough weight is enough: what a body takes in memory is dominated by its texts and points.
Ledger::Load Ledger::load_of(const wire::Event& event) {
  Load load{1, 64 + event.body_frame.size(), 0};
  if (!event.body.is_object()) return load;
  if (const auto points = event.body.find("points"); points != event.body.end()) load.points = points->size();
  for (const auto& [name, value] : event.body.items())
    load.bytes += name.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 16);
  return load;
}

bool Ledger::has_room() const {
  const bool room = in_flight_.events < kInFlightEventsMax && in_flight_.points < kInFlightPointsMax && in_flight_.bytes < kInFlightBytesMax;
  if (!room && !was_full_) ++full_count_;
  was_full_ = !room;
  return room;
}

void Ledger::append(wire::Event event) {
  const Load load = load_of(event);
  in_flight_.events += load.events, in_flight_.points += load.points, in_flight_.bytes += load.bytes;
  writer_->append(std::move(event));
}

void Ledger::append_own(const std::string& run, nlohmann::json body, int64_t time_unix_ns) {
  wire::Event event;
  event.run = run;
  event.time_unix_ns = time_unix_ns > 0 ? time_unix_ns : wire::now_unix_ns();
  event.body = std::move(body);
  append(std::move(event));
}

void Ledger::committed(std::vector<wire::Event>& events) {
  const std::lock_guard lock(mutex_);
  if (committed_.empty())
    committed_.swap(events);
  else
    committed_.insert(committed_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  if (failing_) spdlog::info("the history takes events again");
  failing_.reset();
  ::eventfd_write(fd_, 1);
}

void Ledger::failed(const ErrorParts& error) {
  const std::lock_guard lock(mutex_);
  ++commit_failures_;
  if (!failing_ || failing_->code != error.code) spdlog::error("{}", describe(error));
  failing_ = error;
}

std::vector<wire::Event> Ledger::take_committed() {
  eventfd_t ignored;
  ::eventfd_read(fd_, &ignored);
  std::vector<wire::Event> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(committed_);
  }
  for (const wire::Event& event : events) {
    const Load load = load_of(event);
    in_flight_.events -= load.events, in_flight_.points -= load.points, in_flight_.bytes -= load.bytes;
  }
  return events;
}

void Ledger::create_run(const history::RunRecord& run) {
  if (const std::optional<ErrorParts> error = failing()) throw Error(*error);
  writer_->create_run(run);
}

void Ledger::set_state(const std::string& run, history::RunState state, const std::string& reason, int failed_rank, int64_t time_unix_ns) {
  {
    const std::lock_guard lock(mutex_);
    unrecorded_[run] = {state, reason, failed_rank, time_unix_ns};
  }
  try {
    writer_->set_state(run, state, reason, failed_rank, time_unix_ns);
  } catch (const Error& error) {
    spdlog::error("run {}: its state {} is not recorded yet: {}", run, history::to_string(state), error.what());
  }
}

void Ledger::settled(const std::string& run, history::RunState state) {
  const std::lock_guard lock(mutex_);
  if (const auto found = unrecorded_.find(run); found != unrecorded_.end() && found->second.state == state) unrecorded_.erase(found);
}

std::map<std::string, Ledger::UnrecordedState> Ledger::unrecorded() const {
  const std::lock_guard lock(mutex_);
  return unrecorded_;
}

void Ledger::set_fingerprint(const std::string& run, const nlohmann::json& fingerprint) {
  try {
    writer_->set_fingerprint(run, fingerprint);
  } catch (const Error& error) {
    spdlog::error("run {}: its fingerprint is not recorded yet: {}", run, error.what());
  }
}

std::vector<std::string> Ledger::mark_unfinished_as_lost(const std::string& reason) { return writer_->mark_unfinished_as_lost(reason); }

const history::Reader& Ledger::reader() {
  if (!reader_) reader_ = std::make_unique<history::Reader>(store_);
  return *reader_;
}

std::optional<ErrorParts> Ledger::failing() const {
  const std::lock_guard lock(mutex_);
  return failing_;
}

std::optional<ErrorParts> Ledger::broken() const {
  std::optional<ErrorParts> error = failing();
  if (error && !history::is_permanent(*error)) error.reset();
  return error;
}

nlohmann::json Ledger::counters() const {
  const std::lock_guard lock(mutex_);
  return {{"ledger_full", full_count_.load()},
          {"ledger_in_flight", in_flight_.events},
          {"commit_failures", commit_failures_},
          {"writer_queue_full", writer_->queue_full_count()}};
}

}  // namespace ringwright::service
