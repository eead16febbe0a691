// The command line of ringwright-console.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ringwright::gui {

struct Options {
  std::optional<std::filesystem::path> store;       // a history file instead of the daemon
  std::optional<std::string> connect;               // ssh://host: a daemon of another node
  std::optional<std::filesystem::path> recipe;      // to open in Prepare
  int demo_runs = 0;                                // > 0: a demonstration in memory
  std::optional<std::filesystem::path> screenshot;  // render one picture and exit
  std::string view = "watch";                       // a view or a workspace
  std::string run;                                  // the one to select first: an id, the beginning of one, or a name; "": the newest
  std::string theme;                                // "" = as last time
  float scale = 0;                                  // 0 = as last time, else from the monitor
  int width = 1600, height = 900;
  bool read_only = false;
};

// Throws Error RW-GUI-004 (exit code 2) for wrong arguments. nullopt: --help or --version was printed.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace ringwright::gui
