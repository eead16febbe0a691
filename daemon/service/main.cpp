// ringwrightd: the daemon of one node. Never links LibTorch.
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "daemon/service/background.h"
#include "daemon/service/device_watch.h"
#include "daemon/service/instance_lock.h"
#include "daemon/service/options.h"
#include "daemon/service/server.h"
#include "shared/base/error.h"
#include "shared/base/number_range.h"
#include "shared/base/paths.h"
#include "shared/base/resources.h"

namespace {

using namespace ringwright;
using namespace ringwright::service;

constexpr size_t kLogBytesMax = 4 << 20;
constexpr size_t kLogFilesMax = 2;
constexpr uint64_t kOpenFilesMin = 128;  // the daemon's own, and a few workers with two pipes and a connection each

void declare_options(CLI::App& app, Options& options) {
  options.orphan_grace_s = options.stop_grace_s = -1;  // not given
  app.set_version_flag("--version", std::string("ringwrightd ") + RINGWRIGHT_VERSION);
  app.add_flag("--foreground", options.foreground, "Stay in the terminal and log to standard error (for a service manager too)");
  app.add_option("--store", options.store, "The history file [$XDG_STATE_HOME/ringwright/history.db]; the runs' folders lie beside it");
  app.add_option("--runtime-dir", options.runtime_directory, "Folder of the sockets, yours alone [$XDG_RUNTIME_DIR/ringwright]");
  app.add_option("--worker", options.worker_program, "The worker program [ringwright-worker beside this program]");
  app.add_option("--orphan-grace-s", options.orphan_grace_s, "Seconds that workers outlive a dead daemon; 0: they end at once [30]")
      ->check(number_between(0, kGraceSecondsMax));
  app.add_option("--stop-grace-s", options.stop_grace_s, "Seconds from asking to SIGTERM, and from there to SIGKILL [10]")
      ->check(number_between(0, kGraceSecondsMax));
  app.add_option("--control", options.extra_control, "A further control endpoint: tcp://127.0.0.1:PORT");
  app.add_option("--nvml", options.nvml_library, "The library that devices are read with [libnvidia-ml.so.1, where there is one]")
      ->envname("RINGWRIGHT_NVML");
  app.add_flag("--exit-when-idle", options.exit_when_idle, "End after the last run");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.footer(
      "$XDG_CONFIG_HOME/ringwright/daemon.yaml may set orphan_grace_s and stop_grace_s; the command line goes first.\n"
      "Its section alerts says what is worth an alert and which command hears of it: see ringwright alert --help.\n"
      "SIGTERM stops the runs and then the daemon; a second one kills them.");
}

void set_up_log(const Options& options) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  const std::filesystem::path file = options.store.parent_path() / "ringwrightd.log";
  try {
    if (options.foreground)
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kLogBytesMax, kLogFilesMax);
  } catch (const spdlog::spdlog_ex& error) {
    throw Error({"RW-STORE-001", std::string("nothing can be written beside the history file: ") + error.what(), file.string(),
                 "a folder that you may write in", "look at the permissions, or name another file with --store FILE", ExitCode::store});
  }
  auto logger = std::make_shared<spdlog::logger>("ringwrightd", std::move(sink));
  logger->set_level(spdlog::level::from_str(options.log_level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void serve(Options& options, Background* background) {
  complete(options, read_config(paths::config_directory() / "daemon.yaml"));
  if (!options.extra_control.empty()) require_loopback(options.extra_control);
  InstanceLock lock(options.runtime_directory);
  set_up_log(options);
  Server::block_signals();
  Server server(options, lock);
  spdlog::info("ready: {} (history {})", options.runtime_directory.string(), options.store.string());
  if (background) background->ready();
  notify_service_manager("READY=1");
  server.run();
  spdlog::info("ended");
}

// A driver that never returns holds the loader's lock, for which the usual way out would wait.
[[noreturn]] void end_at_once(int exit_code) {
  spdlog::shutdown();
  std::fflush(nullptr);
  ::_exit(exit_code);
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Runs and supervises training workers on this node, and records what they report.", "ringwrightd");
  Options options;
  declare_options(app, options);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "%s\n", describe({"RW-DAEMON-015", error.what(), "command line", "", "see ringwrightd --help", ExitCode::usage}).c_str());
    return static_cast<int>(ExitCode::usage);
  }
  std::optional<Background> background;
  ErrorParts parts;
  try {
    resources::allow_open_files(kOpenFilesMin);
    // Relative paths are those of the caller; a background process works in /.
    if (!options.store.empty()) options.store = std::filesystem::absolute(options.store);
    if (!options.runtime_directory.empty()) options.runtime_directory = std::filesystem::absolute(options.runtime_directory);
    if (!options.worker_program.empty()) options.worker_program = std::filesystem::absolute(options.worker_program);
    if (options.nvml_library.find('/') != std::string::npos) options.nvml_library = std::filesystem::absolute(options.nvml_library).string();
    if (!options.foreground) background.emplace();
    serve(options, background ? &*background : nullptr);
    if (DeviceWatch::driver_hangs()) end_at_once(0);
    return 0;
  } catch (const Error& error) {
    parts = error.parts();
  } catch (const zmq::error_t& error) {
    parts = {"RW-DAEMON-005",
             std::string("a socket cannot be opened: ") + error.what(),
             options.runtime_directory.string(),
             "a folder that you may write",
             "",
             ExitCode::run_failed};
  } catch (const std::exception& error) {
    parts = {"RW-DAEMON-006", std::string("the daemon ended: ") + error.what(), "", "", "", ExitCode::run_failed};
  }
  if (background)
    background->failed(parts);
  else
    std::fprintf(stderr, "%s\n", describe(parts).c_str());
  if (DeviceWatch::driver_hangs()) end_at_once(static_cast<int>(parts.exit_code));
  return static_cast<int>(parts.exit_code);
}
