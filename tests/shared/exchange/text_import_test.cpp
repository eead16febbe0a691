#include "shared/exchange/text_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "shared/exchange/import.h"
#include "shared/exchange/text_export.h"
#include "tests/deep_tier.h"
#include "tests/shared/exchange/sample_run.h"
#include "tests/support/error_of.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using nlohmann::json;
using ::testing::HasSubstr;

struct Format {
  const char* file;
  void (*write)(const history::Reader&, const history::RunRecord&, const Write&);
};
constexpr Format kJson{"run.json", export_json}, kLines{"run.jsonl", export_jsonl};

std::string exported(const Format& format, const fs::path& store, const std::string& run = kRun) {
  const history::Reader reader(store);
  std::string text;
  format.write(reader, reader.run(run), [&](const std::string& part) { text += part; });
  return text;
}

class TextImports : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override { write_sample_run(folder_.store()); }

  fs::path other_store() const { return folder_ / "other/history.db"; }
  ImportReport import(const std::string& text, const std::string& name = "") {
    return import_runs(other_store(), folder_.write(GetParam().file, text), name).at(0);
  }
  // What importing the text says; and nothing may be there then.
  ErrorParts refusal(const std::string& text) {
    const ErrorParts parts = test::error_of([&] { import(text); });
    EXPECT_NE(parts.code, "") << "it was imported";
    EXPECT_FALSE(fs::exists(other_store())) << "a store was made for nothing";
    return parts;
  }

  history::testing::TemporaryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Formats, TextImports, ::testing::Values(kJson, kLines),
                         [](const auto& format) { return std::string(format.param.file == kJson.file ? "json" : "jsonl"); });

// T30: a run with NaN, infinities and odd texts, a resume and a row of each kind comes back as it was.
TEST_P(TextImports, ARunComesBack) {
  const ImportReport report = import(exported(GetParam(), folder_.store()));
  EXPECT_EQ(report.run, kRun);
  EXPECT_FALSE(report.already_there);
  EXPECT_EQ(report.points, 34u) << "18 of train/loss, 15 of train/odd, which the resume did not send, and the other rank's";
  EXPECT_EQ(everything(other_store(), kRun), everything(folder_.store(), kRun));
  const history::Reader before(folder_.store()), after(other_store());
  EXPECT_EQ(after.run(kRun).imported_from, (folder_ / GetParam().file).string());
  EXPECT_EQ(after.run(kRun).fingerprint.at("node"), "machine");
  // Where a resume began is still known.
  EXPECT_EQ(after.metric(kRun, "train/loss", 0, -1, 1).size(), 15u);
  EXPECT_EQ(after.metric(kRun, "train/loss", 0, -1, 2).size(), 3u);
  EXPECT_EQ(after.metric(kRun, "train/loss", 0, -1, 2).front().step, before.metric(kRun, "train/loss", 0, -1, 2).front().step);
}

// T30: bit for bit as they were recorded, at the edges of what a number can be (SQLite has no -0).
TEST_P(TextImports, NumbersAndTextsAreKeptToTheBit) {
  const std::vector<double> values = {-0.0, 1e-45, 5e-324, std::numeric_limits<double>::max(), 0.1, -HUGE_VAL, HUGE_VAL, std::nan("")};
  const std::string text = "\xf0\x9f\x90\x9f \xe2\x80\xae \"\\ \t\x01\x7f\n{\"type\":\"end\"}";
  const std::string odd_name = "a/\xc3\xbc \"quoted\", 100%##1";
  {
    history::Writer writer(folder_.store(), {});
    writer.create_run(make_run("r_00000003", text));
    uint64_t sequence = 0;
    for (const double value : values) {
      ++sequence;
      writer.append(metric("r_00000003", 0, sequence, static_cast<int64_t>(sequence), odd_name, value));
    }
    writer.append(log_line("r_00000003", 0, ++sequence, text));
    writer.flush();
    writer.set_state("r_00000003", history::RunState::stopped, text);
  }
  import(exported(GetParam(), folder_.store(), "r_00000003"));
  const history::Reader reader(other_store());
  const std::vector<history::MetricPoint> points = reader.metric("r_00000003", odd_name);
  ASSERT_EQ(points.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::isnan(points[i].value), std::isnan(values[i])) << values[i];
    if (!std::isnan(values[i])) {
      EXPECT_EQ(points[i].value, values[i]);
    }
  }
  EXPECT_EQ(reader.logs("r_00000003", 0, 10, false).at(0).text, text);
  EXPECT_EQ(reader.run("r_00000003").reason, text);
  EXPECT_EQ(reader.run("r_00000003").name, text);
}

