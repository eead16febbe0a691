#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/exchange/run_archive.h"
#include "shared/exchange/tensorboard_files.h"
#include "shared/exchange/text_export.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::string run, format, output;
};

Error cannot_write(const std::string& file) {
  return Error({"RW-CLI-011", "the export cannot be written: " + std::string(std::strerror(errno)), file, "a place with room where you may write",
                "name another file with -o FILE", ExitCode::usage});
}

struct Format {
  const char* name;
  const char* ending;  // of a file's name
  void (*write)(const history::Reader&, const history::RunRecord&, const exchange::Write&);
  bool binary = false;
};
constexpr Format kFormats[] = {{"csv", ".csv", exchange::export_csv},
                               {"json", ".json", exchange::export_json},
                               {"jsonl", ".jsonl", exchange::export_jsonl},
                               {"archive", ".tar.zst", exchange::export_archive, true}};
constexpr const char* kTensorboard = "tensorboard";

const Format& format_named(const std::string& name) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& format) { return name == format.name; });
}

void write_in_format(const Format& format, const history::Reader& reader, const history::RunRecord& run, std::FILE* stream,
                     const std::string& place) {
  const exchange::Write write = [&](const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) throw cannot_write(place);
  };
  format.write(reader, run, write);
  if (std::fflush(stream) != 0) throw cannot_write(place);
}

// A device or a pipe is written as it is: renaming would put a file in its place.
void write_to_device(const Format& format, const Options& options, const history::Reader& reader, const history::RunRecord& run) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(options.output.c_str(), "w"), &std::fclose);
  if (!stream) throw cannot_write(options.output);
  write_in_format(format, reader, run, stream.get(), options.output);
}

// Beside the target first, so that a failed export leaves what was there. A link stays one.
void write_to_file(const Format& format, const Options& options, const history::Reader& reader, const history::RunRecord& run) {
  std::error_code failure;
  const std::filesystem::file_status there = std::filesystem::status(options.output, failure);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) return write_to_device(format, options, reader, run);
  const std::string target = std::filesystem::exists(there) ? std::filesystem::canonical(options.output, failure).string() : options.output;
  const std::string part = target + ".part";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(part.c_str(), "w"), &std::fclose);
  if (!stream) throw cannot_write(options.output);
  try {
    write_in_format(format, reader, run, stream.get(), options.output);
    if (std::fclose(stream.release()) != 0 || std::rename(part.c_str(), target.c_str()) != 0) throw cannot_write(options.output);
  } catch (const Error&) {
    std::remove(part.c_str());
    throw;
  }
}

// On stderr: stdout is for what was asked for.
void tell_what_was_written(const Format& format, const Options& options, const history::RunRecord& run) {
  std::error_code no_file;
  const uintmax_t bytes = std::filesystem::file_size(options.output, no_file);
  fmt::print(stderr, "{} as {} in {}{}\n", run.id, format.name, text::printable(options.output),
             no_file ? "" : fmt::format(" ({})", text::format_bytes(bytes)));
}

std::string format_of(const std::string& output) {
  for (const Format& format : kFormats)
    if (output.ends_with(format.ending)) return format.name;
  return "json";
}

void write_event_files(const Options& options, const history::Reader& reader, const history::RunRecord& run) {
  if (options.output.empty() || options.output == "-")
    throw Error({"RW-CLI-044", "TensorBoard's event files need a folder", "-o", "-o FOLDER",
                 "name one that TensorBoard looks into: tensorboard --logdir FOLDER"});
  for (const std::filesystem::path& file : exchange::export_tensorboard(reader, run, options.output)) fmt::print("{}\n", file.string());
}

int export_run(Options options, const Invocation& invocation) {
  if (options.format.empty()) options.format = format_of(options.output);
  if (invocation.json) options.format = "json";
  const history::Reader reader = options.store.open();
  const history::RunRecord run = reader.run(options.run);
  if (options.format == kTensorboard) return write_event_files(options, reader, run), 0;
  const Format& format = format_named(options.format);
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (to_stdout && format.binary && ::isatty(STDOUT_FILENO))
    throw Error({"RW-CLI-044", "an archive is nothing for a terminal", "stdout", "-o FILE", "for example: -o " + run.id + ".tar.zst"});
  if (to_stdout) {
    write_in_format(format, reader, run, stdout, "stdout");
    return 0;
  }
  write_to_file(format, options, reader, run);
  tell_what_was_written(format, options, run);
  return 0;
}

}  // namespace

void build_runs_export(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "export", "A run as CSV (metrics), JSON, TensorBoard event files, or one archive with all of it");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  command.add_option("--format", options->format, "csv, json, jsonl, tensorboard or archive (default: as FILE ends, else json)")
      .check(one_of({"csv", "json", "jsonl", kTensorboard, "archive"}));
  command.add_option("-o,--output", options->output, "where to (default: stdout); a folder for tensorboard").type_name("FILE");
  options->store.add_to(command);
  command.footer(
      "\n.csv, .json, .jsonl and .tar.zst (an archive) tell the format. What each holds of the run, and what comes back with `ringwright runs "
      "import`:\n"
      "  archive      all that the history has; comes back whole\n"
      "  json, jsonl  all but the points that a resume trained anew (of its curves, what is shown); comes back\n"
      "  tensorboard  the curves, in 32 bits; comes back as a run of its own\n"
      "  csv          the points alone; does not come back\n"
      "NaN and infinities are texts in CSV and JSON. Checkpoints' files and the data lie where they are: no export holds them.");
  set_action(command, invocation, [options, &invocation] { return export_run(*options, invocation); });
}

}  // namespace ringwright::cli
