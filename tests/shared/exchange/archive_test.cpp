#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "shared/exchange/archive_file.h"
#include "shared/exchange/import.h"
#include "shared/exchange/record_json.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/run_archive.h"
#include "shared/fingerprint/inputs.h"
#include "tests/deep_tier.h"
#include "tests/shared/exchange/sample_run.h"
#include "tests/support/error_of.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using nlohmann::json;
using ::testing::HasSubstr;

class Archives : public ::testing::Test {
 protected:
  void SetUp() override { write_sample_run(folder_.store()); }

  std::string exported() const {
    const history::Reader reader(folder_.store());
    std::string bytes;
    export_archive(reader, reader.run(kRun), [&](const std::string& part) { bytes += part; });
    return bytes;
  }
  fs::path other_store() const { return folder_ / "other/history.db"; }
  // What importing these bytes says; and nothing may be there then.
  ErrorParts refusal(const std::string& bytes) {
    const fs::path file = folder_.write("bad.tar.zst", bytes);
    const ErrorParts parts = test::error_of([&] { import_runs(other_store(), file); });
    EXPECT_NE(parts.code, "") << "it was imported";
    EXPECT_FALSE(fs::exists(other_store())) << "a store was made for nothing";
    return parts;
  }

  history::testing::TemporaryFolder folder_;
};

TEST_F(Archives, ARunComesBackWithAllThatItHad) {
  const fs::path file = folder_.write("run.tar.zst", exported());
  const std::vector<ImportReport> reports = import_runs(other_store(), file);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].run, kRun);
  EXPECT_FALSE(reports[0].already_there);
  EXPECT_EQ(reports[0].points, 44u);
  EXPECT_EQ(everything(other_store(), kRun), everything(folder_.store(), kRun));
  const history::Reader before(folder_.store()), after(other_store());
  for (const int64_t segment : {1, 2})
    EXPECT_EQ(after.metric(kRun, "train/loss", 0, -1, segment).size(), before.metric(kRun, "train/loss", 0, -1, segment).size());
  EXPECT_EQ(after.metric(kRun, "train/loss").back().step, before.metric(kRun, "train/loss").back().step);
  EXPECT_EQ(after.spans(kRun, 0, 100).size(), 1u);
  EXPECT_EQ(after.samples(kRun, 10).size(), 1u);
  EXPECT_EQ(after.rank_statuses(kRun).size(), before.rank_statuses(kRun).size());
  EXPECT_EQ(after.run_events(kRun, 100).size(), before.run_events(kRun, 100).size());
  ASSERT_EQ(after.notes(kRun).size(), 1u);
  EXPECT_EQ(after.notes(kRun)[0].text, "a note");
  ASSERT_EQ(after.alerts(kRun).size(), 1u);
  EXPECT_EQ(after.alerts(kRun)[0].topic, "train/odd");
  EXPECT_EQ(after.run(kRun).tags, std::vector<std::string>{"good"});
  EXPECT_EQ(after.run(kRun).imported_from, file.string());
  EXPECT_EQ(to_json(after.counters(kRun)), to_json(before.counters(kRun)));
}

TEST_F(Archives, TheSameRunGivesTheSameBytes) { EXPECT_EQ(exported(), exported()); }

TEST_F(Archives, ImportedTwiceIsRecognised) {
  const fs::path file = folder_.write("run.tar.zst", exported());
  import_runs(other_store(), file);
  const std::string before = everything(other_store(), kRun);
  const std::vector<ImportReport> again = import_runs(other_store(), file, "another name");
  EXPECT_TRUE(again.at(0).already_there);
  EXPECT_EQ(everything(other_store(), kRun), before);
  EXPECT_TRUE(import_runs(folder_.store(), file).at(0).already_there) << "it is where it came from";
  EXPECT_EQ(history::Reader(other_store()).runs().size(), 1u);
}

// Two machines may have given one id to two runs.
TEST_F(Archives, AnotherRunWithItsIdDoesNotStandInTheWay) {
  const fs::path file = folder_.write("run.tar.zst", exported());
  {
    history::Writer writer(other_store(), {});
    writer.create_run(make_run(kRun, "something else"));
    writer.set_state(kRun, history::RunState::failed, "");
  }
  const ImportReport first = import_runs(other_store(), file).at(0);
  EXPECT_NE(first.run, kRun);
  EXPECT_FALSE(first.already_there);
  EXPECT_EQ(history::Reader(other_store()).run(first.run).name, "sample");
  const ImportReport second = import_runs(other_store(), file).at(0);
  EXPECT_EQ(second.run, first.run);
  EXPECT_TRUE(second.already_there);
}

