// A history file with hostile contents, made from any bytes, and a look at all of it.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shared/history/maintenance.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::history::testing {

// Takes numbers and texts from bytes; zeros when there are no more.
class ByteSource {
 public:
  explicit ByteSource(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  template <class T>
  T take() {
    T value{};
    const std::string_view part = text(sizeof(T));
    std::memcpy(&value, part.data(), part.size());
    return value;
  }
  std::string_view text(size_t bytes) {
    const std::string_view part = rest_.substr(0, bytes);
    rest_.remove_prefix(part.size());
    return part;
  }

 private:
  std::string_view rest_;
};

// A small file with a row in most tables, in one piece (no write-ahead log).
inline std::string sound_history_bytes() {
  const TemporaryFolder folder;
  {
    Writer writer(folder.store(), {});
    const std::string run = "r_00000001";
    writer.create_run(make_run(run));
    writer.set_fingerprint(run, {{"node", "here"}});
    uint64_t sequence = 0;
    for (int64_t step = 1; step <= 200; ++step) writer.append(metric(run, 0, ++sequence, step, "train/loss", 1.0 / static_cast<double>(step)));
    writer.append(log_line(run, 0, ++sequence, "a line"));
    writer.append(make_event(run, wire::Kind::event, 0, ++sequence, {{"name", "checkpoint.saved"}, {"path", "/x"}, {"step", 5}, {"bytes", 1}}));
    writer.append(make_event(run, wire::Kind::event, 0, ++sequence, {{"name", "alert"}, {"kind", "nan"}, {"text", "NaN"}}));
    writer.append(make_event(run, wire::Kind::span, 0, ++sequence, {{"phase", "forward"}, {"step", 5}, {"begin_ns", 1}, {"end_ns", 2}}));
    writer.append(make_event(run, wire::Kind::sample, 0, ++sequence, {{"step", 5}, {"prompt", "2+2="}, {"reply", "4"}}));
    writer.append(make_event(run, wire::Kind::heartbeat, 0, ++sequence, {{"step", 5}, {"resident_bytes", 1}, {"cpu_seconds", 1.5}}));
    writer.flush();
  }
  SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec("INSERT INTO tag VALUES (1, 'a'); INSERT INTO note VALUES (1, 1, 5, 'me', 'text')");
  SQLite::Database(folder.store(), SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = DELETE");
  std::ifstream in(folder.store(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Puts a value of any type into a column of a table.
inline void change_column(SQLite::Database& database, const std::vector<std::pair<std::string, std::string>>& columns, ByteSource& bytes) {
  const auto& [table, column] = columns[bytes.take<uint16_t>() % columns.size()];
  SQLite::Statement update(database, "UPDATE OR IGNORE \"" + table + "\" SET \"" + column + "\" = ?");
  switch (bytes.take<uint8_t>() % 6) {
    case 0:
      update.bind(1, static_cast<int64_t>(bytes.take<int8_t>()));
      break;
    case 1:
      update.bind(1, bytes.take<int64_t>());
      break;
    case 2:
      update.bind(1, bytes.take<double>());
      break;
    case 3:
      update.bind(1, std::string(bytes.text(bytes.take<uint8_t>())));
      break;
    case 4: {
      const std::string blob(bytes.text(bytes.take<uint8_t>()));
      update.bind(1, blob.data(), static_cast<int>(blob.size()));
      break;
    }
    default:
      update.bind(1, std::string(static_cast<size_t>(bytes.take<uint16_t>()), '['));
  }
  try {
    update.exec();
  } catch (const SQLite::Exception&) {  // a NULL where there may be none
  }
}

inline std::vector<std::pair<std::string, std::string>> columns_of(SQLite::Database& database) {
  std::vector<std::pair<std::string, std::string>> columns;
  SQLite::Statement rows(database,
                         "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2");
  while (rows.executeStep()) columns.emplace_back(rows.getColumn(0).getString(), rows.getColumn(1).getString());
  return columns;
}

// The sound file with some of its rows, or of its bytes, changed as `input` says.
inline void write_hostile_file(const std::filesystem::path& file, std::string sound, std::string_view input) {
  ByteSource bytes(input);
  const bool by_rows = bytes.take<uint8_t>() % 4 != 0;
  while (!by_rows && !bytes.empty()) sound[bytes.take<uint32_t>() % sound.size()] = bytes.take<char>();
  std::ofstream(file, std::ios::binary | std::ios::trunc) << sound;
  if (!by_rows) return;
  SQLite::Database database(file, SQLite::OPEN_READWRITE);
  database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
  static const auto columns = columns_of(database);  // the sound file's: a fuzzer comes by here many times
  while (!bytes.empty()) change_column(database, columns, bytes);
}

struct Calls {
  int done = 0, refused = 0;
  template <class Act>
  void operator()(Act act) {
    try {
      act();
      ++done;
    } catch (const Error&) {
      ++refused;
    }
  }
};

// Every call of the reader; it may only end well or in an Error.
inline Calls read_everything(const std::filesystem::path& file) {
  Calls may_be_refused;
  may_be_refused([&] {
    const Reader reader(file);
    std::set<std::string> ids = {"r_00000001"};
    may_be_refused([&] {
      for (const RunRecord& run : reader.runs()) ids.insert(run.id);
    });
    for (const std::string& id : ids) {
      std::vector<std::string> names = {"train/loss"};
      may_be_refused([&] { reader.run(id); });
      may_be_refused([&] { names = reader.metric_names(id); });
      may_be_refused([&] { reader.metric_summaries(id); });
      for (const std::string& name : names) {
        may_be_refused([&] { reader.metric(id, name); });
        may_be_refused([&] { reader.last_metric(id, name); });
        may_be_refused([&] { reader.metric_range(id, name); });
        for (const StepRange range : {StepRange{0, 200}, StepRange{INT64_MIN, INT64_MAX}, StepRange{50, 60}})
          may_be_refused([&] { reader.reduce(id, name, -1, range, 100); });
      }
      may_be_refused([&] { reader.logs(id, 0, 100, true); });
      may_be_refused([&] { reader.spans(id, INT64_MIN, INT64_MAX); });
      may_be_refused([&] { reader.checkpoints(id); });
      may_be_refused([&] { reader.rank_statuses(id); });
      may_be_refused([&] { reader.samples(id, 100); });
      may_be_refused([&] { reader.run_events(id, 100); });
      may_be_refused([&] { reader.counters(id); });
      may_be_refused([&] { reader.segments(id); });
      may_be_refused([&] { reader.notes(id); });
      may_be_refused([&] { reader.alerts(id); });
    }
    may_be_refused([&] { reader.events(0, UINT64_MAX, 1000); });
    may_be_refused([&] { reader.oldest_journal_sequence(); });
  });
  may_be_refused([&] { check(file, false); });
  return may_be_refused;
}

}  // namespace ringwright::history::testing