TEST_P(TextImports, TheSameRunIsRecognised) {
  const std::string text = exported(GetParam(), folder_.store());
  import(text);
  EXPECT_TRUE(import(text).already_there);
  const std::string other = GetParam().file == kJson.file ? exported(kLines, folder_.store()) : exported(kJson, folder_.store());
  EXPECT_TRUE(import(other, "renamed").already_there) << "the same run in the other format";
  EXPECT_EQ(history::Reader(other_store()).runs().size(), 1u);
}

TEST_P(TextImports, OneThatIsCutOffAnywhereIsRefusedWhole) {
  std::string text = exported(GetParam(), folder_.store());
  while (text.back() == '\n') text.pop_back();
  const size_t step = std::max<size_t>(1, text.size() / test::by_tier<size_t>(30, 1000));
  for (size_t length = 0; length < text.size(); length += step) {
    const std::string code = refusal(text.substr(0, length)).code;
    EXPECT_TRUE(code == "RW-IMPORT-003" || code == "RW-IMPORT-004" || (length == 0 && code == "RW-ARCHIVE-002")) << length << " " << code;
  }
}

TEST_P(TextImports, ANewerVersionIsNamed) {
  std::string text = exported(GetParam(), folder_.store());
  const std::string version = GetParam().file == kJson.file ? "\"export_version\": 2" : "\"export_version\":2";
  ASSERT_NE(text.find(version), text.npos);
  text[text.find(version) + version.size() - 1] = '3';
  const ErrorParts parts = refusal(text);
  EXPECT_EQ(parts.code, "RW-IMPORT-005");
  EXPECT_EQ(parts.exit_code, ExitCode::version_mismatch);
}

TEST_P(TextImports, FoldersPipesAndOtherJsonAreRefused) {
  for (const char* text : {"{}", "{\"type\":\"metric\"}\n", "{\n  \"a\": 1\n}", "{\"run\": 7}", "{\"type\": \"run\"}\n"})
    EXPECT_THAT(refusal(text).code, ::testing::StartsWith("RW-IMPORT-00")) << text;
}

class LineImports : public TextImports {
 protected:
  // The good lines, with one more behind the run.
  std::string with(const std::string& line) const {
    std::string text = exported(kLines, folder_.store());
    return text.insert(text.find('\n') + 1, line + "\n");
  }
};
INSTANTIATE_TEST_SUITE_P(Lines, LineImports, ::testing::Values(kLines), [](const auto&) { return std::string("jsonl"); });

