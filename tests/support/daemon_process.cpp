#include "tests/support/daemon_process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "shared/base/error.h"

namespace ringwright::test {

// Just enough of a recipe to be admitted.
nlohmann::json small_recipe(int workers) {
  return {{"sft", {{"max_num_steps", 1}}},
          {"policy",
           {{"model_name", "model"},
            {"tokenizer", {{"name", "model"}}},
            {"train_global_batch_size", 1},
            {"train_micro_batch_size", 1},
            {"max_total_sequence_length", 128},
            {"precision", "float32"},
            {"dtensor_cfg", {{"enabled", true}, {"tensor_parallel_size", 1}, {"context_parallel_size", workers}}}}},
          {"data", {{"train", {{"data_path", "text.txt"}}}}},
          {"cluster", {{"num_nodes", 1}, {"gpus_per_node", workers}}}};
}

DaemonProcess::DaemonProcess(const TemporaryFolder& folder, DaemonOptions options)
    : runtime_directory_(options.runtime_directory.empty() ? folder / "r" : options.runtime_directory),
      store_(options.store.empty() ? folder / "s" / "history.db" : options.store) {
  std::vector<std::string> words = {RINGWRIGHT_BINARY_DIR "/ringwrightd",
                                    "--foreground",
                                    "--log-level",
                                    std::getenv("RINGWRIGHT_TEST_LOG") ? "info" : "off",
                                    "--store",
                                    store().string(),
                                    "--runtime-dir",
                                    runtime_directory_.string(),
                                    "--worker",
                                    (std::filesystem::path(RINGWRIGHT_BINARY_DIR "/tests") / options.worker).string()};
  words.insert(words.end(), options.more.begin(), options.more.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string config = "XDG_CONFIG_HOME=" + (folder / "c").string();
  const std::string failpoint = "RINGWRIGHT_FAILPOINT=" + options.failpoint;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::putenv(const_cast<char*>(config.c_str()));
    ::putenv(const_cast<char*>(failpoint.c_str()));
    if (options.file_bytes_max > 0) {
      const rlimit limit{options.file_bytes_max, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  if (!eventually([&] {
        if (::waitpid(pid_, nullptr, WNOHANG) == pid_) throw std::runtime_error("ringwrightd ended at once");
        try {
          return request("hello").contains("pid");
        } catch (const Error&) {
          return false;
        }
      }))
    throw std::runtime_error("ringwrightd does not answer");
}

DaemonProcess::~DaemonProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  if (eventually([&] { return ::waitpid(pid_, nullptr, WNOHANG) != 0; }, 10)) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

nlohmann::json DaemonProcess::request(const std::string& op, nlohmann::json arguments) const {
  return wire::ControlClient(endpoints(), std::chrono::seconds(20)).request(op, std::move(arguments));
}

std::string DaemonProcess::launch(int workers, nlohmann::json script, nlohmann::json more) const {
  more["name"] = "scripted";
  if (!more.contains("recipe")) more["recipe"] = small_recipe(workers);
  more["recipe"]["script"] = std::move(script);
  more["world_size"] = workers;
  more["mesh"] = {{"cp", workers}};
  return request("run.launch", std::move(more)).at("run");
}

std::string DaemonProcess::talk(int workers, uint64_t points) const {
  return request("run.launch", {{"talk", {{"workers", workers}, {"points", points}}}}).at("run");
}

history::RunRecord DaemonProcess::record(const std::string& run) const { return history::Reader(store()).run(run); }

history::RunRecord DaemonProcess::wait_for_end(const std::string& run, double seconds) const {
  EXPECT_TRUE(eventually([&] { return history::is_final(record(run).state); }, seconds)) << "the run does not end";
  return record(run);
}

std::vector<pid_t> DaemonProcess::wait_for_processes(const std::string& run, size_t count) const {
  std::vector<pid_t> pids;
  const auto collect = [&] {
    pids.clear();
    for (const wire::Event& event : history::Reader(store()).run_events(run, 1000)) {
      if (event.body.value("name", "") != "test.started") continue;
      pids.push_back(event.body["pid"].get<pid_t>());
      for (const char* below : {"child", "stray"})
        if (event.body[below] != 0) pids.push_back(event.body[below].get<pid_t>());
    }
    return pids.size() >= count;
  };
  EXPECT_TRUE(eventually(collect)) << pids.size() << " of " << count << " processes have started";
  return pids;
}

void DaemonProcess::kill(int signal) const { ::kill(pid_, signal); }

int DaemonProcess::wait() {
  int status = -1;
  EXPECT_TRUE(eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) << "ringwrightd does not end";
  pid_ = -1;
  return status;
}

EventLog::EventLog(const wire::Endpoints& endpoints, uint64_t after) {
  stream_ = std::make_unique<wire::EventStream>(endpoints, after, [this](const wire::Event& event) {
    const std::lock_guard hold(gate);
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  });
}

std::vector<wire::Event> EventLog::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

size_t EventLog::count() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

}  // namespace ringwright::test
