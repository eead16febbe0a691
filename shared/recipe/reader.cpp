#include "shared/recipe/reader.h"

#include <utf8proc.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "shared/base/files.h"
#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_index.h"
#include "shared/recipe/scalar.h"

namespace ringwright::recipe {
namespace {

constexpr size_t kFileBytesMax = 16 << 20;
constexpr size_t kNodesMax = 1'000'000;  // aliases copy what they name, so a small file could become any size
constexpr std::string_view kYamlTagPrefix = "tag:yaml.org,2002:";

// Whether PyYAML's reader lets the character through.
bool is_printable(utf8proc_int32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || c == 0x85 || (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd) ||
         (c >= 0x10000 && c <= 0x10ffff);
}

void check_characters(std::string_view text, const std::string& file) {
  Origin at{file, 1, 1};
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t code_point = 0;
    const auto bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i), static_cast<utf8proc_ssize_t>(text.size() - i), &code_point);
    if (bytes <= 0) fail("RW-RECIPE-001", "the file is not UTF-8 text", at, "UTF-8", "save it as UTF-8");
    if (!is_printable(code_point))
      fail("RW-RECIPE-002", "a control character that YAML does not allow", at, "printable text", "remove it, or escape it in double quotes");
    i += static_cast<size_t>(bytes);
    ++at.column;
    if (code_point == '\n') ++at.line, at.column = 1;
  }
}

// yaml-cpp hands anchors over as numbers; 0 is none.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string file) : file_(std::move(file)) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make_null(place(mark)), anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      fail("RW-RECIPE-004", "an alias inside the value that it names", place(mark), "an anchor whose value has ended before", "");
    Node copy = found->second;
    count(copy, place(mark));
    add(std::move(copy), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const Origin at = place(mark);
    const bool plain = tag == "?";
    if (plain && in_flow() && (value.starts_with('?') || value.starts_with(':')))
      fail("RW-RECIPE-002", "inside [] or {} a text must not begin with '" + value.substr(0, 1) + "'", at, "a quoted text", "write '" + value + "'");
    add(scalar(tag, value, at), anchor, plain && value == "<<");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(Kind::list, "seq", mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(Kind::map, "map", mark, tag, anchor, style);
  }
  void OnMapEnd() override { close(); }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    if (!names_.insert(name).second)
      fail("RW-RECIPE-004", "the anchor &" + name + " is there twice", place(mark), "a name of its own for each anchor", "rename one");
  }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool flow = false;
    bool has_key = false;
    bool key_is_merge = false;
    Node key;
    KeyIndex keys;                    // of node
    std::vector<Node> merged;         // what << named, in order
    std::set<std::string> text_keys;  // as written here, to find duplicates
  };

  Origin place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }
  bool in_flow() const { return !stack_.empty() && stack_.back().flow; }

  Node scalar(const std::string& tag, const std::string& value, const Origin& at) const {
    if (tag == "!") return make_text(value, at);
    if (tag == "?") {
      if (auto node = plain_scalar(value, at)) return *node;
      fail("RW-RECIPE-002", "'" + value + "' has a meaning of its own in YAML", at, "a quoted text", "write '" + value + "'");
    }
    if (tag.starts_with(kYamlTagPrefix))
      if (auto node = tagged_scalar(std::string_view(tag).substr(kYamlTagPrefix.size()), value, at)) return *node;
    fail("RW-RECIPE-004", "'" + value + "' cannot be read with the tag " + tag, at, "!!str, !!int, !!float, !!bool or !!null with a value that fits",
         "remove the tag");
  }

  void open(Kind kind, std::string_view plain_tag, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style) {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != std::string(kYamlTagPrefix) + std::string(plain_tag))
      fail("RW-RECIPE-004", "the tag " + tag + " is not supported", place(mark), "plain lists and maps", "remove the tag");
    Open open;
    open.node.kind = kind;
    open.node.origin = place(mark);
    open.anchor = anchor;
    open.flow = style == YAML::EmitterStyle::Flow || in_flow();
    stack_.push_back(std::move(open));
  }

  void close() {
    Open closed = std::move(stack_.back());
    stack_.pop_back();
    apply_merges(closed);
    add(std::move(closed.node), closed.anchor);
  }

  void count(const Node& node, const Origin& at) {
    if (++nodes_ > kNodesMax)
      fail("RW-RECIPE-015", "the file has too many values", at, "at most " + std::to_string(kNodesMax) + ", aliases counted in full", "");
    for (const Node& item : node.items) count(item, at);
    for (const auto& [key, value] : node.entries) count(value, at);
  }

  void add(Node node, YAML::anchor_t anchor, bool merge_key = false) {
    if (anchor) anchors_[anchor] = node;
    if (++nodes_ > kNodesMax) fail("RW-RECIPE-015", "the file has too many values", node.origin, "at most " + std::to_string(kNodesMax), "");
    if (stack_.empty()) {
      root_ = std::move(node);
    } else if (stack_.back().node.kind == Kind::list) {
      stack_.back().node.items.push_back(std::move(node));
    } else if (!stack_.back().has_key) {
      take_key(stack_.back(), std::move(node), merge_key);
    } else {
      take_value(stack_.back(), std::move(node));
    }
  }

  static void take_key(Open& map, Node key, bool merge_key) {
    if (key.is_container()) fail("RW-RECIPE-002", "a list or a map cannot be a key", key.origin, "text or a number", "");
    map.has_key = true;
    map.key_is_merge = merge_key;
    if (key.kind == Kind::text && !merge_key && !map.text_keys.insert(key.text).second)
      fail("RW-RECIPE-003", "the key '" + key.text + "' is there twice in one map", key.origin, "each key once", "remove one of them");
    map.key = std::move(key);
  }

  static void take_value(Open& map, Node value) {
    map.has_key = false;
    if (map.key_is_merge) {
      map.merged.push_back(std::move(value));
      return;
    }
    map.keys.set(map.node.entries, std::move(map.key), std::move(value));
  }

  // What << names fills in what the map itself does not say; of several maps in a list the first wins.
  static void apply_merges(Open& map) {
    for (const Node& merged : map.merged) {
      if (merged.kind == Kind::map) {
        fill_in(map, merged);
        continue;
      }
      if (merged.kind != Kind::list) fail("RW-RECIPE-002", "<< needs a map or a list of maps", merged.origin, "an alias of a map", "");
      for (const Node& item : merged.items) {
        if (item.kind != Kind::map) fail("RW-RECIPE-002", "<< needs a map or a list of maps", item.origin, "an alias of a map", "");
        fill_in(map, item);
      }
    }
  }

  static void fill_in(Open& map, const Node& merged) {
    for (const auto& [key, value] : merged.entries)
      if (!map.keys.find(map.node.entries, key)) map.node.entries.emplace_back(key, value);
  }

  std::string file_;
  Node root_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::set<std::string> names_;
  size_t nodes_ = 0;
};

