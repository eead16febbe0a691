#include "shared/query/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shared/base/text.h"
#include "shared/query/failure.h"

namespace ringwright::query {
namespace {

struct Entry {
  const char* name;
  Type type;
  const char* sql;
  const char* meaning;
  const char* rows = "";
};

// {now}: the time at which the query is asked.
constexpr Entry kEntries[] = {
    {"id", Type::text, "run.id", "the run's id"},
    {"name", Type::text, "run.name", "its name"},
    {"algorithm", Type::text, "run.algorithm", "sft, ..."},
    {"state", Type::state, "run.state", "where it stands"},
    {"reason", Type::text, "run.reason", "why it failed, was stopped or lost"},
    {"created", Type::time, "nullif(run.created_unix_ns, 0)", "when it was asked for"},
    {"started", Type::time, "nullif(run.started_unix_ns, 0)", "when all its ranks ran"},
    {"ended", Type::time, "nullif(run.ended_unix_ns, 0)", "when it ended"},
    {"elapsed", Type::duration,
     "(CASE WHEN run.duration_ns >= 0 THEN run.duration_ns / 1e9 WHEN run.started_unix_ns > 0 AND coalesce(nullif(run.ended_unix_ns, 0), {now}) >= "
     "run.started_unix_ns THEN (coalesce(nullif(run.ended_unix_ns, 0), {now}) - run.started_unix_ns) / 1e9 END)",
     "from start to end, or to now"},
    {"ranks", Type::number, "run.world_size", "how many ranks it has"},
    {"step", Type::number, "nullif(run.last_step, -1)", "its last step"},
    {"failed_rank", Type::number, "nullif(run.failed_rank, -1)", "the rank that failed"},
    {"segments", Type::number, "run.segment", "1, and one more for each resume"},
    {"checkpoints", Type::number, "(SELECT count(*) FROM checkpoint WHERE checkpoint.run = run.key)", "how many it saved"},
    {"recipe_path", Type::text, "(SELECT path FROM recipe WHERE recipe.run = run.key)", "the recipe's file"},
    {"overrides", Type::text, "(SELECT overrides FROM recipe WHERE recipe.run = run.key)", "the overrides, as a JSON list"},
    {"imported_from", Type::text, "nullif(run.imported_from, '')", "the archive or folder that it was imported from"},
    {"archived", Type::boolean, "run.archived", "put away; without this field in a query such runs are left out"},
    {"tag", Type::list, "tag.tag", "any of its tags", "FROM tag WHERE tag.run = run.key"},
    {"note", Type::list, "note.text", "any of its notes", "FROM note WHERE note.run = run.key"},
    {"alert", Type::list, "alert.kind", "any of its alerts: finished, failed, nan, threshold, stall, straggler, disk, guard",
     "FROM alert WHERE alert.run = run.key"}};

constexpr const char* kAxes[] = {"pp", "dp_replicate", "dp_shard", "cp", "tp"};
constexpr const char* kFamilies[] = {"mesh", "recipe", "fingerprint"};  // names in table setting begin with one of these

// A series `s` is one metric of one rank in one segment. {cut}: the step from which on a later segment hides it, NULL where none does.
constexpr const char* kCut = "(SELECT min(g.first_step) FROM segment g WHERE g.run = s.run AND g.segment > s.segment)";
constexpr const char* kPointValue = "(CASE p.kind WHEN 0 THEN p.value WHEN 2 THEN 9e999 WHEN 3 THEN -9e999 END)";
constexpr const char* kLastValue = "(CASE s.last_kind WHEN 0 THEN s.last_value WHEN 2 THEN 9e999 WHEN 3 THEN -9e999 END)";

// A sum over the points of a run's curve: from the series' own sums where nothing of it is hidden, else from its points.
struct Sum {
  const char* over;    // the series
  const char* whole;   // of one
  const char* points;  // of the points `p` of one
};
constexpr Sum kMinimum = {
    "min", "(CASE WHEN s.negative_infinities > 0 THEN -9e999 ELSE coalesce(s.minimum, CASE WHEN s.positive_infinities > 0 THEN 9e999 END) END)",
    "min({value})"};
constexpr Sum kMaximum = {
    "max", "(CASE WHEN s.positive_infinities > 0 THEN 9e999 ELSE coalesce(s.maximum, CASE WHEN s.negative_infinities > 0 THEN -9e999 END) END)",
    "max({value})"};
constexpr Sum kTotal = {"sum", "s.total", "total(CASE WHEN p.kind = 0 THEN p.value END)"};
constexpr Sum kFinite = {"sum", "s.finite", "sum(p.kind = 0)"};
constexpr Sum kCount = {"sum", "(s.finite + s.nans + s.positive_infinities + s.negative_infinities)", "count(*)"};
constexpr Sum kNans = {"sum", "s.nans", "sum(p.kind = 1)"};
constexpr Sum kInfinities = {"sum", "(s.positive_infinities + s.negative_infinities)", "sum(p.kind > 1)"};

struct Aggregate {
  const char* name;
  const Sum* sum;      // nullptr: a single point
  const Sum* divisor;  // nullptr: none
  const char* order;   // of a single point: by step
};
constexpr Aggregate kAggregates[] = {{"last", nullptr, nullptr, "DESC"}, {"first", nullptr, nullptr, "ASC"}, {"min", &kMinimum, nullptr, ""},
                                     {"max", &kMaximum, nullptr, ""},    {"mean", &kTotal, &kFinite, ""},    {"count", &kCount, nullptr, ""},
                                     {"nan", &kNans, nullptr, ""},       {"inf", &kInfinities, nullptr, ""}};

std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) text.replace(at, name.size(), value);
  return text;
}

