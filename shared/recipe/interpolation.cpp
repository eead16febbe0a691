#include "shared/recipe/interpolation.h"

#include <charconv>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "shared/recipe/expression.h"
#include "shared/recipe/failure.h"
#include "shared/recipe/key_index.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/resolvers.h"

namespace ringwright::recipe {
namespace {

constexpr int kChainMax = 200;                 // references that need references
constexpr size_t kCopiedNodesMax = 1'000'000;  // references to maps copy them, so a small recipe could become any size
constexpr size_t kTextBytesMax = 1 << 20;

struct DepthGuard {
  int& depth;
  DepthGuard(int& depth, const Origin& origin) : depth(depth) {
    if (++depth > kChainMax)
      fail("RW-RECIPE-015", "references that need references, too many deep", origin, "at most " + std::to_string(kChainMax), "");
  }
  ~DepthGuard() { --depth; }
};

// Resolves in place. Nodes keep their addresses: only a text that is replaced gets new children, and those are final.
class Evaluator {
 public:
  explicit Evaluator(Node& root) : root_(root) { note_parents(root); }

  void resolve(Node& node) {
    if (node.kind != Kind::text && !node.is_container()) return;
    if (node.kind == Kind::text && (node.final || !has_interpolation(node.text))) return;
    if (!in_progress_.insert(&node).second)
      fail("RW-RECIPE-011", "the value needs itself" + quoted(node), node.origin, "references without a circle", "give one of them a value");
    if (node.kind == Kind::text)
      replace(node);
    else
      for_each_child(node, [&](Node& child) { resolve(child); });
    in_progress_.erase(&node);
  }

  Node evaluate_text(const std::string& text, Node& holder) { return evaluate(parse_text_expression(text, holder.origin), holder); }

  // The node that a text refers to if it is a reference and nothing else; nullptr otherwise.
  Node* referred(Node& holder) {
    if (holder.kind != Kind::text || holder.final || !has_interpolation(holder.text)) return nullptr;
    const Expression expression = parse_text_expression(holder.text, holder.origin);
    const DepthGuard guard(depth_, holder.origin);
    if (expression.children.size() != 1 || expression.children[0].type != Expression::Type::reference) return nullptr;
    Node* node = walk(key_of(expression.children[0], holder), holder, true);
    if (Node* further = node ? referred(*node) : nullptr) return further;
    return node;
  }

 private:
  template <typename Visit>
  static void for_each_child(Node& node, Visit visit) {
    for (Node& item : node.items) visit(item);
    for (auto& entry : node.entries) visit(entry.second);
  }

  static std::string quoted(const Node& node) { return node.kind == Kind::text ? ": " + node.text : std::string(); }

  void note_parents(Node& node) {
    for_each_child(node, [&](Node& child) {
      parents_[&child] = &node;
      note_parents(child);
    });
  }

  void replace(Node& node) {
    const DepthGuard guard(depth_, node.origin);
    const Origin origin = node.origin;
    Node value = evaluate_text(node.text, node);
    finish(value, origin);
    value.origin = origin;
    node = std::move(value);
  }

  // Marks what was computed: a text with ${ in it, from an escape or the environment, is not looked at again.
  void finish(Node& node, const Origin& origin) {
    if (++copied_nodes_ > kCopiedNodesMax)
      fail("RW-RECIPE-015", "references copy too many values", origin, "at most " + std::to_string(kCopiedNodesMax), "");
    if (node.kind == Kind::text) node.final = true;
    if (node.kind == Kind::text && node.text.size() > kTextBytesMax) fail("RW-RECIPE-015", "the text becomes too long", origin, "at most 1 MiB", "");
    if (node.origin.line == 0) node.origin = origin;
    for_each_child(node, [&](Node& child) { finish(child, origin); });
  }

