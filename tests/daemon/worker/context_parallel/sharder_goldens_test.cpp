// The sharder against recorded values: cp/round_robin.json, cp/contiguous.json and cp/verbs.json of RINGWRIGHT_GOLDENS (default: shared/goldens
// beside the source tree; without it the tests are skipped). Cases of flavours that make_sharder does not know are not counted.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "daemon/worker/context_parallel/sharder.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

using nlohmann::json;

std::filesystem::path goldens_file(const std::string& name) {
  const char* folder = std::getenv("RINGWRIGHT_GOLDENS");
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "../shared/goldens";
  return root / "cp" / name;
}

at::Tensor tensor_of(const json& value) {
  static const std::map<std::string, at::ScalarType> types = {
      {"int64", at::kLong}, {"int32", at::kInt}, {"float32", at::kFloat}, {"float64", at::kDouble}, {"bool", at::kBool}};
  const auto shape = value.at("shape").get<std::vector<int64_t>>();
  const auto data = value.at("data").get<std::vector<double>>();
  return at::tensor(data, at::kDouble).reshape(shape).to(types.at(value.at("dtype").get<std::string>()));
}

void expect_tensor(const at::Tensor& got, const json& want, const std::string& name) {
  const at::Tensor expected = tensor_of(want);
  EXPECT_EQ(got.scalar_type(), expected.scalar_type()) << name;
  ASSERT_EQ(got.sizes(), expected.sizes()) << name;
  EXPECT_TRUE(at::equal(got, expected)) << name << "\n" << got << "\n" << expected;
}

std::optional<double> number(const json& params, const char* key) {
  return params.contains(key) && !params[key].is_null() ? std::optional<double>(params[key].get<double>()) : std::nullopt;
}

Batch batch_of(const json& input) {
  Batch batch;
  for (const auto& [key, value] : input.at("batch").items()) {
    batch[key] = tensor_of(value);
  }
  if (input.contains("loss_mask") && !input["loss_mask"].is_null()) {
    batch["loss_mask"] = tensor_of(input["loss_mask"]);
  }
  return batch;
}

ShardFacts facts_of(const json& layout) {
  ShardFacts facts;
  if (layout.is_null()) {
    return facts;
  }
  const auto length = [&](const char* key) { return layout[key].is_null() ? std::nullopt : std::optional<int64_t>(layout[key].get<int64_t>()); };
  facts.original_length = length("original_seq_len");
  facts.padded_length = length("padded_seq_len");
  if (!layout["local_token_global_indices"].is_null()) {
    facts.local_token_global_indices = layout["local_token_global_indices"]["data"].get<std::vector<int64_t>>();
  }
  if (!layout["input_row_shape"].is_null()) {
    facts.input_row_shape = layout["input_row_shape"].get<std::vector<int64_t>>();
  }
  if (!layout["input_token_stream_positions"].is_null()) {
    facts.input_token_stream_positions = tensor_of(layout["input_token_stream_positions"]);
  }
  return facts;
}

void expect_facts(const ShardFacts& facts, const json& layout) {
  EXPECT_EQ(json(facts.original_length.value_or(-1)), layout["original_seq_len"].is_null() ? json(-1) : layout["original_seq_len"]);
  EXPECT_EQ(json(facts.padded_length.value_or(-1)), layout["padded_seq_len"].is_null() ? json(-1) : layout["padded_seq_len"]);
}

SharderOptions options_of(const json& params) {
  SharderOptions options;
  options.pad_multiple = static_cast<int64_t>(number(params, "pad_multiple").value_or(1));
  options.batch.padding_token_id = static_cast<int64_t>(number(params, "padding_token_id").value_or(0));
  options.batch.shard_primary = params.value("shard_primary", true);
  for (const char* key : {"extra_seq_buffers", "extra_seq_keys"}) {
    if (params.contains(key) && !params[key].is_null()) {
      options.batch.extra_sequence_keys = params[key].get<std::map<std::string, int64_t>>();
    }
  }
  if (params.contains("extra_pad_values")) {
    options.batch.extra_pad_values = params["extra_pad_values"].get<std::map<std::string, double>>();
  }
  return options;
}