std::string joined(const std::vector<std::string>& parts, size_t from, size_t to) {
  std::string text;
  for (size_t i = from; i < to; ++i) text += (i > from ? "." : "") + parts[i];
  return text;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  for (const char* axis : kAxes) names.push_back(std::string("mesh.") + axis);
  return names;
}

Error unknown_field(const FieldName& name, std::vector<std::string> candidates, const std::string& more = "") {
  for (const char* axis : kAxes)
    if (name.text == axis)
      return failure(kUnknownField, "there is no field '" + name.text + "'", name.column, "", "did you mean 'mesh." + name.text + "'?");
  const std::string nearest = text::nearest(name.text, candidates);
  return failure(kUnknownField, "there is no field '" + name.text + "'", name.column,
                 more.empty() ? "a field of the run, mesh.AXIS, recipe.KEY, fingerprint.KEY or METRIC.last" : more,
                 nearest.empty() ? "see the list in: ringwright runs list --help" : "did you mean '" + nearest + "'?");
}

// A leaf of the recipe, the mesh or the fingerprint.
Field setting_field(const FieldName& name, const std::string& family, const Context& context, const Bind& bind) {
  const std::string wanted = joined(name.parts, 0, name.parts.size());
  if (context.vocabulary.setting_names) {
    std::vector<std::string> known = context.vocabulary.setting_names();
    std::erase_if(known, [&](const std::string& setting) { return !setting.starts_with(family + "."); });
    if (!known.empty() && std::find(known.begin(), known.end(), wanted) == known.end())
      throw unknown_field(name, known, "a key below " + family + " that some run has");
  }
  return {family == "mesh" ? Type::number : Type::dynamic,
          "(SELECT value FROM setting WHERE setting.name = (SELECT key FROM setting_name WHERE setting_name.name = " + bind(wanted) +
              ") AND setting.run = run.key)",
          "", ""};
}

std::string series_of(const std::string& metric, const char* rank) {
  return " FROM series s WHERE s.run = run.key AND s.metric = " + metric + " AND s.rank = " + rank;
}

std::string sum_sql(const Sum& sum, const std::string& series) {
  const std::string cut = kCut;
  return std::string("(SELECT ") + sum.over + "(CASE WHEN coalesce(s.last_step < " + cut + ", 1) THEN " + sum.whole + " ELSE (SELECT " +
         replaced(sum.points, "{value}", kPointValue) + " FROM point p WHERE p.series = s.key AND p.step < " + cut + ") END)" + series + ")";
}

// The last or first point of the curve; `whole` is what the series itself says of its last one.
std::string point_sql(const Aggregate& aggregate, const std::string& value, const std::string& whole, const std::string& series) {
  const std::string cut = kCut, order = aggregate.order;
  const std::string of_points =
      "(SELECT " + value + " FROM point p WHERE p.series = s.key AND coalesce(p.step < " + cut + ", 1) ORDER BY p.step " + order + " LIMIT 1)";
  const std::string one =
      whole.empty() ? of_points : "CASE WHEN coalesce(s.last_step < " + cut + ", 1) THEN " + whole + " ELSE " + of_points + " END";
  return "(SELECT " + one + series + " AND coalesce(s.first_step < " + cut + ", 1) ORDER BY s.segment " + order + " LIMIT 1)";
}

// Points of the run as a whole: those of rank 0, else what was recorded for no rank.
std::string of_whole_run(const std::string& metric, const std::function<std::string(const std::string&)>& select) {
  return "coalesce(" + select(series_of(metric, "0")) + ", " + select(series_of(metric, "-1")) + ")";
}

