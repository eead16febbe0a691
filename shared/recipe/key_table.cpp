#include "shared/recipe/key_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "shared/base/text.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_rows.h"

namespace ringwright::recipe {

namespace asks {
bool for_true(const nlohmann::ordered_json& value) { return value.is_boolean() && value.get<bool>(); }
bool for_false(const nlohmann::ordered_json& value) { return value.is_boolean() && !value.get<bool>(); }
bool for_something(const nlohmann::ordered_json& value) {
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.is_null() && !for_false(value) && !(value.is_structured() && value.empty());
}
bool for_more_than_zero(const nlohmann::ordered_json& value) { return value.is_number() && value.get<double>() > 0; }
bool for_more_than_one(const nlohmann::ordered_json& value) { return value.is_number() && value.get<double>() > 1; }
bool for_fp8(const nlohmann::ordered_json& value) { return value.is_string() && value.get_ref<const std::string&>().starts_with("fp8"); }
}  // namespace asks

namespace {

using Names = std::set<std::string, std::less<>>;

// Sections that are made like another one.
struct LikeSection {
  std::string_view section, like;
};
constexpr LikeSection kLikeSections[] = {{"value", "policy"},
                                         {"teacher", "policy"},
                                         {"teachers", "policy"},
                                         {"eval", "policy"},
                                         {"generation", "policy.generation"},
                                         {"tokenizer", "policy.tokenizer"}};

// "teacher.dtensor_cfg" -> "policy.dtensor_cfg"; "" where the section is like no other.
std::string alike(std::string_view key) {
  for (const LikeSection& like : kLikeSections)
    if (key.starts_with(like.section) && (key.size() == like.section.size() || key[like.section.size()] == '.'))
      return std::string(like.like) + std::string(key.substr(like.section.size()));
  return "";
}

std::string joined(std::string_view section, std::string_view name) {
  std::string key(section);
  if (!key.empty()) key += '.';
  return key += name;
}

class Keys {
 public:
  Keys() {
    for (const KeyRow& row : key_rows()) {
      std::string_view keys = row.keys;
      while (!keys.empty()) {
        const size_t end = std::min(keys.find(' '), keys.size());
        add(joined(row.section, keys.substr(0, end)), &row);
        keys.remove_prefix(std::min(end + 1, keys.size()));
      }
    }
    for (const LikeSection& like : kLikeSections) sections_[""].names.emplace(like.section);
  }

  // Of a schema's key: no indices in it.
  const KeyRow* row(const std::string& key) const {
    if (const KeyRow* exact = row_here(key)) return exact;
    const std::string like = alike(key);
    return like.empty() ? nullptr : row_here(like);
  }

  bool is_known(const std::string& section, const std::string& name) const { return names(section, name) || row(joined(section, name)) != nullptr; }

  // Below an open section every name is fine.
  bool is_open(const std::string& section) const { return open_here(section) || open_here(alike(section)); }
  // No key is known below it.
  bool is_leaf(const std::string& section) const {
    const std::string like = alike(section);
    return !sections_.contains(section) && (like.empty() || !sections_.contains(like));
  }

  std::vector<std::string> names_in(const std::string& section) const {
    std::vector<std::string> names;
    for (const std::string& place : {section, alike(section)})
      if (const auto found = sections_.find(place); found != sections_.end() && (place == section || !place.empty()))
        names.insert(names.end(), found->second.names.begin(), found->second.names.end());
    return names;
  }

 private:
  struct Section {
    Names names;
    const KeyRow* open = nullptr;  // of the key *
  };

  void add(const std::string& key, const KeyRow* row) {
    const bool open = key.ends_with(".*");
    const std::string path = open ? key.substr(0, key.size() - 2) : key;
    for (size_t start = 0; start <= path.size();) {
      const size_t dot = std::min(path.find('.', start), path.size());
      sections_[path.substr(0, start == 0 ? 0 : start - 1)].names.emplace(path.substr(start, dot - start));
      start = dot + 1;
    }
    if (open)
      sections_[path].open = row;
    else
      rows_.emplace(path, row);
  }

