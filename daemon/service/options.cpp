#include "daemon/service/options.h"

#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <system_error>
#include <vector>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/base/host.h"
#include "shared/base/paths.h"
#include "shared/base/text.h"
#include "shared/wire/control.h"

namespace ringwright::service {
namespace {

struct Key {
  const char* name;
  std::optional<double> Config::* value;
};
constexpr Key kKeys[] = {{"orphan_grace_s", &Config::orphan_grace_s}, {"stop_grace_s", &Config::stop_grace_s}};
constexpr uint64_t kConfigBytesMax = 1 << 20;
constexpr const char* kAlerts = "alerts";
constexpr const char* kSection = "daemon";  // the keys may stand below it too: daemon.orphan_grace_s

std::string place(const std::filesystem::path& file, const YAML::Mark& mark) {
  return mark.is_null() ? file.string() : file.string() + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

double read_seconds(const std::filesystem::path& file, const std::string& name, const YAML::Node& node) {
  double seconds = -1;
  if (!node.IsScalar() || !YAML::convert<double>::decode(node, seconds) || !std::isfinite(seconds) || seconds < 0 || seconds > kGraceSecondsMax)
    throw Error({"RW-DAEMON-012", "`" + name + "` has a value that is no number of seconds, or too large a one", place(file, node.Mark()),
                 "a number from 0 to " + std::to_string(static_cast<int64_t>(kGraceSecondsMax)) + " (30 days)",
                 "write for example " + name + ": 30"});
  return seconds;
}

// A plain scalar is what it looks like.
nlohmann::json to_json(const YAML::Node& node) {
  nlohmann::json json;
  if (node.IsMap()) {
    json = nlohmann::json::object();
    for (const auto& entry : node) json[entry.first.as<std::string>()] = to_json(entry.second);
  } else if (node.IsSequence()) {
    json = nlohmann::json::array();
    for (const YAML::Node& item : node) json.push_back(to_json(item));
  } else if (node.IsScalar()) {
    int64_t integer = 0;
    double number = 0;
    const bool plain = node.Tag() == "?";
    if (plain && YAML::convert<int64_t>::decode(node, integer))
      json = integer;
    else if (plain && YAML::convert<double>::decode(node, number))
      json = number;
    else
      json = node.as<std::string>();
  }
  return json;
}

alerts::Settings read_alerts(const std::filesystem::path& file, const YAML::Node& node) {
  return alerts::read_settings(to_json(node), [&](const std::string& key) { return key + " (" + place(file, node.Mark()) + ")"; });
}

void read_map(const std::filesystem::path& file, const YAML::Node& map, Config& config, bool section_allowed) {
  if (!map.IsMap())
    throw Error({"RW-DAEMON-010", "the configuration is no map of keys", place(file, map.Mark()), "lines such as orphan_grace_s: 30", ""});
  for (const auto& entry : map) {
    const auto name = entry.first.as<std::string>();
    if (section_allowed && name == kSection) {
      read_map(file, entry.second, config, false);
      continue;
    }
    if (name == kAlerts) {
      config.alerts = read_alerts(file, entry.second);
      continue;
    }
    const Key* known = nullptr;
    std::vector<std::string> names = {kAlerts};
    for (const Key& key : kKeys) {
      names.push_back(key.name);
      if (name == key.name) known = &key;
    }
    if (!known) {
      const std::string nearest = text::nearest(name, names);
      throw Error({"RW-DAEMON-011", "unknown key `" + name + "`", place(file, entry.first.Mark()), "orphan_grace_s, stop_grace_s or alerts",
                   nearest.empty() ? "remove it" : "write " + nearest});
    }
    config.*known->value = read_seconds(file, name, entry.second);
  }
}

std::filesystem::path program_beside_this_one(const char* name) { return host::program_folder() / name; }

}  // namespace

Config read_config(const std::filesystem::path& file) {
  Config config;
  if (::access(file.c_str(), F_OK) != 0) return config;
  const auto unreadable = [&](const std::string& what) {
    return Error({"RW-DAEMON-010", "the configuration " + what, file.string(), "a file that you may read, of at most 1 MiB", "correct or remove it"});
  };
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) throw unreadable("is " + kind);
  YAML::Node root;
  try {
    root = YAML::Load(files::read_all(file, kConfigBytesMax));
  } catch (const YAML::ParserException& error) {
    throw Error(
        {"RW-DAEMON-010", "the configuration is no YAML: " + error.msg, place(file, error.mark), "a map of keys", "correct it or remove the file"});
  } catch (const std::system_error& error) {
    throw unreadable("cannot be read: " + error.code().message());
  }
  if (!root.IsNull()) read_map(file, root, config, true);
  return config;
}

void complete(Options& options, const Config& config) {
  if (options.orphan_grace_s < 0) options.orphan_grace_s = config.orphan_grace_s.value_or(30);
  if (options.stop_grace_s < 0) options.stop_grace_s = config.stop_grace_s.value_or(10);
  if (config.alerts) options.alerts = *config.alerts;
  if (options.store.empty()) options.store = paths::default_store();
  options.store = std::filesystem::absolute(options.store);
  if (options.worker_program.empty()) options.worker_program = program_beside_this_one("ringwright-worker");
  options.worker_program = std::filesystem::absolute(options.worker_program);
  const std::filesystem::path sockets =
      options.runtime_directory.empty() ? paths::default_runtime_directory() : std::filesystem::absolute(options.runtime_directory);
  wire::endpoints_in(sockets);  // a path that is too long is an error before anything is made
  options.runtime_directory = paths::private_directory(sockets);
  std::error_code failure;
  std::filesystem::create_directories(options.store.parent_path() / "runs", failure);
  if (failure)
    throw Error({"RW-DAEMON-014", "the folder of the history cannot be made: " + failure.message(), options.store.parent_path().string(),
                 "a folder that you may write", "give another with --store FILE, or set XDG_STATE_HOME", ExitCode::store});
}

void require_loopback(const std::string& endpoint) {
  for (const char* prefix : {"tcp://127.", "tcp://localhost:", "tcp://[::1]:"})
    if (endpoint.starts_with(prefix)) return;
  throw Error({"RW-DAEMON-013", "this endpoint could be reached from other machines, and nothing would ask who they are", endpoint,
               "tcp://127.0.0.1:PORT, or no --control at all", "reach the node with ssh: ssh -L PORT:127.0.0.1:PORT NODE", ExitCode::refused});
}

}  // namespace ringwright::service
