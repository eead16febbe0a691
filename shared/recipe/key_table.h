// What becomes of each key that NeMo RL's public recipes have. One description: unknown keys, `recipe show --keys`, the notes of `check` and the rows
// of the support matrix about features that are not there all come from it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/node.h"
#include "shared/recipe/recipe.h"

namespace ringwright::recipe {

enum class KeyUse {
  used,     // acted on
  mapped,   // done in another way; the text says how
  noted,    // without effect on what is trained; the text says why
  refused,  // asks for something that this engine will not do
  not_yet,  // asks for something that this version does not do
};
std::string_view to_string(KeyUse use);

// Whether a resolved value asks for what the row is about: true, a size above 1, ...
using Asks = bool (*)(const nlohmann::ordered_json& value);

struct KeyRow {
  std::string_view section;  // the keys are below it
  KeyUse use;
  // Of refused and not_yet alone; nullptr: not asked about key by key, since the section that they belong to has a row of its own (an algorithm, a
  // backend, a master switch).
  Asks asks;
  std::string_view text;  // mapped: what it becomes; noted: why; refused and not_yet: what is missing
  std::string_view fix;   // refused and not_yet: the way out, with {key} for the key; "" where there is none in the recipe
  std::string_view keys;  // dotted, divided by blanks; a last segment * stands for any names and what is below them
};

const std::vector<KeyRow>& key_rows();

// The row of a key, elements of lists counting as the list; `value`, `teacher`, `teachers`, `generation`, ... have the keys of the section of
// `policy` that they are like. nullptr: a key that nobody knows, or a section (its keys have rows).
const KeyRow* find_key(std::string_view key);

struct KeyFinding {
  std::string key;  // dotted, as in the recipe
  const KeyRow* row = nullptr;
  Origin origin;
};

// One finding a row, the first key that the recipe has of it. What lies in a section whose own `enabled` is false is left out, and so is everything
// below a section that is null.
std::vector<KeyFinding> asked_for(const Recipe& recipe);  // refused and not_yet, where the value asks
std::vector<KeyFinding> notes(const Recipe& recipe);      // mapped and noted, where the value is neither null, false nor empty

// What becomes of one key of a recipe; of every leaf, lists of plain values counting as one.
struct KeyStatus {
  std::string key;
  const KeyRow* row = nullptr;  // nullptr: not known
  bool off = false;             // in a section that is switched off
  bool asked = false;           // of refused and not_yet: this value asks for it

  std::string_view word() const;  // "used", "mapped", "noted", "refused", "not yet", "off" (switched off, or not asked for), "unknown"
};
std::vector<KeyStatus> describe_keys(const Recipe& recipe);
std::string fix_of(const KeyFinding& finding);  // "" or a change: policy.quant_cfg=null

// The first segment of a key that is not known, and the nearest name that is.
struct UnknownKey {
  size_t segment = 0;
  std::string nearest;  // "" when none is near
};
std::optional<UnknownKey> find_unknown(const std::vector<std::string>& path);

std::vector<std::string> segments_of_key(const std::string& key);
// Of a key that a recipe lacks: the one that is there in its place under a name that is not known and near, where there is one.
struct MisspeltKey {
  std::string key;             // as it is there, up to the wrong name
  std::string written, meant;  // the name, and what it should be
};
// `names_below` gives the names in a section (dotted; "" for the whole recipe).
std::optional<MisspeltKey> find_misspelt(const std::string& key,
                                         const std::function<std::vector<std::string>(const std::string& section)>& names_below);
// A warning RW-RECIPE-101 for each key that is not known.
void warn_about_unknown_keys(const Node& root, std::vector<Warning>& warnings);

}  // namespace ringwright::recipe
