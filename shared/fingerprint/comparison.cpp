#include "shared/fingerprint/comparison.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace ringwright::fingerprint {
namespace {

using nlohmann::json;

struct Meaning {
  std::string_view prefix;
  Weight weight;
  std::string_view effect;
};

// The first whose prefix fits.
constexpr Meaning kMeanings[] = {
    {"ringwright", Weight::decisive, "another release: anything may differ"},
    {"libraries.libtorch", Weight::decisive, "other operators: sums in another order, losses differ in their last digits"},
    {"libraries.cuda", Weight::decisive, "other GPU kernels: sums in another order"},
    {"libraries.nccl", Weight::decisive, "other reductions over ranks: sums in another order"},
    {"libraries.", Weight::may, "no tensor passes through it"},
    {"backend", Weight::decisive, "other reductions over ranks: sums in another order"},
    {"device", Weight::decisive, "other kernels: sums in another order"},
    {"cpu.cores", Weight::may, "other speed; other thread counts where the recipe does not set them"},
    {"cpu.", Weight::decisive, "other CPU kernels are chosen: sums in another order"},
    {"gpu.driver", Weight::may, "other speed; a driver that is too old refuses the CUDA libraries"},
    {"gpu.", Weight::decisive, "other GPU kernels are chosen: sums in another order"},
    {"memory_bytes", Weight::may, "what fits there may not fit here"},
    {"shm_bytes", Weight::may, "NCCL and data loaders may lack room"},
    {"file_handles.", Weight::may, "many ranks may run out of them"},
    {"ports.", Weight::may, "an explicit port may be free here and not there"},
    {"kernel", Weight::may, "other speed"},
    {"processors", Weight::may, "other speed"},
    {"node", Weight::none, "another machine"},
};

// Without the rank that it is about.
std::string without_rank(const std::string& path) { return path.starts_with("rank ") ? path.substr(path.find(": ") + 2) : path; }

Difference weighed(std::string path, json a, json b) {
  const std::string own = without_rank(path);
  Difference difference{path, std::move(a), std::move(b), Weight::may, ""};
  if (own.starts_with("inputs.")) {
    const size_t begin = std::string_view("inputs.").size();
    const std::string name = own.substr(begin, own.find('.', begin) - begin);
    const bool place = own.ends_with(".path");
    difference.weight = place ? Weight::none : Weight::decisive;
    difference.effect = place ? "the same thing may lie elsewhere: its hash tells" : "not the same " + name;
    return difference;
  }
  for (const Meaning& meaning : kMeanings) {
    if (!own.starts_with(meaning.prefix)) continue;
    difference.weight = meaning.weight;
    difference.effect = meaning.effect;
    break;
  }
  return difference;
}

// Leaves by dotted path; a list is one leaf.
void flatten(const json& value, const std::string& path, std::map<std::string, json>& leaves) {
  if (!value.is_object()) {
    leaves[path] = value;
    return;
  }
  for (const auto& [name, child] : value.items()) flatten(child, path.empty() ? name : path + "." + name, leaves);
}

std::map<std::string, json> leaves_of(const json& fingerprint) {
  std::map<std::string, json> leaves;
  if (!fingerprint.is_object()) return leaves;
  json daemon = fingerprint;
  daemon.erase("workers");
  flatten(daemon, "", leaves);
  const json workers = fingerprint.value("workers", json::object());
  bool first = true;
  for (const auto& [rank, said] : workers.items()) {
    std::map<std::string, json> own;
    flatten(said, "", own);
    for (auto& [path, value] : own) {
      if (first)
        leaves[path] = std::move(value);
      else if (const auto found = leaves.find(path); found == leaves.end() || found->second != value)
        leaves[rank + ": " + path] = std::move(value);
    }
    first = false;
  }
  return leaves;
}

std::string kind_of(const std::string& path) {
  const std::string own = without_rank(path);
  return own.substr(0, own.find('.'));
}

std::set<std::string> kinds_of(const std::map<std::string, json>& leaves) {
  std::set<std::string> kinds;
  for (const auto& [path, value] : leaves) kinds.insert(kind_of(path));
  return kinds;
}

}  // namespace

std::vector<Difference> compare(const json& a, const json& b) {
  const std::map<std::string, json> left = leaves_of(a), right = leaves_of(b);
  const std::set<std::string> left_kinds = kinds_of(left), right_kinds = kinds_of(right);
  std::set<std::string> paths;
  for (const auto* leaves : {&left, &right})
    for (const auto& [path, value] : *leaves) paths.insert(path);
  // A rank that says nothing of its own says what rank 0 says.
  const auto value_in = [](const std::map<std::string, json>& leaves, const std::string& path) {
    auto found = leaves.find(path);
    if (found == leaves.end()) found = leaves.find(without_rank(path));
    return found == leaves.end() ? json(nullptr) : found->second;
  };
  std::vector<Difference> differences;
  for (const std::string& path : paths) {
    if (!left_kinds.contains(kind_of(path)) || !right_kinds.contains(kind_of(path))) continue;
    json in_a = value_in(left, path), in_b = value_in(right, path);
    if (in_a != in_b) differences.push_back(weighed(path, std::move(in_a), std::move(in_b)));
  }
  std::stable_sort(differences.begin(), differences.end(), [](const Difference& x, const Difference& y) { return x.weight > y.weight; });
  return differences;
}

}  // namespace ringwright::fingerprint
