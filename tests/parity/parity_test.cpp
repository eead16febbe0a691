// Losses of 50 training steps, kept in this folder, one file a flavour: a change that is not meant to touch the numbers must give them again.
//
// On the processor, its vector instructions and the libraries that a file names, bit for bit. Elsewhere vector widths, and with them orders of
// summation, may differ: there the losses must be equal to 1e-5 relative, and the test says so.
//
// To write the files anew, where the numbers are meant to change:
//   RINGWRIGHT_REFRESH_PARITY=1 build/release/bin/tests/test_parity
// tests/tidy wants the first ten digits of each file's SHA-256 in CHANGELOG.md, so a line there has to say why.
#include <ATen/Version.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shared/fingerprint/machine.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

constexpr int kSteps = 50;
constexpr int kRanks = 2;
constexpr double kElsewhere = 1e-5;

struct Curve {
  const char *name, *flavour, *method;
  bool packed;
};
constexpr Curve kCurves[] = {{"round_robin", "round_robin", "ring", false},
                             {"contiguous", "contiguous", "all_gather", false},
                             {"balanced_packed", "balanced", "ranged", true}};

// Rank 0's losses; each rank has the same.
std::vector<double> train(const Curve& curve) {
  std::vector<double> losses;
  test::run_on_threads(kRanks, [&](const ProcessGroups& ranks) {
    SftTrainerOptions options = options_of(curve.flavour);
    options.cp_method = curve.method;
    options.sharding.chunk = 4;  // several chunks a rank
    Training training(ranks.group("cp"), at::kFloat, curve.packed ? packed_config() : small_config(), options);
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<Row> rows = make_rows({33, 64, 5 + step % 7, 17, 21, 40}, 512, static_cast<uint64_t>(1 + step % 5));
      const double loss = training.trainer.step(pointers(rows)).loss;
      if (ranks.rank() == 0) losses.push_back(loss);
    }
  });
  return losses;
}

// All that decides which kernels run: the name of a processor says little on virtual machines, and the libraries choose by its vector instructions.
nlohmann::json machine() {
  const nlohmann::json processor = fingerprint::processor();
  return {{"processor", processor.at("model")}, {"flags", processor.at("flags")},     {"vectors", at::get_cpu_capability()},
          {"libtorch", TORCH_VERSION},          {"onednn", at::get_mkldnn_version()}, {"mkl", at::get_mkl_version()}};
}

std::filesystem::path file_of(const Curve& curve) {
  return std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "tests" / "parity" / (std::string(curve.name) + ".json");
}

// "%a": all bits, and readable.
void write(const Curve& curve, const std::vector<double>& losses) {
  nlohmann::json json = {{"flavour", curve.flavour}, {"method", curve.method}, {"packed", curve.packed}, {"cp", kRanks}, {"made_on", machine()}};
  for (const double loss : losses) json["losses"].push_back(fmt::format("{:a}", loss));
  std::ofstream(file_of(curve)) << json.dump(1) << '\n';
}

void compare(const Curve& curve, const std::vector<double>& losses) {
  std::ifstream stream(file_of(curve));
  ASSERT_TRUE(stream) << file_of(curve) << " is missing";
  const nlohmann::json kept = nlohmann::json::parse(stream);
  const bool same_machine = kept.at("made_on") == machine();
  fmt::print("{}: made on {}, compared {}\n", curve.name, kept.at("made_on").dump(),
             same_machine ? "bit for bit" : fmt::format("to {:g}", kElsewhere));
  ASSERT_EQ(kept.at("losses").size(), losses.size());
  for (size_t step = 0; step < losses.size(); ++step) {
    const double wanted = std::strtod(kept.at("losses").at(step).get<std::string>().c_str(), nullptr);
    if (same_machine) {
      ASSERT_EQ(losses[step], wanted) << curve.name << ", step " << step + 1;
    } else {
      ASSERT_NEAR(losses[step], wanted, kElsewhere * wanted) << curve.name << ", step " << step + 1;
    }
  }
}

class Parity : public ::testing::TestWithParam<Curve> {};

TEST_P(Parity, FiftyStepsGiveTheLossesThatAreKept) {
  const std::vector<double> losses = train(GetParam());
  ASSERT_EQ(losses.size(), static_cast<size_t>(kSteps));
  EXPECT_LT(losses.back(), losses.front() - 0.3) << "the model learns";
  std::getenv("RINGWRIGHT_REFRESH_PARITY") ? write(GetParam(), losses) : compare(GetParam(), losses);
}

INSTANTIATE_TEST_SUITE_P(Curves, Parity, ::testing::ValuesIn(kCurves), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ringwright::worker
