// Every safetensors file of bad_checkpoints/: accepted or refused as the reference library does, with the same dtypes and shapes.
#include <fstream>
#include <nlohmann/json.hpp>

#include "shared/base/error.h"
#include "shared/model/safetensors.h"
#include "tests/golden/golden_report.h"

namespace {

using ringwright::golden::Report;

nlohmann::json tensors_of(const ringwright::model::SafetensorsHeader& header) {
  nlohmann::json tensors = nlohmann::json::object();
  for (const auto& tensor : header.tensors) tensors[tensor.name] = {tensor.dtype, tensor.shape};
  return tensors;
}

// The reason must name the file, whatever the fault.
void run_case(const std::filesystem::path& file, const nlohmann::json& expected, Report& report) {
  const bool accepted = expected.at("accepted").get<bool>();
  const std::string kind = accepted ? "accepted" : "refused", name = file.filename().string();
  try {
    const nlohmann::json found = tensors_of(ringwright::model::read_safetensors_header(file));
    report.check(kind, accepted && found == expected.at("tensors"), name, "read as " + found.dump());
  } catch (const ringwright::Error& error) {
    const bool named = error.parts().code == "RW-CKPT-001" && error.parts().where.find(name) != std::string::npos;
    report.check(kind, !accepted && named, name, ringwright::describe(error.parts()));
  }
}

}  // namespace

int main() {
  Report report;
  const std::filesystem::path folder = ringwright::golden::goldens_directory() / "bad_checkpoints";
  std::ifstream stream(folder / "expected.json");
  if (!stream) {
    std::printf("FAIL %s cannot be read\n0 passed, 1 failed\n", (folder / "expected.json").c_str());
    return 1;
  }
  const nlohmann::json expected = nlohmann::json::parse(stream);
  for (const auto& [name, value] : expected.at("files").items()) run_case(folder / name, value, report);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors" && !expected.at("files").contains(entry.path().filename().string()))
      report.check("listed", false, entry.path().filename().string(), "expected.json says nothing about it");
  return report.finish();
}
