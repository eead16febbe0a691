#include "shared/mesh/policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "shared/base/error.h"

namespace ringwright::mesh {
namespace {

// What a value must be; parsing may bring it into its one spelling.
enum class Kind { boolean, count, number, text, dtype, scopes, precision, map, list };

struct Field {
  std::string_view name;
  Kind kind;
  Options fallback;  // null: none
};

struct PolicyTable {
  std::string_view name;
  std::vector<Field> fields;
};

const Options kDefaultPrecision = {
    {"param_dtype", "bfloat16"}, {"reduce_dtype", "float32"}, {"output_dtype", "bfloat16"}, {"cast_forward_inputs", true}};

// In the order of PolicyKind.
const std::array<PolicyTable, 5>& tables() {
  static const std::array<PolicyTable, 5> kTables = {{
      {"fsdp2",
       {{"sequence_parallel", Kind::boolean, false},
        {"tp_plan", Kind::map, nullptr},
        {"patch_is_packed_sequence", Kind::boolean, false},
        {"mp_policy", Kind::precision, kDefaultPrecision},
        {"offload_policy", Kind::map, nullptr},
        {"autocast_dtype", Kind::dtype, nullptr},
        {"activation_checkpointing_scope", Kind::scopes, {"all"}},
        {"defer_fsdp_grad_sync", Kind::boolean, true},
        {"reshard_after_forward", Kind::boolean, nullptr},
        {"enable_async_tensor_parallel", Kind::boolean, false},
        {"enable_compile", Kind::boolean, false},
        {"enable_fsdp2_prefetch", Kind::boolean, false},
        {"fsdp2_backward_prefetch_depth", Kind::count, 2},
        {"fsdp2_forward_prefetch_depth", Kind::count, 1}}},
      {"megatron_fsdp",
       {{"sequence_parallel", Kind::boolean, false},
        {"megatron_fsdp_unit_modules", Kind::list, nullptr},
        {"zero_dp_strategy", Kind::count, 3},
        {"init_fsdp_with_meta_device", Kind::boolean, false},
        {"grad_reduce_in_fp32", Kind::boolean, false},
        {"preserve_fp32_weights", Kind::boolean, false},
        {"overlap_grad_reduce", Kind::boolean, true},
        {"overlap_param_gather", Kind::boolean, true},
        {"check_for_nan_in_grad", Kind::boolean, true},
        {"report_nan_in_param_grad", Kind::boolean, false},
        {"average_in_collective", Kind::boolean, false},
        {"disable_bucketing", Kind::boolean, false},
        {"calculate_per_token_loss", Kind::boolean, false},
        {"keep_fp8_transpose_cache", Kind::boolean, false},
        {"nccl_ub", Kind::boolean, false},
        {"fsdp_double_buffer", Kind::boolean, false}}},
      {"ddp",
       {{"activation_checkpointing_scope", Kind::scopes, {"all"}},
        {"broadcast_buffers", Kind::boolean, false},
        {"find_unused_parameters", Kind::boolean, false},
        {"static_graph", Kind::boolean, false},
        {"bucket_cap_mb", Kind::number, nullptr},
        {"gradient_as_bucket_view", Kind::boolean, false},
        {"autocast_dtype", Kind::dtype, nullptr}}},
      {"pipeline",
       {{"pp_schedule", Kind::text, "1f1b"},
        {"pp_schedule_csv", Kind::text, nullptr},
        {"pp_microbatch_size", Kind::count, 1},
        {"pp_batch_size", Kind::count, 1},
        {"layers_per_stage", Kind::count, nullptr},
        {"round_virtual_stages_to_pp_multiple", Kind::text, nullptr},
        {"module_fqns_per_model_part", Kind::list, nullptr},
        {"patch_inner_model", Kind::boolean, true},
        {"patch_causal_lm_model", Kind::boolean, true},
        {"patch_stage_backward_maybe_with_nosync", Kind::boolean, false},
        {"dtype", Kind::dtype, nullptr},
        {"scale_grads_in_schedule", Kind::boolean, false},
        {"pp_seq_len", Kind::count, nullptr},
        {"pp_recv_buffer_pool", Kind::boolean, true},
        {"pp_recv_buffer_pool_slack", Kind::count, 2}}},
      {"moe",
       {{"ignore_router_for_ac", Kind::boolean, true},
        {"reshard_after_forward", Kind::boolean, false},
        {"lm_head_precision", Kind::dtype, nullptr},
        {"wrap_outer_model", Kind::boolean, true},
        {"mp_policy", Kind::precision, nullptr}}},
  }};
  return kTables;
}

struct Place {
  std::string key;
  const PlaceOf& place_of;

