// Any recipe, any key, any value: the edit gives what was asked and nothing else, or says that it cannot.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>

#include "shared/recipe/loader.h"
#include "shared/recipe/reader.h"
#include "shared/recipe/recipe.h"
#include "shared/recipe/text_edit.h"
#include "shared/recipe/tree_path.h"
#include "shared/recipe/yaml_text.h"
#include "tests/deep_tier.h"
#include "tests/shared/recipe/yaml_writer.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::recipe {
namespace {

int pick(int n) { return *rc::gen::inRange(0, n); }

// A text that parses; aliases of anchors that lie further down do not.
std::optional<std::string> any_text() {
  std::string text = YamlWriter(pick).document();
  try {
    parse_yaml(text, "r.yaml");
    return text;
  } catch (const Error&) {
    return std::nullopt;
  }
}

Node any_value(int depth = 0) {
  switch (pick(depth > 1 ? 7 : 9)) {
    case 0:
      return make_integer(*rc::gen::arbitrary<int64_t>());
    case 1:
      return make_real(*rc::gen::arbitrary<double>());
    case 2:
      return make_boolean(pick(2) == 1);
    case 3:
      return make_null();
    case 4:
      return make_text(*rc::gen::elementOf(std::vector<std::string>{"",     "yes",     "12",   "a b", " a",  "a: b", "a #b",  "it's", "\"",
                                                                    "x\ny", "é\u2028", "???",  "~",   "- a", "{",    "*x",    "a,b",  "${a}",
                                                                    "1e5",  ".inf",    "0x1F", "=",   "<<",  "#",    "tab\tx"}));
    case 5:
    case 6:
      return make_text(*rc::gen::container<std::string>(rc::gen::suchThat(rc::gen::inRange<char>(' ', '\x7f'), [](char c) { return c != '$'; })));
    case 7: {
      Node list = make_list({});
      for (int i = pick(3); i > 0; --i) list.items.push_back(any_value(depth + 1));
      return list;
    }
    default: {
      Node map = make_null();
      map.kind = Kind::map;
      for (int i = pick(3); i > 0; --i) map.entries.emplace_back(make_text("k" + std::to_string(i)), any_value(depth + 1));
      return map;
    }
  }
}

// Down from the top at random; sometimes on to a key that is not there.
Path any_path(const Node& root, bool may_be_new) {
  Path path;
  const Node* node = &root;
  while (node->is_container() && (path.empty() || pick(4) > 0)) {
    const size_t count = node->kind == Kind::list ? node->items.size() : node->entries.size();
    if (count == 0) break;
    const auto index = static_cast<size_t>(pick(static_cast<int>(count)));
    if (node->kind == Kind::map && node->entries[index].first.kind != Kind::text) break;
    path.push_back(node->kind == Kind::list ? std::to_string(index) : node->entries[index].first.text);
    node = node->kind == Kind::list ? &node->items[index] : &node->entries[index].second;
  }
  if (may_be_new && (path.empty() || node->kind == Kind::map || node->kind == Kind::null) && pick(2) == 0)
    for (int i = 1 + pick(2); i > 0; --i) path.push_back("new" + std::to_string(i));
  return path;
}

// The tree with that value; what is on the way and null becomes a map.
void assign(Node& root, const Path& path, const Node& value) {
  Node* node = &root;
  for (const std::string& segment : path) {
    if (node->kind == Kind::list) {
      node = &node->items[std::stoul(segment)];
      continue;
    }
    if (node->kind == Kind::null) node->kind = Kind::map;
    Node* next = node->find(segment);
    if (!next) {
      node->entries.emplace_back(make_text(segment), make_null());
      next = &node->entries.back().second;
    }
    node = next;
  }
  *node = value;
}

void remove(Node& root, const Path& path) {
  Node& holder = const_cast<Node&>(*find_path(root, path, path.size() - 1));
  if (holder.kind == Kind::list)
    holder.items.erase(holder.items.begin() + std::stol(path.back()));
  else
    holder.erase(path.back());
}

struct Changed {
  std::string before, after;  // the parts that differ
};

Changed differing_part(const std::string& a, const std::string& b) {
  size_t head = 0, tail = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return {a.substr(head, a.size() - head - tail), b.substr(head, b.size() - head - tail)};
}

bool shares(const std::string& text) { return text.find('*') != std::string::npos || text.find("<<") != std::string::npos; }

TextEdit edit_of(TextEdit::Action action, const Path& path, Node value) {
  TextEdit edit = make_set(join_path(path), std::move(value));
  edit.action = action;
  edit.may_be_new = true;
  return edit;
}

// nullopt: refused, which is right only where something is shared.
std::optional<std::string> edited(const std::string& text, const TextEdit& edit) {
  try {
    return edit_text(text, "r.yaml", edit);
  } catch (const Error& error) {
    RC_LOG() << error.parts().code << " " << error.parts().what << "\n" << text;
    RC_ASSERT(error.parts().code == "RW-RECIPE-040");
    RC_ASSERT(shares(text));
    return std::nullopt;
  }
}

void set_gives_what_was_asked() {
  const std::optional<std::string> text = any_text();
  RC_PRE(text.has_value());
  const Node before = parse_yaml(*text, "r.yaml");
  const Path path = any_path(before, true);
  RC_PRE(!path.empty());
  const Node value = any_value();
  const Node* old = find_path(before, path);
  const TextEdit edit = edit_of(TextEdit::Action::set, path, value);
  RC_LOG() << *text << "\n=== " << edit.key << " = " << yaml_text(value, Place::block) << "\n";
  const std::optional<std::string> after = edited(*text, edit);
  if (!after) return;
  RC_LOG() << *after;
  Node expected = before;
  assign(expected, path, value);
  RC_ASSERT(identical(parse_yaml(*after, "r.yaml"), expected));
  RC_ASSERT(edit_text(*after, "r.yaml", edit) == *after);
  const Changed changed = differing_part(*text, *after);
  if (old && identical(*old, value)) {
    RC_ASSERT(*after == *text);
  } else if (!old) {
    const Node* holder = find_path(before, path, path.size() - 1);
    if (holder && holder->kind == Kind::map) RC_ASSERT(changed.before.empty());  // only added to
  } else if (!old->is_container()) {
    RC_ASSERT(changed.before.find("# note") == std::string::npos);
  }
}

void removal_takes_that_key_alone() {
  const std::optional<std::string> text = any_text();
  RC_PRE(text.has_value());
  const Node before = parse_yaml(*text, "r.yaml");
  const Path path = any_path(before, false);
  RC_PRE(!path.empty());
  const TextEdit edit = edit_of(TextEdit::Action::unset, path, make_null());
  RC_LOG() << *text << "\n=== ~" << edit.key << "\n";
  const std::optional<std::string> after = edited(*text, edit);
  if (!after) return;
  RC_LOG() << *after;
  Node expected = before;
  remove(expected, path);
  RC_ASSERT(identical(parse_yaml(*after, "r.yaml"), expected));
}

bool check(const char* what, void (*property)()) { return rc::check(what, property); }

TEST(EditProperties, SettingAKeyGivesThatValueAndNothingElse) { EXPECT_TRUE(check("set", set_gives_what_was_asked)); }
TEST(EditProperties, RemovingAKeyTakesThatKeyAlone) { EXPECT_TRUE(check("unset", removal_takes_that_key_alone)); }

TEST(EditProperties, TextsAndNumbersReadBackAsWhatTheyAre) {
  EXPECT_TRUE(rc::check([] {
    const Node value = any_value();
    for (const Quotes quotes : {Quotes::none, Quotes::single, Quotes::twofold}) {
      RC_ASSERT(identical(*parse_yaml("a: " + yaml_text(value, Place::block, quotes), "r.yaml").find("a"), value));
      RC_ASSERT(identical(*parse_yaml("a: {b: " + yaml_text(value, Place::flow, quotes) + "}", "r.yaml").find("a")->find("b"), value));
    }
  }));
}

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

// Parents with the same few keys, so that they override each other.
TEST(EditProperties, AChainOfFilesLoadsAsAskedAfterAnEditOfItsLast) {
  const ringwright::test::TemporaryFolder folder;
  EXPECT_TRUE(rc::check([&] {
    const int files = 2 + pick(2);
    for (int i = 0; i < files; ++i) {
      const std::optional<std::string> text = any_text();
      const bool stands_alone = text.has_value() && !shares(*text);  // RC_PRE would look at both sides of the &&
      RC_PRE(stands_alone);
      write(folder / (std::to_string(i) + ".yaml"), (i ? "defaults: " + std::to_string(i - 1) + ".yaml\n" : "") + *text);
    }
    const std::filesystem::path last = folder / (std::to_string(files - 1) + ".yaml");
    std::optional<Node> before;
    try {
      before = load_tree(last);
    } catch (const Error&) {
      RC_DISCARD("a list against a map");
    }
    const Path path = any_path(*before, true);
    RC_PRE(!path.empty());
    const TextEdit edit = edit_of(TextEdit::Action::set, path, make_integer(4711));
    try {
      save(edit_recipe(last, {edit}));
    } catch (const Error& error) {
      RC_ASSERT(error.parts().code == "RW-RECIPE-040" || error.parts().code == "RW-RECIPE-007");  // 007: a parent has a list there
      RC_ASSERT(identical(load_tree(last), *before));
      return;
    }
    Node expected = *before;
    assign(expected, path, edit.value);
    RC_ASSERT(identical(load_tree(last), expected));
  }));
}

}  // namespace
}  // namespace ringwright::recipe