  Node evaluate(const Expression& expression, Node& holder) {
    switch (expression.type) {
      case Expression::Type::literal:
        return expression.value;
      case Expression::Type::joined:
        return evaluate_joined(expression, holder);
      case Expression::Type::reference:
        return evaluate_reference(expression, holder);
      case Expression::Type::resolver:
        return evaluate_resolver(expression, holder);
      case Expression::Type::list: {
        Node list = make_list({}, holder.origin);
        for (const Expression& child : expression.children) list.items.push_back(evaluate(child, holder));
        return list;
      }
      case Expression::Type::map:
        break;
    }
    Node map = make_null(holder.origin);
    map.kind = Kind::map;
    KeyIndex keys;
    for (size_t i = 0; i + 1 < expression.children.size(); i += 2)
      keys.set(map.entries, evaluate(expression.children[i], holder), evaluate(expression.children[i + 1], holder));
    return map;
  }

  Node evaluate_joined(const Expression& expression, Node& holder) {
    if (expression.children.size() == 1) return evaluate(expression.children[0], holder);
    std::string text;
    for (const Expression& child : expression.children) {
      text += python_text(evaluate(child, holder));
      if (text.size() > kTextBytesMax) fail("RW-RECIPE-015", "the text becomes too long", holder.origin, "at most 1 MiB", "");
    }
    return make_text(std::move(text), holder.origin);
  }

  std::string key_of(const Expression& reference, Node& holder) {
    std::string key;
    for (const Expression& piece : reference.children) {
      const Node part = evaluate(piece, holder);
      if (part.kind != Kind::text)
        fail("RW-RECIPE-009", "a reference inside a key gives " + std::string(to_string(part.kind)), holder.origin, "text", "");
      key += part.text;
    }
    return key;
  }

  Node evaluate_reference(const Expression& expression, Node& holder) {
    const std::string key = key_of(expression, holder);
    Node* target = walk(key, holder, true);
    if (!target) names_nothing(key, holder);
    if (target->is_missing())
      fail("RW-RECIPE-009", "${" + key + "} names a value that is still ???", holder.origin, "a value",
           "give " + key + " a value, in the file or on the command line");
    resolve(*target);
    return *target;
  }

  [[noreturn]] void names_nothing(const std::string& key, const Node& holder) {
    const auto names_below = [&](const std::string& section) {
      const Node* node = &root_;
      if (!section.empty())
        for (const std::string& segment : segments_of_key(section)) node = node ? node->find(segment) : nullptr;
      std::vector<std::string> names;
      if (node)
        for (const auto& [name, value] : node->entries) names.push_back(name.text);
      return names;
    };
    const std::string what = "${" + key + "} names nothing in this recipe";
    if (const auto other = find_misspelt(key, names_below))
      fail("RW-RECIPE-009", what + ", but there is " + other->key + ", a key that is not known", holder.origin, "a key that is there",
           "write " + other->meant + " instead of " + other->written);
    fail("RW-RECIPE-009", what, holder.origin, "a key that is there", "correct it, or add the key");
  }

  Node evaluate_resolver(const Expression& expression, Node& holder) {
    const std::string name = python_text(evaluate(expression.children[0], holder));
    std::vector<Node> arguments;
    for (size_t i = 1; i < expression.children.size(); ++i) arguments.push_back(evaluate(expression.children[i], holder));
    const ResolverContext context{holder.origin,
                                  [&](const std::string& key) -> const Node* {
                                    Node* found = walk(key, holder, true);
                                    if (!found || found->is_missing()) return nullptr;
                                    resolve(*found);
                                    return found;
                                  },
                                  [&](const std::string& text) { return evaluate(parse_element_expression(text, holder.origin), holder); }};
    return call_resolver(name, arguments, context);
  }