TEST_F(Archives, ARunThatWasGoingOnIsLostThere) {
  {
    history::Writer writer(folder_.store(), {});
    writer.create_run(make_run("r_00000002", "going on"));
  }
  const history::Reader reader(folder_.store());
  std::string bytes;
  export_archive(reader, reader.run("r_00000002"), [&](const std::string& part) { bytes += part; });
  const ImportReport report = import_runs(other_store(), folder_.write("run.tar.zst", bytes), "renamed").at(0);
  const history::RunRecord run = history::Reader(other_store()).run(report.run);
  EXPECT_EQ(run.state, history::RunState::lost);
  EXPECT_EQ(run.name, "renamed");
}

TEST_F(Archives, OneThatIsCutOffAnywhereIsRefusedWhole) {
  const std::string bytes = exported();
  const size_t step = std::max<size_t>(1, bytes.size() / test::by_tier<size_t>(60, 2000));
  constexpr size_t kFrameEnd = 8;  // the last bytes say only that there is no more: all that the manifest names stands before them
  for (size_t length = 0; length + kFrameEnd < bytes.size(); length += step) {
    const ErrorParts parts = refusal(bytes.substr(0, length));
    EXPECT_TRUE(parts.code == "RW-ARCHIVE-002" || parts.code == "RW-ARCHIVE-003") << length << " " << parts.code << " " << parts.what;
  }
}

TEST_F(Archives, OneWithATurnedBitIsRefusedOrTheSame) {
  const std::string good = exported(), run = everything(folder_.store(), kRun);
  const size_t step = std::max<size_t>(1, good.size() / test::by_tier<size_t>(60, 2000));
  for (size_t at = 0; at < good.size(); at += step) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x04);
    const fs::path file = folder_.write("bad.tar.zst", bad);
    if (test::error_code([&] { import_runs(other_store(), file); }) != "none") continue;
    EXPECT_EQ(everything(other_store(), kRun), run) << at;  // a bit of tar's padding, say
    fs::remove_all(other_store().parent_path());
  }
}

// Archives with whatever one likes in them.
struct Item {
  std::string name, content;
  unsigned type = AE_IFREG;
  std::string link = {};
};

std::string packed(const std::vector<Item>& items, bool hard_links = false) {
  std::string bytes;
  archive* handle = archive_write_new();
  archive_write_set_format_pax_restricted(handle);
  archive_write_add_filter_zstd(handle);
  archive_write_set_bytes_in_last_block(handle, 1);  // no zeros behind the frame
  archive_write_open2(
      handle, &bytes, nullptr,
      [](archive*, void* into, const void* data, size_t count) -> la_ssize_t {
        static_cast<std::string*>(into)->append(static_cast<const char*>(data), count);
        return static_cast<la_ssize_t>(count);
      },
      nullptr, nullptr);
  for (const Item& item : items) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.name.c_str());
    archive_entry_set_filetype(entry, item.type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(item.content.size()));
    if (!item.link.empty()) hard_links ? archive_entry_set_hardlink(entry, item.link.c_str()) : archive_entry_set_symlink(entry, item.link.c_str());
    archive_write_header(handle, entry);
    archive_write_data(handle, item.content.data(), item.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(handle);
  archive_write_free(handle);
  return bytes;
}

class HostileArchives : public Archives {
 protected:
  // The good archive's entries.
  std::vector<Item> items() const {
    const fs::path file = folder_.write("good.tar.zst", exported());
    ArchiveReader reader(file);
    std::vector<Item> all;
    while (auto entry = reader.next()) all.push_back({entry->name, entry->content});
    return all;
  }
  Item& named(std::vector<Item>& all, const std::string& name) {
    return *std::find_if(all.begin(), all.end(), [&](const Item& item) { return item.name == name; });
  }
  // With the hashes of what is in it.
  std::string with_manifest(std::vector<Item> all) {
    json files = {{"run.json", {{"xxh3", fingerprint::xxh3_of_text(named(all, "run.json").content)}}}};
    for (const Item& item : all)
      if (item.name.ends_with(".jsonl"))
        files[item.name] = {{"rows", std::count(item.content.begin(), item.content.end(), '\n')}, {"xxh3", fingerprint::xxh3_of_text(item.content)}};
    named(all, "manifest.json").content = json{{"files", files}}.dump();
    return packed(all);
  }
};