TEST_P(LineImports, RowsThatAreNoneAreRefusedAtTheirLine) {
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  for (const std::string& row : std::vector<std::string>{
           "{}", "null", "[1,2]", "not json", R"({"type":"user"})", R"({"type":3})", R"({"type":"metric"})", R"({"type":"log","text":7})",
           R"({"type":"metric","metric":"a","rank":0,"step":-1,"value":1,"tokens":1,"time_unix_ns":1})",
           R"({"type":"metric","metric":"a","rank":-2,"step":1,"value":1,"tokens":1,"time_unix_ns":1})",
           R"({"type":"metric","metric":"a","rank":0,"step":1.5,"value":1,"tokens":1,"time_unix_ns":1})",
           R"({"type":"metric","metric":"a","rank":0,"step":1,"value":"x","tokens":1,"time_unix_ns":1})",
           R"({"type":"metric","metric":"","rank":0,"step":1,"value":1,"tokens":1,"time_unix_ns":1})", "{\"type\":\"log\",\"x\":" + deep + "}"}) {
    const ErrorParts parts = refusal(with(row));
    EXPECT_EQ(parts.code, "RW-IMPORT-004") << row << " " << parts.what;
    EXPECT_THAT(parts.where, HasSubstr("run.jsonl:2")) << row;
  }
}

// Each line is good, and yet it is not what was exported.
TEST_P(LineImports, LinesThatWereAddedTakenOrStandBehindTheEndAreSeen) {
  EXPECT_EQ(refusal(with(R"({"type":"log","time_unix_ns":1,"rank":0,"level":"info","text":"slipped in"})")).code, "RW-IMPORT-004");
  std::string text = exported(kLines, folder_.store());
  const size_t second = text.find('\n') + 1;
  EXPECT_EQ(refusal(std::string(text).erase(second, text.find('\n', second) + 1 - second)).code, "RW-IMPORT-004");
  EXPECT_THAT(refusal(text + "{\"type\":\"log\"}\n").what, HasSubstr("behind its end"));
  EXPECT_EQ(import(text + "\n\n").run, kRun) << "empty lines are nothing";
}

// Exports of before this program could read them held less and had no end.
TEST_P(LineImports, AnExportOfTheFirstVersionIsTaken) {
  std::istringstream lines(exported(kLines, folder_.store()));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    if (row.at("type") == "run") row["export_version"] = 1;
    for (const char* type : {"run", "metric", "checkpoint", "log"})
      if (row.at("type") == type) text += row.dump() + "\n";
  }
  const ImportReport report = import(text);
  EXPECT_EQ(report.points, 34u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("older kind"));
}

class DocumentImports : public TextImports {};
INSTANTIATE_TEST_SUITE_P(Documents, DocumentImports, ::testing::Values(kJson), [](const auto&) { return std::string("json"); });

TEST_P(DocumentImports, WhatIsNoneIsRefusedAtItsPlace) {
  const auto changed = [&](const char* pointer, const json& value) {
    json document = json::parse(exported(kJson, folder_.store()));
    document[json::json_pointer(pointer)] = value;
    return refusal(document.dump());
  };
  EXPECT_THAT(changed("/metrics/1/points/2/step", -7).where, HasSubstr("metrics[1].points[2]"));
  EXPECT_THAT(changed("/logs/0/text", 7).where, HasSubstr("logs[0]"));
  EXPECT_EQ(changed("/users", json::array({1})).code, "RW-IMPORT-004");
  EXPECT_EQ(changed("/events", 3).code, "RW-IMPORT-004");
  EXPECT_EQ(changed("/metrics/0/points", json::object()).code, "RW-IMPORT-004");
  for (const json& id : {json("r_1"), json("../../etc"), json(3), json()}) EXPECT_EQ(changed("/run/id", id).code, "RW-IMPORT-004") << id;
  EXPECT_EQ(changed("/run/state", "sleeping").code, "RW-IMPORT-004");
  EXPECT_EQ(changed("/run/world_size", 0).code, "RW-IMPORT-004");
  EXPECT_EQ(changed("/export_version", 0).code, "RW-IMPORT-004");
}

// A tool may have sorted the keys, or written it all on one line.
TEST_P(DocumentImports, TheOrderOfKeysAndLinesDoesNotMatter) {
  const std::string text = exported(kJson, folder_.store());
  import("\n  " + json::parse(text).dump());
  EXPECT_EQ(everything(other_store(), kRun), everything(folder_.store(), kRun));
}

}  // namespace
}  // namespace ringwright::exchange
