#include "daemon/service/alert_center.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "shared/base/error.h"
#include "shared/base/host.h"
#include "shared/base/text.h"

namespace ringwright::service {
namespace {

constexpr auto kRecordAgain = std::chrono::seconds(60);  // of trouble that goes on
constexpr auto kDiskEvery = std::chrono::seconds(10);
constexpr size_t kTestsKept = 100;
constexpr size_t kKnownMax = 10'000;

nlohmann::json to_json(const alerts::Alert& alert) {
  return {{"kind", alert.kind}, {"topic", alert.topic}, {"text", alert.text}, {"detail", alert.detail}, {"time_unix_ns", wire::now_unix_ns()}};
}

nlohmann::json input_for(const alerts::Alert& alert, nlohmann::json run) {
  return {{"alert", to_json(alert)}, {"run", std::move(run)}, {"node", host::node_name()}, {"ringwright", RINGWRIGHT_VERSION}};
}

// Empty where checkpoints lie with the run, or there are none.
std::filesystem::path checkpoint_directory_of(const nlohmann::json& recipe) {
  static const nlohmann::json::json_pointer kEnabled("/checkpointing/enabled"), kDirectory("/checkpointing/checkpoint_dir");
  if (!recipe.contains(kEnabled) || recipe.at(kEnabled) != true || !recipe.contains(kDirectory) || !recipe.at(kDirectory).is_string()) return {};
  const std::filesystem::path directory = recipe.at(kDirectory).get<std::string>();
  return directory.is_absolute() ? directory : std::filesystem::path();
}

}  // namespace

AlertCenter::AlertCenter(const alerts::Settings& settings, Ledger& ledger, std::filesystem::path state_directory)
    : settings_(settings), ledger_(ledger), state_directory_(std::move(state_directory)), hook_(settings.command, settings.command_time_limit_s) {}

std::vector<alerts::Rule> AlertCenter::rules_of(const nlohmann::json& recipe) {
  const nlohmann::json::json_pointer place("/ringwright/alerts");
  if (!recipe.contains(place) || recipe.at(place).is_null()) return {};
  return alerts::read_rules(recipe.at(place), "ringwright.alerts", [](const std::string& key) { return key; });
}

void AlertCenter::watch(const history::RunRecord& run) {
  std::vector<alerts::Rule> rules = settings_.rules;
  const std::vector<alerts::Rule> own = rules_of(run.recipe);
  rules.insert(rules.end(), own.begin(), own.end());
  forget(run.id);
  disk_at_ = {};
  runs_.emplace(run.id, Watched{run.name, run.algorithm, checkpoint_directory_of(run.recipe), alerts::RunWatch(std::move(rules), run.world_size)});
}

void AlertCenter::note(const wire::Event& event) {
  const auto found = runs_.find(event.run);
  if (found == runs_.end()) return;
  const auto now = Clock::now();
  for (const alerts::Alert& alert : found->second.watch.note(event, now)) raise(event.run, found->second, alert, now);
  const bool over = event.kind == wire::Kind::event && event.rank < 0 && event.body.value("name", "") == "run.state" &&
                    history::is_final(history::run_state_from_string(event.body.value("state", "")));
  if (over) forget(event.run);
}

void AlertCenter::forget(const std::string& run) {
  runs_.erase(run);
  std::erase_if(known_, [&](const auto& entry) { return std::get<0>(entry.first) == run; });
}

// Trouble that goes on is recorded at first and then once a minute, with how often it was found; the command hears of it as often as it is set to.
void AlertCenter::raise(const std::string& run, const Watched& watched, const alerts::Alert& alert, Clock::time_point now) {
  if (known_.size() > kKnownMax) known_.clear();
  const auto [entry, fresh] = known_.try_emplace({run, alert.kind, alert.topic}, Known{now, now, 0});
  Known& known = entry->second;
  ++known.unrecorded;
  if (fresh || now - known.recorded >= kRecordAgain) {
    known.recorded = now;
    nlohmann::json body = alert.detail;
    body.update(
        {{"name", "alert"}, {"kind", alert.kind}, {"topic", alert.topic}, {"text", alert.text}, {"times", std::exchange(known.unrecorded, 0)}});
    ledger_.append_own(run, std::move(body));
    spdlog::warn("run {}: alert {}: {}", run, alert.kind, alert.text);
  }
  if (!fresh && now - known.told < std::chrono::duration<double>(settings_.repeat_after_s)) return;
  known.told = now;
  ++raised_;
  if (hook_.is_set()) hook_.call(run, input_for(alert, {{"id", run}, {"name", watched.name}, {"algorithm", watched.algorithm}}));
}

void AlertCenter::tick() {
  const auto now = Clock::now();
  take_results(now);
  if (now < second_at_) return;
  second_at_ = now + std::chrono::seconds(1);
  for (const auto& [run, watched] : runs_)
    for (const alerts::Alert& alert : watched.watch.tick(now)) raise(run, watched, alert, now);
  if (const auto rooms = disks_.take()) judge_disks(*rooms, now);
  if (runs_.empty() || now < disk_at_) return;
  disk_at_ = now + kDiskEvery;
  ask_for_disks();
}

void AlertCenter::ask_for_disks() {
  std::vector<std::filesystem::path> places = {state_directory_};
  for (const auto& [run, watched] : runs_)
    if (!watched.checkpoint_directory.empty()) places.push_back(watched.checkpoint_directory);
  disks_.ask(std::move(places));
}

// A disk that holds both is told of once.
void AlertCenter::judge_disks(const DiskWatch::Rooms& rooms, Clock::time_point now) {
  const auto own = rooms.find(state_directory_);
  for (const auto& [run, watched] : runs_) {
    if (own != rooms.end()) judge_disk(run, watched, state_directory_, own->second.free_bytes, now);
    const auto other = rooms.find(watched.checkpoint_directory);
    if (other == rooms.end() || (own != rooms.end() && own->second.device == other->second.device)) continue;
    judge_disk(run, watched, watched.checkpoint_directory, other->second.free_bytes, now);
  }
}

void AlertCenter::judge_disk(const std::string& run, const Watched& watched, const std::filesystem::path& place, double free_bytes,
                             Clock::time_point now) {
  for (const alerts::Rule& rule : watched.watch.rules()) {
    if (rule.kind != alerts::Kind::disk || free_bytes >= rule.free_below_bytes) continue;
    const std::string text =
        fmt::format("{} are free where {} are kept, less than {}", text::format_bytes(static_cast<uint64_t>(free_bytes)),
                    place == state_directory_ ? "runs" : "its checkpoints", text::format_bytes(static_cast<uint64_t>(rule.free_below_bytes)));
    raise(run, watched, {"disk", place.string(), text, {{"free_bytes", free_bytes}, {"free_below_bytes", rule.free_below_bytes}}}, now);
  }
}

// What went wrong stands in the run's history, and in the log.
void AlertCenter::take_results(Clock::time_point now) {
  for (const AlertHook::Result& result : hook_.tick(now)) {
    if (const auto test = tests_.find(result.id); test != tests_.end()) {
      test->second = {{"done", true}, {"good", result.good}, {"what", result.what}, {"seconds", result.seconds}};
      continue;
    }
    if (result.good) continue;
    ++command_failures_;
    spdlog::warn("run {}: {}", result.run, result.what);
    ledger_.append_own(result.run, {{"name", "alert.command_failed"}, {"what", result.what}, {"seconds", result.seconds}});
  }
}

uint64_t AlertCenter::test() {
  if (!hook_.is_set())
    throw Error({"RW-ALERT-003", "no command hears of alerts", "daemon.yaml", "alerts: {command: ...}", "add it there, and start the daemon again"});
  const alerts::Alert alert{"test", "", "This is a test: nothing is wrong.", nlohmann::json::object()};
  const uint64_t id = hook_.call("", input_for(alert, nullptr));
  if (tests_.size() >= kTestsKept) tests_.erase(tests_.begin());
  tests_[id] = {{"done", false}};
  return id;
}

nlohmann::json AlertCenter::test_result(uint64_t id) const {
  const auto found = tests_.find(id);
  if (found == tests_.end()) throw Error({"RW-ALERT-005", "there is no test " + std::to_string(id), "", "a number that alert.test gave", ""});
  return found->second;
}

nlohmann::json AlertCenter::counters() const { return {{"alerts_raised", raised_}, {"alert_command_failures", command_failures_}}; }

}  // namespace ringwright::service
