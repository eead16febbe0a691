#include "console/cli/run_course.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

using nlohmann::json;

struct Words {
  std::string level, text;
};

Words of_state(const json& body) {
  const std::string state = body.value("state", ""), reason = body.value("reason", "");
  const char* level = state == "failed" ? "error" : state == "lost" ? "warn" : "info";
  return {level, "run: " + state + (reason.empty() ? "" : ", " + reason)};
}

Words of_checkpoint(const json& body) {
  return {"info", fmt::format("checkpoint of step {} saved: {} ({})", body.value("step", int64_t{0}), body.value("path", ""),
                              text::format_bytes(body.value("bytes", uint64_t{0})))};
}

Words of_segment(const json& body) { return {"info", fmt::format("resumed: segment {}", body.value("segment", int64_t{0}))}; }
Words of_alert(const json& body) { return {"warn", "alert: " + body.value("text", "")}; }

struct Kind {
  const char* name;
  Words (*words)(const json& body);
};
constexpr Kind kKinds[] = {{"run.state", of_state}, {"checkpoint.saved", of_checkpoint}, {"run.segment", of_segment}, {"alert", of_alert}};

}  // namespace

std::vector<history::LogLine> run_course(const history::Reader& reader, const std::string& run, uint64_t after) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  std::vector<wire::Event> events = reader.run_events(run, names, SIZE_MAX);
  std::vector<history::LogLine> lines;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->node_sequence <= after) continue;
    const auto name = event->body.value("name", "");
    const Kind& kind = *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& entry) { return name == entry.name; });
    try {
      Words words = kind.words(event->body);
      lines.push_back({event->node_sequence, event->time_unix_ns, event->rank, std::move(words.level), std::move(words.text)});
    } catch (const json::exception&) {
      continue;  // of another version: not in these words
    }
  }
  return lines;
}

}  // namespace ringwright::cli
