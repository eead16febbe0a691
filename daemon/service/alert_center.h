// Alerts of all runs: found by shared/alerts, recorded in the run's own history, told to the command of daemon.yaml.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "daemon/service/alert_hook.h"
#include "daemon/service/disk_watch.h"
#include "daemon/service/ledger.h"
#include "shared/alerts/rules.h"
#include "shared/alerts/watch.h"

namespace ringwright::service {

class AlertCenter {
 public:
  using Clock = std::chrono::steady_clock;

  // `state_directory`: on whose disk runs write, but for checkpoints that a recipe wants elsewhere.
  AlertCenter(const alerts::Settings& settings, Ledger& ledger, std::filesystem::path state_directory);

  // A run that begins, with what its recipe asks for on top of the daemon's rules. Throws Error RW-ALERT-001, RW-ALERT-002.
  static std::vector<alerts::Rule> rules_of(const nlohmann::json& recipe);
  void watch(const history::RunRecord& run);
  // An event that has been committed.
  void note(const wire::Event& event);
  void tick();
  // Calls the command with a made-up alert; the number to ask for. Throws Error RW-ALERT-003 (exit code 2) where there is no command.
  uint64_t test();
  // {done: bool, good, what, seconds}. Throws Error RW-ALERT-005 for a number that was not given, or is forgotten.
  nlohmann::json test_result(uint64_t id) const;

  bool busy() const { return hook_.busy(); }
  bool has_process(pid_t pid) const { return hook_.has_process(pid); }
  nlohmann::json counters() const;

 private:
  struct Watched {
    std::string name, algorithm;
    std::filesystem::path checkpoint_directory;  // an absolute one of the recipe's; else empty
    alerts::RunWatch watch;
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // run, kind, topic
  struct Known {
    Clock::time_point recorded, told;
    uint64_t unrecorded = 0;  // times since it was recorded
  };

  void raise(const std::string& run, const Watched& watched, const alerts::Alert& alert, Clock::time_point now);
  void ask_for_disks();
  void judge_disks(const DiskWatch::Rooms& rooms, Clock::time_point now);
  void judge_disk(const std::string& run, const Watched& watched, const std::filesystem::path& place, double free_bytes, Clock::time_point now);
  void take_results(Clock::time_point now);
  void forget(const std::string& run);

  const alerts::Settings& settings_;
  Ledger& ledger_;
  std::filesystem::path state_directory_;
  AlertHook hook_;
  DiskWatch disks_;
  std::map<std::string, Watched> runs_;
  std::map<Key, Known> known_;
  std::map<uint64_t, nlohmann::json> tests_;
  Clock::time_point second_at_{}, disk_at_{};
  uint64_t raised_ = 0, command_failures_ = 0;
};

}  // namespace ringwright::service