  // The node of a dotted key; leading dots start at the holder's parent. References on the way are followed.
  Node* walk(const std::string& key, Node& holder, bool follow) {
    size_t dots = 0;
    while (dots < key.size() && key[dots] == '.') ++dots;
    Node* node = dots == 0 ? &root_ : &holder;
    for (size_t i = 0; i < dots && node; ++i) {
      const auto parent = parents_.find(node);
      node = parent == parents_.end() ? nullptr : parent->second;
    }
    for (const std::string& segment : split_key(std::string_view(key).substr(dots))) {
      if (!node) return nullptr;
      if (follow) follow_reference(*node);
      node = child(*node, segment);
    }
    return node;
  }

  void follow_reference(Node& node) {
    if (node.kind == Kind::text) resolve(node);
  }

  static Node* child(Node& node, const std::string& segment) {
    if (node.kind == Kind::map) return node.find(segment);
    if (node.kind != Kind::list) return nullptr;
    size_t index = 0;
    const auto result = std::from_chars(segment.data(), segment.data() + segment.size(), index);
    if (result.ec != std::errc{} || result.ptr != segment.data() + segment.size() || index >= node.items.size()) return nullptr;
    return &node.items[index];
  }

  Node& root_;
  std::unordered_map<const Node*, Node*> parents_;
  std::unordered_set<const Node*> in_progress_;
  size_t copied_nodes_ = 0;
  int depth_ = 0;
};

Node& node_at(Node& root, const Position& position) {
  Node* node = &root;
  for (const size_t index : position) node = node->kind == Kind::list ? &node->items.at(index) : &node->entries.at(index).second;
  return *node;
}

bool find_position(const Node& node, const Node* wanted, Position& position) {
  if (&node == wanted) return true;
  const auto enter = [&](const Node& child, size_t index) {
    position.push_back(index);
    if (find_position(child, wanted, position)) return true;
    position.pop_back();
    return false;
  };
  for (size_t i = 0; i < node.items.size(); ++i)
    if (enter(node.items[i], i)) return true;
  for (size_t i = 0; i < node.entries.size(); ++i)
    if (enter(node.entries[i].second, i)) return true;
  return false;
}

}  // namespace

void check_interpolation(const std::string& text, const Origin& origin) {
  if (has_interpolation(text)) parse_text_expression(text, origin);
}

void resolve_interpolations(Node& root) { Evaluator(root).resolve(root); }

Node* referred_container(Node& root, const Node& holder) {
  if (holder.kind != Kind::text || !has_interpolation(holder.text)) return nullptr;
  Position at_holder;
  if (!find_position(root, &holder, at_holder)) return nullptr;
  Node scratch = root;
  Position at_target;
  try {
    Evaluator evaluator(scratch);
    const Node* target = evaluator.referred(node_at(scratch, at_holder));
    if (!target || !target->is_container() || !find_position(scratch, target, at_target)) return nullptr;
    return &node_at(root, at_target);
  } catch (const Error&) {
    return nullptr;  // a reference that does not resolve yet: the merge replaces it, as upstream does
  } catch (const std::out_of_range&) {
    return nullptr;  // the target exists only behind another reference
  }
}

Node evaluate(Node& root, const std::string& text, const Origin& origin) {
  Node holder = make_text(text, origin);
  Evaluator evaluator(root);
  return has_interpolation(text) ? evaluator.evaluate_text(text, holder) : holder;
}

std::vector<std::string> split_key(std::string_view key) {
  std::vector<std::string> segments;
  std::string segment;
  const auto flush = [&](bool keep_empty) {
    if (keep_empty || !segment.empty()) segments.push_back(segment);
    segment.clear();
  };
  bool after_bracket = false;
  for (const char c : key) {
    if (c == '[') {
      flush(false);
    } else if (c == ']') {
      flush(true);
      after_bracket = true;
      continue;
    } else if (c == '.') {
      flush(!after_bracket);
    } else {
      segment += c;
    }
    after_bracket = false;
  }
  flush(!after_bracket && !key.empty());
  return segments;
}

}  // namespace ringwright::recipe