ProcessGroup member(int rank, int size) {
  ProcessGroup group;
  group.rank = rank;
  group.size = size;
  return group;
}

// Calls `check` for every case of the file; returns how many it took.
int each_case(const std::string& file, const std::function<bool(const json&)>& check) {
  std::ifstream stream(goldens_file(file));
  const json cases = json::parse(stream).at("cases");
  int count = 0;
  for (const json& one : cases) {
    SCOPED_TRACE(one.at("id").get<std::string>());
    count += !one.contains("quirk") && check(one) ? 1 : 0;
  }
  return count;
}

bool check_batch_case(const char* flavour, const json& one) {
  const json& expect = one["expect"];
  if (one["op"] == "attention_mask_to_padding_mask") {
    expect_tensor(padding_mask_from_attention_mask(tensor_of(one["input"]["batch"]["attention_mask"])), expect["batch"]["padding_mask"], "mask");
    return true;
  }
  const int cp = one["params"]["cp"].get<int>();
  if (expect.contains("error")) {
    EXPECT_THROW(make_sharder(flavour, member(0, cp), options_of(one["params"])).shard(batch_of(one["input"])), Error);
    return true;
  }
  for (int rank = 0; rank < cp; ++rank) {
    const json& want = expect["per_rank"][static_cast<size_t>(rank)];
    Batch batch = batch_of(one["input"]);
    if (want.contains("grad_inputs_embeds")) {
      batch["inputs_embeds"].requires_grad_();
    }
    Sharder sharder = make_sharder(flavour, member(rank, cp), options_of(one["params"]));
    Batch local = sharder.shard(batch);
    expect_facts(sharder.facts(), want["layout"]);
    if (want.contains("loss_mask") && !want["loss_mask"].is_null()) {
      expect_tensor(local.at("loss_mask"), want["loss_mask"], "loss_mask");
      local.erase("loss_mask");
    }
    if (want.contains("grad_inputs_embeds")) {
      const at::Tensor& part = local.at("inputs_embeds");
      (part * at::arange(1, part.numel() + 1, part.options().requires_grad(false)).reshape(part.sizes())).sum().backward();
      expect_tensor(batch.at("inputs_embeds").grad(), want["grad_inputs_embeds"], "gradient");
    }
    EXPECT_EQ(local.size(), want["batch"].size());
    for (const auto& [key, value] : want["batch"].items()) {
      if (local.count(key) == 0) {
        ADD_FAILURE() << "no " << key;
        continue;
      }
      expect_tensor(local.at(key).detach(), value, key);
    }
  }
  return true;
}

Sharder verb_sharder(const json& one, int rank) {
  const json& form = one["params"]["closed_form"];
  const int cp = std::max(1, one["params"]["cp"].get<int>());
  std::shared_ptr<const layout::Layout> layout;
  if (!form.is_null()) {
    layout = layout::make_layout(form == "identity" ? "none" : form.get<std::string>(), cp);
  }
  return Sharder(layout, member(rank, cp), {}, {}, facts_of(one["input"]["layout"]));
}