TEST_F(HostileArchives, TheGoodOneIsGoodWhenItIsPackedAgain) {
  const fs::path file = folder_.write("again.tar.zst", with_manifest(items()));
  EXPECT_EQ(import_runs(other_store(), file).at(0).points, 44u);
}

TEST_F(HostileArchives, PathsAndNamesThatAreNoneOfOursAreRefused) {
  for (const char* name : {"../evil.jsonl", "/etc/evil.jsonl", "a/b.jsonl", "..", ".hidden", "UPPER.jsonl", "metrics-00001.jsonl ", "shell.sh",
                           "users-00001.jsonl", "metrics-1.jsonl"}) {
    std::vector<Item> all = items();
    all.insert(all.begin() + 1, {name, "{}\n"});
    EXPECT_EQ(refusal(packed(all)).code, "RW-ARCHIVE-004") << name;
    EXPECT_FALSE(fs::exists(folder_ / "evil.jsonl"));
  }
}

TEST_F(HostileArchives, LinksFoldersAndDevicesAreRefused) {
  const auto with = [&](Item item, bool hard = false) {
    std::vector<Item> all = items();
    all.insert(all.begin() + 1, std::move(item));
    return refusal(packed(all, hard)).code;
  };
  EXPECT_EQ(with({"logs-00009.jsonl", "", AE_IFLNK, "/etc/passwd"}), "RW-ARCHIVE-004");
  EXPECT_EQ(with({"logs-00009.jsonl", "", AE_IFREG, "run.json"}, true), "RW-ARCHIVE-004");
  EXPECT_EQ(with({"logs-00009.jsonl", "", AE_IFDIR}), "RW-ARCHIVE-004");
  EXPECT_EQ(with({"logs-00009.jsonl", "", AE_IFIFO}), "RW-ARCHIVE-004");
}

TEST_F(HostileArchives, BombsAreRefusedBeforeTheyUnpack) {
  std::vector<Item> all = items();
  const std::string zeros(kEntryBytesMax, '0');
  all.insert(all.begin() + 1, {"logs-00009.jsonl", zeros + "0"});
  EXPECT_EQ(refusal(packed(all)).code, "RW-ARCHIVE-004");
  all[1] = {"manifest.json", zeros};  // is not looked into before it is whole
  all.insert(all.begin(), {"run.json", zeros});
  EXPECT_NE(refusal(packed(all)).code, "");
  const fs::path file = folder_.write("bomb.tar.zst", packed({{"a.a", zeros}, {"b.b", zeros}, {"c.c", zeros}}));
  ArchiveReader reader(file);
  const std::string code = test::error_code([&] {
    while (reader.next()) continue;
  });
  EXPECT_EQ(code, "RW-ARCHIVE-004") << "96 MiB from some kilobytes";
}

TEST_F(HostileArchives, EntriesTwiceMissingOrBehindTheEndAreRefused) {
  std::vector<Item> twice = items(), missing = items(), behind = items(), no_manifest = items(), empty;
  twice.insert(twice.begin() + 2, twice[1]);
  missing.erase(missing.begin() + 1);
  behind.push_back({"logs-00077.jsonl", ""});
  no_manifest.pop_back();
  EXPECT_EQ(refusal(packed(twice)).code, "RW-ARCHIVE-004");
  EXPECT_EQ(refusal(packed(missing)).code, "RW-ARCHIVE-003");
  EXPECT_EQ(refusal(packed(behind)).code, "RW-ARCHIVE-003");
  EXPECT_EQ(refusal(packed(no_manifest)).code, "RW-ARCHIVE-003");
  EXPECT_EQ(refusal(packed(empty)).code, "RW-ARCHIVE-002");
  EXPECT_EQ(refusal(packed({{"readme.txt", "hello"}})).code, "RW-ARCHIVE-002");
  EXPECT_EQ(refusal("no archive at all, but a text that is long enough").code, "RW-ARCHIVE-002");
  EXPECT_EQ(refusal("").code, "RW-ARCHIVE-002");
}