  std::string text() const { return place_of ? place_of(key) : key; }
  Place below(const std::string& name) const { return {key + "." + name, place_of}; }
};

[[noreturn]] void wrong_value(const Place& place, const Options& value, const std::string& expected) {
  throw Error({.code = "RW-SETUP-001",
               .what = fmt::format("{} is {}", place.key, value.dump(-1, ' ', false, Options::error_handler_t::replace)),
               .where = place.text(),
               .expected = expected,
               .action = "correct the value, or leave it out for the default",
               .exit_code = ExitCode::refused});
}

struct DtypeName {
  std::string_view spelling, name;
};

constexpr std::array<DtypeName, 9> kDtypes = {{{"bfloat16", "bfloat16"},
                                               {"bf16", "bfloat16"},
                                               {"float32", "float32"},
                                               {"fp32", "float32"},
                                               {"float", "float32"},
                                               {"float16", "float16"},
                                               {"fp16", "float16"},
                                               {"half", "float16"},
                                               {"float64", "float64"}}};

Options parse_dtype(const Options& value, const Place& place) {
  std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.starts_with("torch.")) text = text.substr(6);
  for (const DtypeName& row : kDtypes)
    if (row.spelling == text) return std::string(row.name);
  wrong_value(place, value, "bfloat16, float16, float32 or float64");
}

Options parse_precision(const Options& value, const Place& place) {
  if (!value.is_object()) wrong_value(place, value, "a map with param_dtype, reduce_dtype, output_dtype and cast_forward_inputs");
  // A policy that is written out casts nothing unless it says so.
  Options policy = {{"param_dtype", nullptr}, {"reduce_dtype", nullptr}, {"output_dtype", nullptr}, {"cast_forward_inputs", false}};
  for (const auto& [name, entry] : value.items()) {
    if (name == "_target_" || entry.is_null()) continue;
    if (!policy.contains(name)) wrong_value(place.below(name), entry, "param_dtype, reduce_dtype, output_dtype and cast_forward_inputs alone");
    if (name != "cast_forward_inputs") {
      policy[name] = parse_dtype(entry, place.below(name));
    } else if (entry.is_boolean()) {
      policy[name] = entry;
    } else {
      wrong_value(place.below(name), entry, "true or false");
    }
  }
  return policy;
}

// "language+vision", "all", or a list of such; "default" and "auto" are other words for all.
Options parse_scopes(const Options& value, const Place& place) {
  constexpr std::array<std::string_view, 5> kScopes = {"all", "language", "vision", "audio", "multimodal"};
  const std::string expected = fmt::format("one or more of {}; all stands alone", fmt::join(kScopes, ", "));
  Options scopes = Options::array();
  for (const Options& entry : value.is_array() ? value : Options::array({value})) {
    if (!entry.is_string()) wrong_value(place, value, expected);
    std::string text = entry.get<std::string>() + "+";
    for (size_t end; (end = text.find_first_of("+,")) != std::string::npos; text.erase(0, end + 1)) {
      std::string scope = text.substr(0, end);
      std::erase_if(scope, [](unsigned char c) { return std::isspace(c) != 0; });
      std::transform(scope.begin(), scope.end(), scope.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (scope.empty()) continue;
      if (scope == "default" || scope == "auto") scope = "all";
      if (std::find(kScopes.begin(), kScopes.end(), scope) == kScopes.end()) wrong_value(place, value, expected);
      if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) scopes.push_back(scope);
    }
  }
  if (scopes.empty()) scopes.push_back("all");
  if (scopes.size() > 1 && std::find(scopes.begin(), scopes.end(), "all") != scopes.end()) wrong_value(place, value, expected);
  return scopes;
}

// Kinds whose values are taken as they are.
struct PlainKind {
  Kind kind;
  bool (*fits)(const Options&);
  std::string_view expected;
};

constexpr std::array<PlainKind, 6> kPlainKinds = {{
    {Kind::boolean, [](const Options& v) { return v.is_boolean(); }, "true or false"},
    {Kind::count, [](const Options& v) { return v.is_number_integer() && v.get<int64_t>() >= 0; }, "a whole number from 0 on"},
    {Kind::number, [](const Options& v) { return v.is_number() && v.get<double>() > 0; }, "a number above 0"},
    {Kind::text, [](const Options& v) { return v.is_string(); }, "text"},
    {Kind::map, [](const Options& v) { return v.is_object(); }, "a map"},
    {Kind::list, [](const Options& v) { return v.is_array(); }, "a list"},
}};

Options parse(const Field& field, const Options& value, const Place& place) {
  if (field.kind == Kind::dtype) return parse_dtype(value, place);
  if (field.kind == Kind::precision) return parse_precision(value, place);
  if (field.kind == Kind::scopes) return parse_scopes(value, place);
  const auto row = std::find_if(kPlainKinds.begin(), kPlainKinds.end(), [&](const PlainKind& plain) { return plain.kind == field.kind; });
  if (!row->fits(value)) wrong_value(place, value, std::string(row->expected));
  return value;
}

[[noreturn]] void unknown_option(const PolicyTable& table, const std::string& name, const Place& place) {
  std::vector<std::string_view> names;
  for (const Field& field : table.fields) names.push_back(field.name);
  throw Error({.code = "RW-SETUP-002",
               .what = fmt::format("{} has no option called {}", table.name, name),
               .where = place.text(),
               .expected = fmt::format("{}", fmt::join(names, ", ")),
               .action = "correct the name, or leave it out",
               .exit_code = ExitCode::refused});
}

}  // namespace

PolicyKind kind_of(Strategy strategy) { return static_cast<PolicyKind>(strategy); }

Options complete_options(PolicyKind kind, const Options& given, const std::string& section, const PlaceOf& place_of) {
  const PolicyTable& table = tables()[static_cast<size_t>(kind)];
  const auto place = [&](const std::string& name) { return Place{section.empty() ? name : section + "." + name, place_of}; };
  if (!given.is_null() && !given.is_object()) wrong_value({section.empty() ? std::string(table.name) : section, place_of}, given, "a map");
  Options options = Options::object();
  for (const Field& field : table.fields) options[std::string(field.name)] = field.fallback;
  for (const auto& [name, value] : given.items()) {
    const auto field = std::find_if(table.fields.begin(), table.fields.end(), [&](const Field& row) { return row.name == name; });
    if (field == table.fields.end()) unknown_option(table, name, place(name));
    if (!value.is_null()) options[name] = parse(*field, value, place(name));
  }
  return options;
}

std::string activation_dtype(const Options& strategy_options) {
  const auto policy = strategy_options.find("mp_policy");
  if (policy == strategy_options.end() || !policy->is_object()) return "";
  for (const char* name : {"output_dtype", "param_dtype"})
    if (policy->at(name).is_string()) return policy->at(name).get<std::string>();
  return "";
}

}  // namespace ringwright::mesh