void check_interpolations(const Node& node) {
  if (node.kind == Kind::text) check_interpolation(node.text, node.origin);
  for (const Node& item : node.items) check_interpolations(item);
  for (const auto& [key, value] : node.entries) check_interpolations(value);
}

// Empty: no values. A text alone is a map with that key (as OmegaConf makes of it).
Node as_map(Node root) {
  const Origin origin = root.origin;
  if (root.kind == Kind::map) return root;
  if (root.kind != Kind::null && root.kind != Kind::text)
    fail("RW-RECIPE-005", "the recipe is " + std::string(to_string(root.kind)) + " at its top", origin, "a map of sections", "");
  Node map;
  map.kind = Kind::map;
  map.origin = origin;
  if (root.kind == Kind::text) map.entries.emplace_back(std::move(root), make_null(origin));
  return map;
}

Node parse_documents(std::string_view text, const std::string& file) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder(file);
  if (!parser.HandleNextDocument(builder)) {
    Node empty;
    empty.origin = {file, 1, 1};
    return empty;
  }
  TreeBuilder surplus(file);
  if (parser.HandleNextDocument(surplus))
    fail("RW-RECIPE-002", "the file holds more than one document", surplus.take_root().origin, "one document", "remove what follows ---");
  return builder.take_root();
}

[[noreturn]] void too_large(const std::string& file) { fail("RW-RECIPE-015", "the recipe is too large", {file}, "at most 16 MiB"); }

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty())
    fail("RW-RECIPE-001", "this is " + kind + ", not a recipe", {file.string()}, "a YAML file", "name a file");
  try {
    return files::read_all(file, kFileBytesMax);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::file_too_large) too_large(file.string());
    fail("RW-RECIPE-001", "the recipe cannot be read: " + error.code().message(), {file.string()}, "a YAML file that you may read", "check the path");
  }
}

Node parse_yaml(std::string_view text, const std::string& file_name) {
  if (text.size() > kFileBytesMax) too_large(file_name);
  check_characters(text, file_name);
  try {
    Node root = as_map(parse_documents(text, file_name));
    check_interpolations(root);
    return root;
  } catch (const YAML::Exception& error) {
    fail("RW-RECIPE-002", "the YAML does not parse: " + error.msg, {file_name, error.mark.line + 1, error.mark.column + 1}, "",
         "correct the file there");
  }
}

}  // namespace ringwright::recipe
