// The parts of the table of keys, and what a row may ask of a value.
#pragma once

#include <vector>

#include "shared/recipe/key_table.h"

namespace ringwright::recipe {

namespace asks {
bool for_true(const nlohmann::ordered_json& value);
bool for_false(const nlohmann::ordered_json& value);
bool for_something(const nlohmann::ordered_json& value);  // neither null, false, "" nor empty
bool for_more_than_zero(const nlohmann::ordered_json& value);
bool for_more_than_one(const nlohmann::ordered_json& value);
bool for_fp8(const nlohmann::ordered_json& value);  // a text that begins with fp8
}  // namespace asks

std::vector<KeyRow> algorithm_key_rows();
std::vector<KeyRow> policy_key_rows();
std::vector<KeyRow> megatron_key_rows();
std::vector<KeyRow> generation_key_rows();
std::vector<KeyRow> run_key_rows();

}  // namespace ringwright::recipe
