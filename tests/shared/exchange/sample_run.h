// A run that has something of everything, and where it lies.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "shared/exchange/text_export.h"
#include "shared/history/edits.h"
#include "shared/history/store.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::exchange::testing {

using history::testing::log_line;
using history::testing::make_event;
using history::testing::make_run;
using history::testing::metric;

inline constexpr const char* kRun = "r_0badcafe";

// Metrics of two ranks with what is not finite, logs with bytes that are no text, a resume, and a row of each other table.
inline void write_sample_run(const std::filesystem::path& store) {
  history::RunRecord run = make_run(kRun, "sample");
  run.created_unix_ns = 1'700'000'000'000'000'000;
  run.recipe = {{"policy", {{"model_name", "Qwen/Qwen2.5-1.5B"}, {"precision", "bfloat16"}}}};
  {
    history::Writer writer(store, {});
    writer.create_run(run);
    writer.set_state(kRun, history::RunState::running, "");
    writer.set_fingerprint(kRun, {{"node", "machine"}});
    uint64_t sequence = 0;
    for (int64_t step = 1; step <= 20; ++step) {
      writer.append(metric(kRun, 0, ++sequence, step, "train/loss", 3.0 - 0.1 * static_cast<double>(step)));
      writer.append(metric(kRun, 0, ++sequence, step, "train/odd",
                           step % 3 == 0   ? std::nan("")
                           : step % 3 == 1 ? std::numeric_limits<double>::infinity()
                                           : 1e-300));
    }
    writer.append(metric(kRun, 1, 1, 5, "perf/rank_s", 0.25));
    writer.append(log_line(kRun, 0, ++sequence, "two\nlines, \"quotes\" and \xc3\xbc"));
    writer.append(make_event(kRun, wire::Kind::span, 0, ++sequence, {{"phase", "forward"}, {"step", 3}, {"begin_ns", 10}, {"end_ns", 20}}));
    writer.append(make_event(kRun, wire::Kind::sample, 0, ++sequence, {{"step", 3}, {"prompt", "1 + 1"}, {"reply", "2"}}));
    writer.append(
        make_event(kRun, wire::Kind::event, 0, ++sequence, {{"name", "checkpoint.saved"}, {"path", "/somewhere"}, {"step", 10}, {"bytes", 4096}}));
    writer.append(make_event(kRun, wire::Kind::event, 0, ++sequence, {{"name", "fingerprint"}, {"libraries", {{"torch", "2.11"}}}}));
    writer.append(make_event(kRun, wire::Kind::heartbeat, 0, ++sequence, {{"step", 20}, {"resident_bytes", 1000}, {"cpu_seconds", 1.5}}));
    writer.append(make_event(kRun, wire::Kind::event, -1, 0,
                             {{"name", "alert"}, {"kind", "nan"}, {"topic", "train/odd"}, {"text", "train/odd is NaN at step 3"}}));
    writer.append(make_event(kRun, wire::Kind::event, -1, 0, {{"name", "run.segment"}, {"segment", 2}}));
    for (int64_t step = 16; step <= 18; ++step) writer.append(metric(kRun, 0, static_cast<uint64_t>(step), step, "train/loss", 1.0));
    writer.flush();
    writer.set_state(kRun, history::RunState::finished, "");
  }
  history::Editor editor(store);
  editor.add_tag(kRun, "good");
  editor.add_note(kRun, "someone", "a note");
}

// All that the text exports show, to compare two stores.
inline std::string everything(const std::filesystem::path& store, const std::string& id) {
  const history::Reader reader(store);
  history::RunRecord run = reader.run(id);
  run.imported_from.clear();
  if (run.fingerprint.contains("workers")) run.fingerprint["workers"].erase("import");
  std::string text;
  export_jsonl(reader, run, [&](const std::string& line) {
    nlohmann::json row = nlohmann::json::parse(line);
    for (const char* own : {"node_sequence", "key"}) row.erase(own);  // another node numbers in its own way
    text += row.dump() + "\n";
  });
  return text;
}

}  // namespace ringwright::exchange::testing