Field metric_field(const std::string& name, const Aggregate& aggregate, const Bind& bind) {
  const std::string metric = "(SELECT key FROM metric_name WHERE metric_name.name = " + bind(name) + ")";
  Field field{Type::metric, "", "", ""};
  const bool last = std::string_view(aggregate.name) == "last";
  if (aggregate.sum) {
    field.sql = of_whole_run(metric, [&](const std::string& series) {
      const std::string sum = sum_sql(*aggregate.sum, series);
      return aggregate.divisor ? "(" + sum + " / nullif(" + sum_sql(*aggregate.divisor, series) + ", 0))" : sum;
    });
  } else {
    field.sql = of_whole_run(metric, [&](const std::string& series) { return point_sql(aggregate, kPointValue, last ? kLastValue : "", series); });
    field.kind_sql =
        of_whole_run(metric, [&](const std::string& series) { return point_sql(aggregate, "p.kind", last ? "s.last_kind" : "", series); });
  }
  return field;
}

// A metric's name as the history has it: "loss" stands for train/loss where no metric is called just so.
std::string metric_named(const FieldName& name, const std::string& wanted, const std::string& aggregate, const std::vector<std::string>* known) {
  const auto is_known = [&](const std::string& metric) { return std::find(known->begin(), known->end(), metric) != known->end(); };
  if (known && is_known(wanted)) return wanted;
  const bool short_form = wanted.find('/') == std::string::npos;
  const std::string in_full = short_form ? "train/" + wanted : wanted;
  if (!known || known->empty() || is_known(in_full)) return in_full;
  std::vector<std::string> candidates = all_names();
  for (const std::string& metric : *known) {
    candidates.push_back(metric + "." + aggregate);
    if (metric.starts_with("train/")) candidates.push_back(metric.substr(6) + "." + aggregate);
  }
  throw unknown_field(name, candidates, "a metric that some run has sent");
}

Field metric_or_nothing(const FieldName& name, const Context& context, const Bind& bind) {
  std::optional<std::vector<std::string>> known;
  if (context.vocabulary.metric_names) known = context.vocabulary.metric_names();
  const size_t count = name.parts.size();
  for (const Aggregate& aggregate : kAggregates)
    if (count > 1 && name.parts.back() == aggregate.name)
      return metric_field(metric_named(name, joined(name.parts, 0, count - 1), aggregate.name, known ? &*known : nullptr), aggregate, bind);
  const auto names_metric = [&](const std::string& metric) { return metric == name.text || metric == "train/" + name.text; };
  if (known && std::any_of(known->begin(), known->end(), names_metric))
    throw failure(kUnknownField, "'" + name.text + "' is a metric, which has many values", name.column,
                  ".last, .first, .min, .max, .mean, .count, .nan or .inf", "write " + name.text + ".last");
  throw unknown_field(name, all_names());
}

const char* type_name(Type type) {
  constexpr const char* kNames[] = {"text", "state", "number", "number", "duration", "time", "true/false", "any", "texts"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace

Field find_field(const FieldName& name, const Context& context, const Bind& bind) {
  if (name.parts.size() == 1)
    for (const Entry& entry : kEntries)
      if (name.parts.front() == entry.name) return {entry.type, replaced(entry.sql, "{now}", std::to_string(context.now_unix_ns)), "", entry.rows};
  for (const char* family : kFamilies)
    if (name.parts.size() > 1 && name.parts.front() == family) return setting_field(name, family, context, bind);
  return metric_or_nothing(name, context, bind);
}

bool is_archived_field(const FieldName& name) { return name.parts.size() == 1 && name.parts.front() == "archived"; }

const std::vector<std::string>& state_names() {
  static const std::vector<std::string> names = {"queued", "starting", "running", "paused", "stopping", "finished", "failed", "stopped", "lost"};
  return names;
}

std::vector<FieldHelp> field_help() {
  std::vector<FieldHelp> help;
  for (const Entry& entry : kEntries)
    help.push_back(
        {entry.name, type_name(entry.type), entry.type == Type::state ? fmt::format("{}", fmt::join(state_names(), ", ")) : entry.meaning});
  help.push_back({"mesh.AXIS", "number", "pp, dp_replicate, dp_shard, cp, tp"});
  help.push_back({"recipe.KEY", "any", "a value of the resolved recipe: recipe.policy.model_name"});
  help.push_back({"fingerprint.KEY", "any", "what the daemon noted of the node: fingerprint.node"});
  help.push_back({"METRIC.last", "number", "also .first .min .max .mean .count .nan .inf; loss.last is train/loss.last"});
  return help;
}

}  // namespace ringwright::query
