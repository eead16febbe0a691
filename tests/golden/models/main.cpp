// golden_models: every folder of models/ against what transformers computed.
//   golden_models                              all checks
//   golden_models --save-initial MODEL DIR     loads the golden checkpoint MODEL and saves it to DIR
//   golden_models --save-trained MODEL DIR     the same after the golden's 50 steps
#include <cstdio>
#include <string>

#include "daemon/worker/checkpoint/save.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "tests/golden/golden_cases.h"
#include "tests/golden/models/golden_model.h"

namespace {

using namespace ringwright::golden;

void check_model(const std::filesystem::path& folder, Report& report) {
  const GoldenModel golden = read_golden_model(folder);
  for (const bool legacy : {false, true}) {
    const std::string suffix = legacy ? " (legacy config)" : "";
    auto model = load_model(golden, legacy);
    check_forward(golden, model, report, suffix);
    check_gradients(golden, model, report, suffix);
    check_packed(golden, model, report, suffix);
    check_greedy(golden, model, report, suffix);
    train(golden, model, &report, suffix);
  }
  check_saved(golden, report);
}

int save(const std::string& name, const std::string& directory, bool trained) {
  const GoldenModel golden = read_golden_model(goldens_directory() / "models" / name);
  auto model = load_model(golden);
  if (trained) train(golden, model, nullptr, "");
  ringwright::worker::SaveOptions options;
  options.source = golden.folder;
  ringwright::worker::save_checkpoint(directory, model.config(), model.parameters(), options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  ringwright::worker::configure_torch(1, 0);
  const std::string verb = argc > 1 ? argv[1] : "";
  if (argc == 4 && (verb == "--save-initial" || verb == "--save-trained")) return save(argv[2], argv[3], verb == "--save-trained");
  if (argc != 1) {
    std::fprintf(stderr, "usage: golden_models [--save-initial MODEL DIR | --save-trained MODEL DIR]\n");
    return 2;
  }
  Report report;
  for (const auto& folder : golden_entries("models")) run_case(report, "models", folder.filename().string(), [&] { check_model(folder, report); });
  return report.finish();
} catch (const ringwright::Error& error) {
  std::fprintf(stderr, "%s\n", ringwright::describe(error.parts()).c_str());
  return static_cast<int>(error.exit_code());
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