TEST_F(HostileArchives, RowsThatAreNoneAreRefusedAtTheirLine) {
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  for (const std::string& row : std::vector<std::string>{
           "", "{}", "null", "[1,2]", "not json", "{\"metric\":\"a\"}",
           R"({"metric":"a","rank":0,"segment":1,"steps":[1,2],"values":[1],"tokens":[1],"times_unix_ns":[1]})",
           R"({"metric":"a","rank":0,"segment":1,"steps":[-1],"values":[1],"tokens":[1],"times_unix_ns":[1]})",
           R"({"metric":"a","rank":-2,"segment":1,"steps":[1],"values":[1],"tokens":[1],"times_unix_ns":[1]})",
           R"({"metric":"a","rank":0,"segment":0,"steps":[1],"values":[1],"tokens":[1],"times_unix_ns":[1]})",
           R"({"metric":"","rank":0,"segment":1,"steps":[1],"values":[1],"tokens":[1],"times_unix_ns":[1]})",
           R"({"metric":"a","rank":0,"segment":1,"steps":[1],"values":["x"],"tokens":[1],"times_unix_ns":[1]})",
           R"({"metric":7,"rank":0,"segment":1,"steps":{},"values":{},"tokens":{},"times_unix_ns":{}})", "{\"metric\":" + deep + "}"}) {
    std::vector<Item> all = items();
    Item& metrics = named(all, "metrics-00001.jsonl");
    metrics.content += row + "\n";
    const ErrorParts parts = refusal(with_manifest(all));
    EXPECT_EQ(parts.code, "RW-ARCHIVE-003") << row << " " << parts.what;
    EXPECT_THAT(parts.where, HasSubstr("metrics-00001.jsonl")) << row;
  }
  std::vector<Item> all = items();
  named(all, "metrics-00001.jsonl").content += "{}";  // a line without an end
  EXPECT_EQ(refusal(with_manifest(all)).code, "RW-ARCHIVE-003");
}

TEST_F(HostileArchives, ARunThatIsNoneIsRefused) {
  const auto code = [&](const char* key, const json& value) {
    std::vector<Item> all = items();
    json head = json::parse(all[0].content);
    head.at("run")[key] = value;
    all[0].content = head.dump();
    return refusal(packed(all)).code;
  };
  for (const json& id : {json("r_1"), json("r_0BADCAFE"), json("../../etc"), json("r_0badcaf'"), json(3), json()})
    EXPECT_EQ(code("id", id), "RW-ARCHIVE-003") << id;
  EXPECT_EQ(code("state", "sleeping"), "RW-ARCHIVE-003");
  EXPECT_EQ(code("world_size", 0), "RW-ARCHIVE-003");
  EXPECT_EQ(code("world_size", 1e30), "RW-ARCHIVE-003");
  EXPECT_EQ(code("mesh", "x"), "RW-ARCHIVE-003");
  EXPECT_EQ(code("tags", {1, 2}), "RW-ARCHIVE-003");
}

TEST_F(HostileArchives, ANewerVersionIsNamed) {
  std::vector<Item> all = items();
  json head = json::parse(all[0].content);
  head["version"] = kArchiveVersion + 1;
  all[0].content = head.dump();
  const ErrorParts parts = refusal(packed(all));
  EXPECT_EQ(parts.code, "RW-ARCHIVE-006");
  EXPECT_EQ(parts.exit_code, ExitCode::version_mismatch);
}

TEST_F(Archives, WhatIsNoFileIsRefused) {
  EXPECT_EQ(test::error_code([&] { import_runs(other_store(), folder_ / "none"); }), "RW-ARCHIVE-001");
  EXPECT_EQ(test::error_code([&] { import_runs(other_store(), "/dev/null"); }), "RW-ARCHIVE-001");
}

// What tests/fuzz/fuzz_archive starts from: whole archives in each packing, and the lines of each kind of file.
TEST(ArchiveSeeds, AreGood) {
  const fs::path folder = fs::path(RINGWRIGHT_SOURCE_DIR) / "tests/fuzz/corpus/fuzz_archive";
  for (const char* name : {"whole.tar", "whole.tar.gz", "whole.tar.zst"}) {
    size_t rows = 0;
    EXPECT_EQ(read_archive(folder / name, [&](Row&&) { ++rows; }).id, "r_00000001") << name;
    EXPECT_GT(rows, 10U) << name;
  }
  std::set<std::string> kinds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream lines(entry.path());
    std::string line;
    if (!std::getline(lines, line) || !line.starts_with("rows:") || line == "rows:run") continue;
    const std::string kind = line.substr(5);
    while (std::getline(lines, line)) EXPECT_EQ(file_of(row_from_json(kind, nlohmann::json::parse(line))), kind) << line;
    kinds.insert(kind);
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Row>);
}

}  // namespace
}  // namespace ringwright::exchange
