// Changes to recorded runs by hand: labels, archiving, deletion, import. Usable while a daemon writes the same file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shared/history/records.h"
#include "shared/wire/message.h"

namespace ringwright::history {

// Fills one run that is being imported; only within Editor::import_run.
class RunImport {
 public:
  // In any order; points of one series in one call go faster. A step that is there already takes the new value.
  void add_points(const std::string& metric, int rank, int64_t segment, const std::vector<MetricPoint>& points);
  void add_segment(const SegmentRecord& segment);
  void add_fingerprint(int64_t segment, const std::string& source, const nlohmann::json& content);
  // Logs, events and samples keep the order in which they are added.
  void add_log(const LogLine& line);
  void add_event(const wire::Event& event, const std::string& name);
  void add_sample(const SampleRecord& sample);
  void add_span(const SpanRecord& span);
  void add_checkpoint(const CheckpointRecord& checkpoint);
  void add_rank_status(const RankStatus& status);
  void add_tag(const std::string& tag);
  void add_note(const NoteRecord& note);
  void add_alert(const AlertRecord& alert);
  void set_counters(const RunCounters& counters);

 private:
  friend class Editor;
  struct Impl;
  explicit RunImport(Impl& impl) : impl_(impl) {}
  Impl& impl_;
};

class Editor {
 public:
  enum class Missing { refuse, create };
  // The file is brought to the newest schema where no daemon has it. Throws Error (exit code 6) as Writer does, but for RW-STORE-003: a daemon may
  // write the file, as long as it has the newest schema. RW-STORE-001 for a missing file that is not to be created.
  explicit Editor(const std::filesystem::path& file, Missing missing = Missing::refuse);
  ~Editor();

  // Each is durable when it returns. `run`: a full id; RW-STORE-009 where there is none.
  // Those of tags and the archive say whether the run was not so already.
  bool add_tag(const std::string& run, const std::string& tag);
  bool remove_tag(const std::string& run, const std::string& tag);
  int64_t add_note(const std::string& run, const std::string& author, const std::string& text);
  void remove_note(const std::string& run, int64_t key);
  bool set_archived(const std::string& run, bool archived);
  // All rows of a run that is over; RW-STORE-012 for one that is not.
  void delete_run(const std::string& run);
  // All of the run, or nothing when `fill` throws. RW-STORE-009 where the id is there already.
  void import_run(const RunRecord& run, const std::function<void(RunImport&)>& fill);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::history