  bool names(const std::string& section, const std::string& name) const {
    const auto has = [&](const std::string& place) {
      const auto found = sections_.find(place);
      return found != sections_.end() && found->second.names.contains(name);
    };
    if (has(section)) return true;
    const std::string like = alike(section);
    return !like.empty() && has(like);
  }

  const KeyRow* row_here(const std::string& key) const {
    if (const auto found = rows_.find(key); found != rows_.end()) return found->second;
    for (size_t end = key.size(); end != std::string::npos && end > 0; end = key.rfind('.', end - 1))
      if (const auto found = sections_.find(key.substr(0, end)); found != sections_.end()) return found->second.open;
    return nullptr;
  }

  bool open_here(const std::string& section) const {
    const auto found = sections_.find(section);
    return found != sections_.end() && found->second.open != nullptr;
  }

  std::unordered_map<std::string, Section> sections_;  // by dotted key, "" the top
  std::unordered_map<std::string, const KeyRow*> rows_;
};

const Keys& keys() {
  static const Keys table;
  return table;
}

bool is_index(std::string_view segment) {
  return !segment.empty() && std::all_of(segment.begin(), segment.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Interpolations may want sections of the user's own; such a section's name warns, what is in it does not.
void visit_unknown(const Node& node, const std::string& section, const std::string& path, std::vector<Warning>& warnings) {
  for (size_t i = 0; i < node.items.size(); ++i) visit_unknown(node.items[i], section, joined(path, std::to_string(i)), warnings);
  if (node.kind != Kind::map || keys().is_open(section) || keys().is_leaf(section)) return;
  for (const auto& [key, value] : node.entries) {
    const std::string name = python_text(key);
    if (keys().is_known(section, name)) {
      if (value.is_container()) visit_unknown(value, joined(section, name), joined(path, name), warnings);
    } else if (name != "_override_") {
      const std::string near = text::nearest(name, keys().names_in(section));
      warnings.push_back({"RW-RECIPE-101", joined(path, name),
                          near.empty() ? "not a known key; it is kept" : "not a known key; it is kept. Did you mean '" + near + "'?", value.origin});
    }
  }
}

// The row of "any other name" below a section is not the section's where other names below it have rows.
bool speaks_for_keys(const nlohmann::ordered_json& value, const std::string& schema) {
  return value.is_object() && !value.empty() && keys().is_open(schema) && !keys().names_in(schema).empty();
}

// Calls look(key, row, value, off) for every value below the top, sections before what is in them.
template <class Look>
void for_each_key(const nlohmann::ordered_json& value, const std::string& schema, const std::string& path, bool off, const Look& look) {
  if (!schema.empty()) look(path, speaks_for_keys(value, schema) ? nullptr : keys().row(schema), value, off);
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      if (value[i].is_structured()) for_each_key(value[i], schema, joined(path, std::to_string(i)), off, look);
  } else if (value.is_object()) {
    const auto enabled = value.find("enabled");
    const bool section_off = off || (enabled != value.end() && asks::for_false(*enabled));
    for (const auto& [name, child] : value.items())
      for_each_key(child, joined(schema, name), joined(path, name), off || (section_off && name != "enabled"), look);
  }
}

// One finding a row, for what is switched on.
template <class Wanted>
std::vector<KeyFinding> findings(const Recipe& recipe, const Wanted& wanted) {
  std::vector<KeyFinding> found;
  std::set<const KeyRow*> seen;
  for_each_key(recipe.resolved, "", "", false, [&](const std::string& key, const KeyRow* row, const nlohmann::ordered_json& value, bool off) {
    if (row && !off && wanted(*row, value) && seen.insert(row).second) found.push_back({key, row, find_origin(recipe, key)});
  });
  return found;
}

bool is_leaf(const nlohmann::ordered_json& value) {
  if (value.is_array()) return std::none_of(value.begin(), value.end(), [](const auto& item) { return item.is_structured(); });
  return !value.is_object() || value.empty();
}

}  // namespace

std::string_view to_string(KeyUse use) {
  constexpr std::array<std::string_view, 5> kNames = {"used", "mapped", "noted", "refused", "not yet"};
  return kNames[static_cast<size_t>(use)];
}

const std::vector<KeyRow>& key_rows() {
  static const std::vector<KeyRow> kRows = [] {
    std::vector<KeyRow> rows;
    for (const auto& part : {algorithm_key_rows(), policy_key_rows(), megatron_key_rows(), generation_key_rows(), run_key_rows()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return kRows;
}

const KeyRow* find_key(std::string_view key) {
  std::string schema;
  for (size_t start = 0; start <= key.size();) {
    const size_t dot = std::min(key.find('.', start), key.size());
    const std::string_view segment = key.substr(start, dot - start);
    if (!is_index(segment)) schema = joined(schema, segment);
    start = dot + 1;
  }
  return keys().row(schema);
}

std::vector<KeyFinding> asked_for(const Recipe& recipe) {
  return findings(recipe, [](const KeyRow& row, const nlohmann::ordered_json& value) { return row.asks && row.asks(value); });
}

std::vector<KeyFinding> notes(const Recipe& recipe) {
  return findings(recipe, [](const KeyRow& row, const nlohmann::ordered_json& value) {
    return (row.use == KeyUse::mapped || row.use == KeyUse::noted) && asks::for_something(value);
  });
}

std::string_view KeyStatus::word() const {
  if (!row) return "unknown";
  return off || (row->asks && !asked) ? "off" : to_string(row->use);
}

std::vector<KeyStatus> describe_keys(const Recipe& recipe) {
  std::vector<KeyStatus> statuses;
  for_each_key(recipe.resolved, "", "", false, [&](const std::string& key, const KeyRow* row, const nlohmann::ordered_json& value, bool off) {
    const bool a_section = !row && !value.is_object() && find_unknown(split_key(key)) == std::nullopt;  // one that is null
    if (is_leaf(value) && !a_section) statuses.push_back({key, row, off, row && row->asks && row->asks(value)});
  });
  return statuses;
}

std::string fix_of(const KeyFinding& finding) {
  std::string fix(finding.row->fix);
  constexpr std::string_view kKey = "{key}";
  if (const size_t at = fix.find(kKey); at != std::string::npos) fix.replace(at, kKey.size(), finding.key);
  return fix;
}

std::optional<UnknownKey> find_unknown(const std::vector<std::string>& path) {
  std::string section;
  for (size_t i = 0; i < path.size(); ++i) {
    if (keys().is_open(section) || (i > 0 && is_index(path[i]))) continue;
    if (keys().is_leaf(section)) return UnknownKey{i, ""};
    if (!keys().is_known(section, path[i])) return UnknownKey{i, text::nearest(path[i], keys().names_in(section))};
    section = joined(section, path[i]);
  }
  return std::nullopt;
}

std::vector<std::string> segments_of_key(const std::string& key) {
  std::vector<std::string> segments;
  for (size_t start = 0; start <= key.size();) {
    const size_t dot = std::min(key.find('.', start), key.size());
    segments.push_back(key.substr(start, dot - start));
    start = dot + 1;
  }
  return segments;
}

std::optional<MisspeltKey> find_misspelt(const std::string& key,
                                         const std::function<std::vector<std::string>(const std::string& section)>& names_below) {
  std::vector<std::string> path;
  std::string section;
  for (const std::string& segment : segments_of_key(key)) {
    const std::vector<std::string> names = names_below(section);
    path.push_back(segment);
    if (std::find(names.begin(), names.end(), segment) != names.end()) {
      section = joined(section, segment);
      continue;
    }
    std::vector<std::string> unknown;
    for (const std::string& name : names) {
      path.back() = name;
      if (find_unknown(path)) unknown.push_back(name);
    }
    const std::string near = text::nearest(segment, unknown);
    return near.empty() ? std::nullopt : std::optional(MisspeltKey{joined(section, near), near, segment});
  }
  return std::nullopt;
}

void warn_about_unknown_keys(const Node& root, std::vector<Warning>& warnings) { visit_unknown(root, "", "", warnings); }

}  // namespace ringwright::recipe
