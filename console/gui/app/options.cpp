#include "console/gui/app/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "console/gui/data/ssh_place.h"
#include "shared/base/error.h"
#include "shared/base/number_range.h"

namespace ringwright::gui {
namespace {

constexpr int kSizeMin = 320, kSizeMax = 8192, kDemoRunsMax = 10'000;

void read_size(const std::string& size, Options& options) {
  char cross = 0, rest = 0;
  std::istringstream stream(size);
  if (!(stream >> options.width >> cross >> options.height) || cross != 'x' || stream >> rest || options.width < kSizeMin ||
      options.height < kSizeMin || options.width > kSizeMax || options.height > kSizeMax) {
    throw Error({"RW-GUI-004", "'" + size + "' is no picture size", "--size", "WIDTHxHEIGHT, each 320 to 8192", "--size 1600x900", ExitCode::usage});
  }
}

// None of the options means anything without a value; one that is left out is not the same.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty())
        throw Error({"RW-GUI-004", option->get_name() + " is given without a value", "command line", "a value", "leave it out, or give it one",
                     ExitCode::usage});
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  std::string file, store, connect, recipe, screenshot, size = "1600x900";
  CLI::App app{
      "Ringwright's window: watch runs live, find them again, see how a layout shards a sequence.\n"
      "Without FILE it connects to the daemon of this user, and shows the history file while none runs.",
      "ringwright-console"};
  app.set_version_flag("--version", "ringwright-console " RINGWRIGHT_VERSION);
  app.add_option("FILE", file, "History file to open read-only, or a recipe (.yaml) to edit");
  app.add_option("--store", store, "The same as FILE");
  app.add_option("--connect", connect,
                 "Show the daemon of another node: ssh://[user@]host[:port][/folder of its sockets]; ssh has to log in without a question");
  app.add_option("--recipe", recipe, "Recipe to open in the Prepare workspace");
  app.add_option("--demo", options.demo_runs, "Show N synthetic runs; needs no daemon and no file")->check(CLI::Range(1, kDemoRunsMax));
  app.add_flag("--read-only", options.read_only, "Take away what changes runs");
  app.add_option("--theme", options.theme, "dark or light")->check(CLI::IsMember({"dark", "light"}));
  app.add_option("--scale", options.scale, "Size of everything, 0.75 to 3 (1 = 100 %)")->check(number_between(0.75, 3));
  app.add_option("--view", options.view,
                 "What to show first: a view (runs, metrics, launch, guards, ...) or a workspace (prepare, watch, compare, investigate)")
      ->capture_default_str();
  app.add_option("--run", options.run, "Run to show first: its id, the beginning of one, or its name (default: the newest)");
  app.add_option("--screenshot", screenshot, "Write one picture (PNG) without showing a window, and exit");
  app.add_option("--size", size, "Width and height in pixels")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    app.exit(done, std::cout, std::cerr);
    return std::nullopt;
  } catch (const CLI::ParseError& wrong) {
    throw Error({"RW-GUI-004", wrong.what(), "command line", "", "ringwright-console --help lists the options", ExitCode::usage});
  }
  refuse_empty_values(app);
  read_size(size, options);
  const std::filesystem::path given(file);
  if (given.extension() == ".yaml" || given.extension() == ".yml") {
    recipe = recipe.empty() ? file : recipe;
  } else if (!file.empty()) {
    options.store = file;
  }
  if (!recipe.empty()) options.recipe = recipe;
  if (options.recipe && app.count("--view") == 0) options.view = "prepare";
  if (!store.empty()) options.store = store;
  if (!screenshot.empty()) options.screenshot = screenshot;
  if (!connect.empty()) {
    ssh_place(connect);  // a wrong address is refused before there is a window
    options.connect = connect;
  }
  if (options.store.has_value() + options.connect.has_value() + (options.demo_runs > 0) > 1)
    throw Error({"RW-GUI-004", "more than one of --demo, --connect and a history file were given", "command line", "one of them", "leave one out",
                 ExitCode::usage});
  return options;
}

}  // namespace ringwright::gui
