// The text adapter: a section of a recipe becomes a request for a setup.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "shared/base/error.h"
#include "shared/mesh/setup.h"

namespace ringwright::mesh {
namespace {

struct SizeKey {
  std::string_view key;
  void (*set)(ParallelismSizes&, int);
};

constexpr std::array<SizeKey, 6> kSizeKeys = {{
    {"dp_size", [](ParallelismSizes& s, int v) { s.dp = v; }},
    {"dp_replicate_size", [](ParallelismSizes& s, int v) { s.dp_replicate = v; }},
    {"tp_size", [](ParallelismSizes& s, int v) { s.tp = v; }},
    {"pp_size", [](ParallelismSizes& s, int v) { s.pp = v; }},
    {"cp_size", [](ParallelismSizes& s, int v) { s.cp = v; }},
    {"ep_size", [](ParallelismSizes& s, int v) { s.ep = v; }},
}};

// Left behind by tools that make objects from text.
constexpr std::array<const char*, 3> kToolKeys = {"_target_", "_recursive_", "_convert_"};

class SectionReader {
 public:
  SectionReader(const Options& section, const PlaceOf& place) : rest_(section.is_null() ? Options::object() : section), place_(place) {
    if (!rest_.is_object()) refuse("RW-SETUP-001", "the section is no map", "", "a map with strategy and sizes");
  }

  Section read() {
    for (const char* key : kToolKeys) rest_.erase(key);
    const Options strategy = take("strategy");
    if (!strategy.is_null() && !strategy.is_string()) refuse("RW-SETUP-001", "strategy is " + strategy.dump(), "strategy", "the name of a strategy");
    if (strategy.is_string()) request().strategy.strategy = strategy_from_name(strategy.get<std::string>());
    for (const SizeKey& row : kSizeKeys) read_size(row);
    for (std::string& text : size_warnings(request().sizes)) result_.warnings.push_back(std::move(text));
    request().activation_checkpointing = activation_checkpointing_from(take("activation_checkpointing"), where("activation_checkpointing"));
    check_activation_checkpointing(request(), where("activation_checkpointing"));
    const Options pipeline = take("pipeline"), experts = take("moe");
    read_strategy_options();
    read_pipeline(pipeline);
    read_experts(experts);
    return std::move(result_);
  }

 private:
  SetupRequest& request() { return result_.request; }
  std::string where(const std::string& key) const { return place_ ? place_(key) : key; }

  [[noreturn]] void refuse(const char* code, const std::string& what, const std::string& key, const std::string& expected) const {
    throw Error({.code = code,
                 .what = what,
                 .where = where(key),
                 .expected = expected,
                 .action = "correct the value, or leave it out for the default",
                 .exit_code = ExitCode::refused});
  }

  Options take(const std::string& key) {
    const auto found = rest_.find(key);
    if (found == rest_.end()) return nullptr;
    Options value = *found;
    rest_.erase(found);
    return value;
  }

  void read_size(const SizeKey& row) {
    const std::string key(row.key);
    const Options value = take(key);
    if (value.is_null()) return;
    constexpr double kLimit = std::numeric_limits<int>::max();
    const bool whole = value.is_number_integer() && std::abs(value.get<double>()) <= kLimit;
    if (!whole) refuse("RW-SETUP-007", fmt::format("{} is {}", key, value.dump()), key, "a whole number");
    row.set(request().sizes, value.get<int>());
  }

  void read_strategy_options() {
    try {
      request().strategy.options = complete_options(kind_of(request().strategy.strategy), rest_, "", place_);
    } catch (const Error& error) {
      if (error.parts().code != "RW-SETUP-002") throw;
      ErrorParts parts = error.parts();
      parts.code = "RW-SETUP-009";  // a key that is left over in text is no misuse of an interface
      throw Error(parts);
    }
  }

  void read_pipeline(const Options& block) {
    const int pp = request().sizes.pp;
    if (pp <= 1) {
      if (!block.is_null()) result_.warnings.push_back(fmt::format("pipeline is ignored, since pp_size = {}", pp));
      return;
    }
    if (block.is_null()) {
      refuse("RW-SETUP-008", fmt::format("pp_size = {} asks for a pipeline, and there is no block pipeline", pp), "pp_size",
             "a block pipeline; pipeline: {} takes the defaults");
    }
    Options pipeline = complete_options(PolicyKind::pipeline, block, "pipeline", place_);
    const std::string type = activation_dtype(request().strategy.options);
    if (!type.empty() && pipeline.at("dtype").is_string() && pipeline.at("dtype") != type) {
      result_.warnings.push_back(fmt::format("pipeline.dtype is {}, and the strategy's activations are {}: stages may disagree about what they send",
                                             pipeline.at("dtype").get<std::string>(), type));
    }
    request().pipeline = std::move(pipeline);
  }

  void read_experts(const Options& block) {
    const int ep = request().sizes.ep;
    if (ep > 1) {
      request().experts = complete_options(PolicyKind::experts, block, "moe", place_);
    } else if (!block.is_null()) {
      result_.warnings.push_back(fmt::format("moe is ignored, since ep_size = {}", ep));
    }
  }

  Options rest_;
  const PlaceOf& place_;
  Section result_;
};

}  // namespace

Section read_section(const Options& section, const PlaceOf& place) { return SectionReader(section, place).read(); }

}  // namespace ringwright::mesh
