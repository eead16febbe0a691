#include "shared/recipe/overrides.h"

#include <charconv>

#include "shared/base/text.h"
#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/merge.h"
#include "shared/recipe/override_parser.h"

namespace ringwright::recipe {
namespace {

class Editor {
 public:
  Editor(Node& root, const Override& change, const Origin& origin) : root_(root), change_(change), origin_(origin) {}

  void apply() {
    switch (change_.action) {
      case Override::Action::change:
        update(false);
        return;
      case Override::Action::force:
        update(true);
        return;
      case Override::Action::remove:
        remove();
        return;
      case Override::Action::add:
        break;
    }
    if (current_value() && !change_.value->is_container())
      refuse("the key '" + change_.key + "' is there already", "a new key", "leave the + out to change it, or use ++");
    update(true);
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& expected, const std::string& action) const {
    fail("RW-RECIPE-013", what, {describe(origin_)}, expected, action);
  }

  [[noreturn]] void refuse_unknown(const Node& map, const std::string& segment) const {
    std::vector<std::string> names;
    for (const auto& entry : map.entries)
      if (entry.first.kind == Kind::text) names.push_back(entry.first.text);
    const std::string near = text::nearest(segment, names);
    refuse("the recipe has no key '" + change_.key + "'",
           near.empty() ? "a key that is there" : "did you mean '" + near + "' instead of '" + segment + "'?",
           "correct the key, or add it: +" + change_.key + "=...");
  }

  // The entry of a map or the element of a list; nullptr when absent. A list's index must be within it.
  Node* child(Node& node, const std::string& segment) const {
    if (node.kind == Kind::map) return node.find(segment);
    size_t index = 0;
    const auto result = std::from_chars(segment.data(), segment.data() + segment.size(), index);
    if (result.ec != std::errc{} || result.ptr != segment.data() + segment.size() || index >= node.items.size())
      refuse("the list before '" + segment + "' in '" + change_.key + "' has " + std::to_string(node.items.size()) + " elements",
             "an index from 0 on within it", "correct the index");
    return &node.items[index];
  }

  Node* behind_reference(Node* node) {
    if (!node) return node;
    Node* referred = referred_container(root_, *node);
    return referred ? referred : node;
  }

  static Node empty_map(const Origin& origin) {
    Node map = make_null(origin);
    map.kind = Kind::map;
    return map;
  }

  // The container that holds the last segment, made on the way where `force` allows it.
  Node& container(bool force) {
    Node* node = &root_;
    for (size_t i = 0; i + 1 < change_.path.size(); ++i) {
      const std::string& segment = change_.path[i];
      Node* next = behind_reference(child(*node, segment));
      if (next && next->is_missing()) refuse("'" + segment + "' in '" + change_.key + "' is still ???", "a map", "give it a value first");
      if (!next && !force) refuse_unknown(*node, segment);
      if (!next) {
        node->entries.emplace_back(make_text(segment, origin_), empty_map(origin_));
        next = &node->entries.back().second;
      }
      if (!next->is_container() && !force)
        refuse("'" + segment + "' in '" + change_.key + "' is " + std::string(to_string(next->kind)) + ", not a map", "a map",
               "use ++ to replace it");
      if (!next->is_container()) *next = empty_map(origin_);
      node = next;
    }
    return *node;
  }

  void update(bool force) {
    Node& holder = container(force);
    const std::string& last = change_.path.back();
    const Node& value = *change_.value;
    Node* old = child(holder, last);
    if (!old && !force) refuse_unknown(holder, last);
    if (!old) {
      holder.entries.emplace_back(make_text(last, origin_), value);
      return;
    }
    Node* target = value.is_container() ? behind_reference(old) : old;
    if (!value.is_container() || !target->is_container() || (value.kind == Kind::list && target->kind == Kind::list)) {
      *target = value;
      return;
    }
    if (value.kind != target->kind)
      refuse("'" + change_.key + "' is " + std::string(to_string(target->kind)) + ", the override gives " + std::string(to_string(value.kind)),
             std::string(to_string(target->kind)), "");
    merge_over(*target, value, root_, force ? NewKeys::add : NewKeys::refuse);
  }

  // nullopt when absent, null or ???.
  std::optional<Node> current_value() {
    Node scratch = root_;
    try {
      Node value = evaluate(scratch, "${" + change_.key + "}", origin_);
      if (value.kind != Kind::null) return value;
    } catch (const Error& error) {
      if (error.parts().code != "RW-RECIPE-009") throw;
    }
    return std::nullopt;
  }

  void remove() {
    const std::optional<Node> value = current_value();
    if (!value) refuse("'" + change_.key + "' cannot be removed: it is not there, or has no value", "a key with a value", "leave the override out");
    if (change_.value && change_.value->kind != Kind::null && !same_value(*change_.value, *value))
      refuse("'" + change_.key + "' is not removed: its value is " + python_text(*value), "the value " + python_text(*change_.value),
             "leave the value out to remove it anyway");
    Node& holder = container(false);
    const std::string& last = change_.path.back();
    if (holder.kind == Kind::map)
      holder.erase(last);
    else
      holder.items.erase(holder.items.begin() + (child(holder, last) - holder.items.data()));
  }

  Node& root_;
  const Override& change_;
  const Origin origin_;
};

}  // namespace

void apply_overrides(Node& root, const std::vector<std::string>& overrides) {
  for (size_t i = 0; i < overrides.size(); ++i) {
    const Origin origin{kCommandLine, static_cast<int>(i) + 1, 1};
    const Override change = parse_override(overrides[i], origin);
    Editor(root, change, {"command line: " + overrides[i]}).apply();
  }
}

}  // namespace ringwright::recipe
