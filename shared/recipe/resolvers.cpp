#include "shared/recipe/resolvers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "shared/base/text.h"
#include "shared/recipe/failure.h"

namespace ringwright::recipe {
namespace {

constexpr size_t kResultItemsMax = 1'000'000;

using Arguments = std::vector<Node>;
using Function = Node (*)(const Arguments&, const ResolverContext&);

struct Resolver {
  std::string_view name;
  size_t arguments_min, arguments_max;
  Function function;
};

bool is_integer(const Node& node) { return node.kind == Kind::integer || node.kind == Kind::boolean; }
bool is_number(const Node& node) { return is_integer(node) || node.kind == Kind::real; }
int64_t integer(const Node& node) { return node.kind == Kind::boolean ? node.boolean : node.integer; }
double real(const Node& node) { return node.kind == Kind::real ? node.real : static_cast<double>(integer(node)); }

[[noreturn]] void refuse_kinds(std::string_view name, const Arguments& arguments, const ResolverContext& context) {
  fail("RW-RECIPE-010",
       "${" + std::string(name) + ":...} cannot take " + std::string(to_string(arguments[0].kind)) + " and " +
           std::string(to_string(arguments[1].kind)),
       context.origin, "two numbers", "give values that fit");
}

[[noreturn]] void refuse_size(std::string_view name, const ResolverContext& context) {
  fail("RW-RECIPE-015", "the result of ${" + std::string(name) + ":...} is too large", context.origin,
       "a whole number within 64 bits, or at most a million characters or items", "");
}

Node add(const Arguments& a, const ResolverContext& context) {
  if (is_integer(a[0]) && is_integer(a[1])) {
    int64_t sum = 0;
    if (__builtin_add_overflow(integer(a[0]), integer(a[1]), &sum)) refuse_size("add", context);
    return make_integer(sum);
  }
  if (is_number(a[0]) && is_number(a[1])) return make_real(real(a[0]) + real(a[1]));
  if (a[0].kind == Kind::text && a[1].kind == Kind::text) {
    if (a[0].text.size() + a[1].text.size() > kResultItemsMax) refuse_size("add", context);
    return make_text(a[0].text + a[1].text);
  }
  if (a[0].kind != Kind::list || a[1].kind != Kind::list) refuse_kinds("add", a, context);
  if (a[0].items.size() + a[1].items.size() > kResultItemsMax) refuse_size("add", context);
  Node sum = a[0];
  sum.items.insert(sum.items.end(), a[1].items.begin(), a[1].items.end());
  return sum;
}

// Text or list, so many times.
Node repeat(const Node& what, int64_t count, const ResolverContext& context) {
  const size_t size = what.kind == Kind::text ? what.text.size() : what.items.size();
  const size_t times = count > 0 ? static_cast<size_t>(count) : 0;
  if (size > 0 && times > kResultItemsMax / size) refuse_size("mul", context);
  Node result = what.kind == Kind::text ? make_text("") : make_list({});
  for (size_t i = 0; size > 0 && i < times; ++i) {
    result.text += what.text;
    result.items.insert(result.items.end(), what.items.begin(), what.items.end());
  }
  return result;
}

Node multiply(const Arguments& a, const ResolverContext& context) {
  const auto repeats = [](const Node& what, const Node& count) { return (what.kind == Kind::text || what.kind == Kind::list) && is_integer(count); };
  if (repeats(a[0], a[1])) return repeat(a[0], integer(a[1]), context);
  if (repeats(a[1], a[0])) return repeat(a[1], integer(a[0]), context);
  if (!is_number(a[0]) || !is_number(a[1])) refuse_kinds("mul", a, context);
  if (!is_integer(a[0]) || !is_integer(a[1])) return make_real(real(a[0]) * real(a[1]));
  int64_t product = 0;
  if (__builtin_mul_overflow(integer(a[0]), integer(a[1]), &product)) refuse_size("mul", context);
  return make_integer(product);
}

// Always a float, as Python's "/".
Node divide(const Arguments& a, const ResolverContext& context) {
  if (!is_number(a[0]) || !is_number(a[1])) refuse_kinds("div", a, context);
  if (real(a[1]) == 0) fail("RW-RECIPE-010", "${div:...} divides by zero", context.origin, "a divisor other than 0", "");
  return make_real(real(a[0]) / real(a[1]));
}

// Of equals the first.
Node larger(const Arguments& a, const ResolverContext& context) {
  if (is_number(a[0]) && is_number(a[1])) {
    const bool second = is_integer(a[0]) && is_integer(a[1]) ? integer(a[1]) > integer(a[0]) : real(a[1]) > real(a[0]);
    return second ? a[1] : a[0];
  }
  if (a[0].kind != Kind::text || a[1].kind != Kind::text) refuse_kinds("max", a, context);
  return a[1].text > a[0].text ? a[1] : a[0];
}

Node environment(const Arguments& a, const ResolverContext& context) {
  if (a[0].kind != Kind::text) fail("RW-RECIPE-010", "${oc.env:...} needs a variable's name", context.origin, "${oc.env:NAME, default}", "");
  if (const char* value = std::getenv(a[0].text.c_str())) return make_text(value);
  if (a.size() == 1)
    fail("RW-RECIPE-010", "the environment variable " + a[0].text + " is not set", context.origin, "",
         "set it, or give a default: ${oc.env:" + a[0].text + ", value}");
  return a[1].kind == Kind::null ? make_null() : make_text(python_text(a[1]));
}

Node decode(const Arguments& a, const ResolverContext& context) {
  if (a[0].kind == Kind::null) return make_null();
  if (a[0].kind != Kind::text)
    fail("RW-RECIPE-010", "${oc.decode:...} reads text, this is " + std::string(to_string(a[0].kind)), context.origin, "text", "");
  return context.decode(a[0].text);
}

Node select(const Arguments& a, const ResolverContext& context) {
  if (a[0].kind != Kind::text) fail("RW-RECIPE-010", "${oc.select:...} needs a key", context.origin, "${oc.select:section.key, default}", "");
  if (const Node* found = context.select(a[0].text)) return *found;
  return a.size() > 1 ? a[1] : make_null();
}

Node create(const Arguments& a, const ResolverContext&) { return a[0]; }

const Node& map_argument(const Node& argument, const ResolverContext& context) {
  const Node* map = argument.kind == Kind::text ? context.select(argument.text) : &argument;
  if (!map || map->kind != Kind::map)
    fail("RW-RECIPE-010", "${oc.dict.keys:...} and ${oc.dict.values:...} need a map or the key of one", context.origin, "a map", "");
  return *map;
}

Node keys(const Arguments& a, const ResolverContext& context) {
  Node list = make_list({});
  for (const auto& entry : map_argument(a[0], context).entries) list.items.push_back(entry.first);
  return list;
}

Node values(const Arguments& a, const ResolverContext& context) {
  Node list = make_list({});
  for (const auto& entry : map_argument(a[0], context).entries) list.items.push_back(entry.second);
  return list;
}

constexpr Resolver kResolvers[] = {
    {"add", 2, 2, add},
    {"mul", 2, 2, multiply},
    {"div", 2, 2, divide},
    {"max", 2, 2, larger},
    {"oc.env", 1, 2, environment},
    {"oc.decode", 1, 1, decode},
    {"oc.select", 1, 2, select},
    {"oc.create", 1, 1, create},
    {"oc.dict.keys", 1, 1, keys},
    {"oc.dict.values", 1, 1, values},
};

std::string all_names() {
  std::string names;
  for (const Resolver& resolver : kResolvers) names += (names.empty() ? "" : ", ") + std::string(resolver.name);
  return names;
}

}  // namespace

Node call_resolver(const std::string& name, const std::vector<Node>& arguments, const ResolverContext& context) {
  const auto* found = std::find_if(std::begin(kResolvers), std::end(kResolvers), [&](const Resolver& resolver) { return resolver.name == name; });
  if (found == std::end(kResolvers))
    fail("RW-RECIPE-010", "there is no resolver '" + name + "'", context.origin, "one of " + all_names(),
         name == "sub" ? "later revisions of NeMo RL have it, those of the targets do not: ${add:a, ${mul:-1, b}}"
                       : "use one of these, or write the value");
  if (arguments.size() < found->arguments_min || arguments.size() > found->arguments_max) {
    const std::string wanted = found->arguments_min == found->arguments_max
                                   ? std::to_string(found->arguments_min)
                                   : std::to_string(found->arguments_min) + " or " + std::to_string(found->arguments_max);
    fail("RW-RECIPE-010", "${" + name + ":...} has " + std::to_string(arguments.size()) + " arguments", context.origin, wanted, "");
  }
  return found->function(arguments, context);
}

}  // namespace ringwright::recipe