bool check_verb_case(const json& one) {
  const json &params = one["params"], &expect = one["expect"];
  const bool shards = one["op"] == "shard_token_tensor" || one["op"] == "shard_token_tensor_grad";
  if (!shards && one["op"] != "gather_token_tensor_no_group") {
    return false;
  }
  const int64_t axis = params.value("seq_dim", 1);
  if (!shards) {
    const Sharder sharder = verb_sharder(one, 0);
    const auto gather = [&] {
      return sharder.gather_token_tensor(tensor_of(one["input"]["tensor"]), axis, params.value("trim", false), number(params, "fill"));
    };
    if (expect.contains("error")) {
      EXPECT_THROW(gather(), Error);
    } else {
      expect_tensor(gather(), expect["full"], "full");
    }
    return true;
  }
  for (size_t rank = 0; rank < expect["per_rank"].size(); ++rank) {
    const json& want = expect["per_rank"][rank];
    const Sharder sharder = verb_sharder(one, static_cast<int>(rank));
    at::Tensor full = tensor_of(one["input"]["tensor"]);
    full.requires_grad_(want.contains("grad_tensor"));
    if (want.contains("error")) {
      EXPECT_THROW(sharder.shard_token_tensor(full, axis, number(params, "fill")), Error);
      continue;
    }
    const at::Tensor local = sharder.shard_token_tensor(full, axis, number(params, "fill"));
    expect_tensor(local.detach(), want["local"], "local");
    EXPECT_TRUE(local.is_contiguous());
    if (want.contains("grad_tensor")) {
      (local * at::arange(1, local.numel() + 1, at::kFloat).reshape(local.sizes())).sum().backward();
      expect_tensor(full.grad(), want["grad_tensor"], "gradient");
    }
  }
  return true;
}

bool check_round_trip(const json& one, const ProcessGroup& cp) {
  const json& params = one["params"];
  if (one["op"] != "verbs_round_trip" || params["cp"].get<int>() != cp.size) {
    return false;
  }
  const std::string flavour = params["backend"].get<std::string>();
  if (flavour != "none" && flavour != "round_robin" && flavour != "contiguous") {
    return false;
  }
  const json& want = one["expect"]["per_rank"][static_cast<size_t>(cp.rank)];
  Sharder sharder = make_sharder(flavour, cp, options_of(params));
  sharder.shard(batch_of(one["input"]));
  at::Tensor local = sharder.shard_token_tensor(tensor_of(one["input"]["tensor"]), 1, number(params, "fill")).detach();
  expect_tensor(local, want["local"], "local");
  const bool differentiates = want.contains("grad_local");
  local.requires_grad_(differentiates);
  const at::Tensor trimmed = sharder.gather_token_tensor(local, 1, true);
  expect_tensor(trimmed.detach(), want["gathered_trimmed"], "gathered_trimmed");
  if (differentiates) {
    expect_tensor(sharder.gather_token_tensor(local.detach()), want["gathered_untrimmed"], "gathered_untrimmed");
    (trimmed * at::arange(1, trimmed.numel() + 1, at::kFloat).reshape(trimmed.sizes()) * (cp.rank + 1)).sum().backward();
    expect_tensor(local.grad(), want["grad_local"], "gradient");
  }
  return true;
}

class SharderGoldens : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(goldens_file("verbs.json"))) {
      GTEST_SKIP() << "no goldens beside the source tree: " << goldens_file("verbs.json");
    }
  }
};

TEST_F(SharderGoldens, RoundRobinBatches) {
  EXPECT_EQ(each_case("round_robin.json", [](const json& one) { return check_batch_case("round_robin", one); }), 19);
}
TEST_F(SharderGoldens, ContiguousBatches) {
  EXPECT_EQ(each_case("contiguous.json", [](const json& one) { return check_batch_case("contiguous", one); }), 24);
}
TEST_F(SharderGoldens, TokenVerbs) { EXPECT_GE(each_case("verbs.json", check_verb_case), 35); }

void round_trips(const ProcessGroup& cp) {
  if (!std::filesystem::exists(goldens_file("verbs.json"))) {
    GTEST_SKIP() << "no goldens beside the source tree";
  }
  EXPECT_GE(each_case("verbs.json", [&](const json& one) { return check_round_trip(one, cp); }), 3);
}
RANK_TEST(SharderGoldenRoundTrips, OnTwoRanks, 2) { round_trips(ranks.group("cp")); }
RANK_TEST(SharderGoldenRoundTrips, OnFourRanks, 4) { round_trips(ranks.group("cp")); }

}  // namespace
}  // namespace ringwright::worker
