// A real ringwrightd in a folder of its own, for tests of several processes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shared/history/store.h"
#include "shared/wire/control.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::test {

nlohmann::json small_recipe(int workers);

struct DaemonOptions {
  std::string worker = "scripted_worker";  // beside the test programs, or a whole path
  std::vector<std::string> more = {"--orphan-grace-s", "0.3", "--stop-grace-s", "0.3"};
  uint64_t file_bytes_max = 0;                     // RLIMIT_FSIZE of the daemon, 0: none
  std::string failpoint;                           // NAME:COUNT, see shared/base/failpoint.h
  std::filesystem::path runtime_directory, store;  // where they are in the folder, unless said here
};

class DaemonProcess {
 public:
  // Starts it and waits until it answers.
  DaemonProcess(const TemporaryFolder& folder, DaemonOptions options = {});
  ~DaemonProcess();  // ends it, and waits for it

  pid_t pid() const { return pid_; }
  wire::Endpoints endpoints() const { return wire::endpoints_in(runtime_directory_); }
  const std::filesystem::path& store() const { return store_; }
  nlohmann::json request(const std::string& op, nlohmann::json arguments = nlohmann::json::object()) const;
  // A run of the scripted worker; `script` as it wants it.
  std::string launch(int workers, nlohmann::json script = nlohmann::json::object(), nlohmann::json more = nlohmann::json::object()) const;
  std::string talk(int workers, uint64_t points) const;
  history::RunRecord record(const std::string& run) const;
  // Waits for the end of the run.
  history::RunRecord wait_for_end(const std::string& run, double seconds = 30) const;
  // The processes of the run that said test.started: workers and their children.
  std::vector<pid_t> wait_for_processes(const std::string& run, size_t count) const;

  void kill(int signal) const;
  // The exit status as waitpid has it.
  int wait();

 private:
  std::filesystem::path runtime_directory_, store_;
  pid_t pid_ = -1;
};

// The events of one run or of all, as they come.
class EventLog {
 public:
  explicit EventLog(const wire::Endpoints& endpoints, uint64_t after = 0);
  std::vector<wire::Event> events() const;
  size_t count() const;
  wire::EventStream::Status status() const { return stream_->status(); }
  std::mutex gate;  // held: the console is stalled

 private:
  mutable std::mutex mutex_;
  std::vector<wire::Event> events_;
  std::unique_ptr<wire::EventStream> stream_;
};

}  // namespace ringwright::test
