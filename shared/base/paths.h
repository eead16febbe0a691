// Where Ringwright keeps things, by the XDG base directory rules (a variable with a relative path counts as unset). Nothing here creates a file
// except runtime_directory() and private_directory().
#pragma once

#include <filesystem>
#include <string>

namespace ringwright::paths {

// $XDG_STATE_HOME/ringwright, else ~/.local/state/ringwright. Holds history.db and runs/.
std::filesystem::path state_directory();
// $XDG_STATE_HOME/ringwright/history.db.
std::filesystem::path default_store();
// $XDG_CONFIG_HOME/ringwright, else ~/.config/ringwright.
std::filesystem::path config_directory();
// $RINGWRIGHT_CACHE, else $XDG_CACHE_HOME/ringwright, else ~/.cache/ringwright.
std::filesystem::path cache_directory();
// $XDG_RUNTIME_DIR/ringwright, else /tmp/ringwright-<uid>.
std::filesystem::path default_runtime_directory();
// The same, made with mode 0700 if absent. Throws Error RW-PATH-001 when it
// belongs to another user or is open to others.
std::filesystem::path runtime_directory();
// Makes `directory` with mode 0700 if it is absent, and returns it. Throws Error RW-PATH-001 as above.
std::filesystem::path private_directory(const std::filesystem::path& directory);
// "ipc://<path>"; throws Error RW-PATH-002 when the path is longer than a UNIX socket address holds (107 bytes).
std::string ipc_endpoint(const std::filesystem::path& socket);

}  // namespace ringwright::paths
