#include <gmock/gmock.h>
#include <imgui_internal.h>

#include <fstream>

#include "console/gui/services/layouts.h"
#include "console/gui/services/style.h"
#include "console/gui/views/view_layout.h"
#include "console/gui/views/view_logs.h"
#include "console/gui/views/view_runs.h"
#include "shared/history/store.h"
#include "tests/console/gui/console_fixture.h"

namespace ringwright::gui {
namespace {

class Console : public ConsoleTest {};

TEST_F(Console, EachWorkspaceOpensItsViews) {
  open(demo_options(12));
  drive([](ImGuiTestContext* engine) {
    for (const WorkspaceEntry& entry : workspaces()) {
      engine->ItemClick(("//###shell.top/###workspace." + std::string(entry.id)).c_str());
      engine->Yield(3);
      IM_CHECK_STR_EQ(self().context().workspace.c_str(), entry.id);
      for (const std::string& view : entry.views()) IM_CHECK(engine->WindowInfo(("//###view." + view).c_str(), ImGuiTestOpFlags_NoError).ID != 0);
    }
  });
}

TEST_F(Console, AClickOnARowSelectsTheRunEverywhere) {
  open(demo_options(12));
  drive([](ImGuiTestContext* engine) {
    const std::string failed = [] {
      for (const auto& run : self().context().state.runs()) {
        if (run->record.state == history::RunState::failed) return run->record.id;
      }
      return std::string();
    }();
    engine->SetRef("//###view.runs");
    engine->ItemClick(("**/" + failed + "/###row").c_str());
    engine->Yield(2);
    IM_CHECK_STR_EQ(self().context().selection.run.c_str(), failed.c_str());
    IM_CHECK_STR_EQ(self().context().cli_line.c_str(), ("ringwright runs show " + failed).c_str());
    self().context().focus_view = "logs";
    engine->Yield(3);
    auto* logs = dynamic_cast<ViewLogs*>(self().app().shell().view("logs"));
    IM_CHECK(logs->lines_shown() > 0);
  });
}

TEST_F(Console, TheFilterLeavesTheRunsThatMatch) {
  open(demo_options(40));
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.runs");
    engine->ItemInputValue("###runs.filter", "failed");
    engine->Yield(2);
    auto* runs = dynamic_cast<ViewRuns*>(self().app().shell().view("runs"));
    IM_CHECK(!runs->listed().empty());
    for (const auto& run : runs->listed()) IM_CHECK(run->record.state == history::RunState::failed);
    engine->ItemInputValue("###runs.filter", "nothing has this name");
    engine->Yield(2);
    engine->ItemClick("**/###runs.clear");
    engine->Yield(2);
    IM_CHECK_EQ(static_cast<int>(runs->listed().size()), 40);
  });
}

TEST_F(Console, ThePaletteRunsACommandAndSaysWhyOneIsRefused) {
  open(demo_options(6));
  drive([](ImGuiTestContext* engine) {
    const std::string before(theme().name);
    engine->ItemClick("//###shell.top/###palette.open");
    engine->Yield(2);
    engine->KeyChars("dark or light");
    engine->KeyPress(ImGuiKey_Enter);
    engine->Yield(3);
    IM_CHECK(theme().name != before);
    self().context().read_only = true;
    IM_CHECK(!self().context().commands.run("runs.stop", self().context()));
    IM_CHECK_STR_EQ(self().context().toasts.back().notice.text.c_str(),
                    "Stop the chosen runs after their step: the console was started with --read-only");
  });
}

TEST_F(Console, StopAsksNothingAndKillAsks) {
  open(demo_options(3));
  drive([](ImGuiTestContext* engine) {
    const std::string id = self().context().selection.run;
    engine->SetRef("//###view.runs");
    engine->ItemClick("###runs.stop");
    engine->Yield(3);
    IM_CHECK(self().context().state.find(id)->record.state == history::RunState::stopping);
    IM_CHECK_STR_EQ(self().context().cli_line.c_str(), ("ringwright stop " + id).c_str());
    engine->ItemClick("###runs.kill");
    engine->Yield(2);
    engine->ItemClick("//$FOCUSED/###cancel");
    engine->Yield(2);
    IM_CHECK(self().context().state.find(id)->record.state == history::RunState::stopping);
    engine->ItemClick("###runs.kill");
    engine->Yield(2);
    engine->ItemClick("//$FOCUSED/###confirm");
    engine->Yield(3);
    IM_CHECK(self().context().state.find(id)->record.state == history::RunState::stopped);
  });
}

TEST_F(Console, T37RunsOfOneNameAreToldApartByTheirId) {
  open(demo_options(1));
  std::vector<history::RunRecord> records;
  for (const auto& [id, name] : std::vector<std::pair<std::string, std::string>>{
           {"r_a", "same"}, {"r_b", "same"}, {"r_c", "same"}, {"r_d", ""}, {"r_e", "x##1"}, {"r_f", "x##2"}, {"r_g", "x###z"}}) {
    history::RunRecord record;
    record.id = id;
    record.name = name;
    record.state = history::RunState::running;
    record.created_unix_ns = 1;
    records.push_back(record);
  }
  context().state.apply(RunsRead{records});
  for (int column = 0; column < 2; ++column) {
    context().state.apply(wire::Event{"r_a", wire::Kind::metric, 0, 1, 1, 1, {{"step", 1}, {"points", {{"m##1", 1.0}, {"m##2", 2.0}}}}});
  }
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.runs");
    for (const char* id : {"r_a", "r_b", "r_c", "r_d", "r_e", "r_f", "r_g"}) {
      engine->ItemClick(("**/" + std::string(id) + "/###row").c_str());
      engine->Yield(2);
      IM_CHECK_STR_EQ(self().context().selection.run.c_str(), id);
      engine->MouseMove(("**/" + std::string(id) + "/###runs.mark").c_str());
      engine->Yield(2);
      IM_CHECK_LE(ImGui::GetCurrentContext()->HoveredIdPreviousFrameItemCount, 1);
      engine->ItemClick("###runs.stop");
      engine->Yield();
      IM_CHECK_STR_EQ(self().context().cli_line.c_str(), ("ringwright stop " + std::string(id)).c_str());
    }
  });
}

TEST_F(Console, TheLayoutViewPicksRanksAndComparesLayouts) {
  open(demo_options(3, "prepare"));
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.layout");
    engine->ItemClick("**/$$2/###layout.rank");
    engine->Yield(2);
    IM_CHECK_EQ(self().context().selection.rank, 2);
    engine->ItemClick("###layout.step.3");
    auto* view = dynamic_cast<ViewLayout*>(self().app().shell().view("layout"));
    view->ask({"round_robin", 64, 1'000'000, 1'000'000});
    engine->Yield(2);
    IM_CHECK_EQ(static_cast<int>(view->picture().blocks.size()), 128);
    view->ask({"contiguous", 1, 1, 1});
    engine->Yield(2);
    IM_CHECK_EQ(static_cast<int>(view->picture().ranks.size()), 1);
  });
}

TEST_F(Console, TheLayoutViewZoomsFromAMillionTokensToSingleOnes) {
  open(demo_options(3, "layout"));
  drive([](ImGuiTestContext* engine) {
    engine->SetRef("//###view.layout");
    auto* view = dynamic_cast<ViewLayout*>(self().app().shell().view("layout"));
    view->ask({"round_robin", 64, 1'000'000, 999'000});
    engine->Yield(2);
    IM_CHECK(view->zoom().is_whole());
    IM_CHECK_EQ(view->zoom().length(), view->picture().padded_length);
    engine->MouseMove("###layout.strip");
    const int64_t under = view->zoom().position_at(0.5);
    for (int i = 0; i < 60; ++i) engine->MouseWheelY(1);
    engine->Yield(2);
    IM_CHECK_EQ(static_cast<int64_t>(view->zoom().span()), kTokensShownMin);
    IM_CHECK_LE(std::abs(view->zoom().first_shown() - under), kTokensShownMin + 1000);
    const int64_t first = view->zoom().first_shown();
    engine->MouseDragWithDelta(ImVec2(600, 0));  // to the right: earlier tokens
    IM_CHECK_LT(view->zoom().first_shown(), first);
    IM_CHECK_EQ(self().context().selection.rank, -1);  // a drag picks no rank
    engine->KeyPress(ImGuiKey_S);
    IM_CHECK_GT(static_cast<int64_t>(view->zoom().span()), kTokensShownMin);
    engine->ItemClick("###layout.minimap");
    IM_CHECK_LE(std::abs(view->zoom().first_shown() - 500'000), 20'000);
    engine->ItemClick("###layout.fit");
    IM_CHECK(view->zoom().is_whole());
    engine->KeyPress(ImGuiKey_W);
    engine->KeyPress(ImGuiKey_D);
    IM_CHECK_GT(view->zoom().first_shown(), 150'000);
    engine->KeyPress(ImGuiKey_A);
    engine->KeyPress(ImGuiKey_A);
    engine->KeyPress(ImGuiKey_F);
    IM_CHECK(view->zoom().is_whole());
  });
}

TEST_F(Console, ThemeAndScaleChangeAndEveryViewStillDraws) {
  for (const char* name : {"dark", "light"}) {
    for (const float factor : {0.75F, 2.0F}) {
      for (const ViewEntry& entry : view_entries()) {
        Options options = demo_options(12, entry.id.c_str());
        options.theme = name;
        options.scale = factor;
        open(options);
        EXPECT_TRUE(window_is_sound((entry.title + "###view." + entry.id).c_str())) << entry.id;
      }
    }
  }
}

TEST_F(Console, GAndALetterGoToAView) {
  open(demo_options(3));
  drive([](ImGuiTestContext* engine) {
    self().context().focus_view = "logs";
    engine->Yield(3);
    engine->ItemClick("//###view.logs/###logs.level.debug");
    engine->KeyPress(ImGuiKey_G);
    engine->KeyPress(ImGuiKey_M);
    engine->Yield(3);
    IM_CHECK_STR_EQ(ImGui::GetCurrentContext()->NavWindow->RootWindow->Name, "Metrics###view.metrics");
  });
}

TEST_F(Console, EveryCommandHasATitleAndIsListedOnce) {
  open(demo_options(1));
  std::set<std::string> ids, keys;
  for (const Command& command : context().commands.all()) {
    EXPECT_TRUE(ids.insert(command.id).second) << command.id;
    EXPECT_FALSE(command.title.empty());
    EXPECT_TRUE(command.run != nullptr) << command.id;
    if (command.chord != 0) {
      EXPECT_TRUE(keys.insert(command.view + " " + command.keys).second) << command.keys << " is taken twice in view '" << command.view << "'";
    }
  }
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

std::string with_every(std::string text, const std::string& key, const std::string& value) {
  std::string result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result += (line.starts_with(key) ? key + value : line) + "\n";
  return result;
}

class DamagedLayouts : public Console {};

TEST_F(DamagedLayouts, T38TheConsoleStartsWithEveryKindOfLayoutFile) {
  const std::filesystem::path store = folder_.path() / "history.db";
  {
    history::Writer writer(store, {});
  }
  Options options;
  options.store = store;
  options.scale = 1;
  open(options);
  frames(2);
  app().shell().save();
  const std::filesystem::path file = layout_file("watch");
  std::ifstream stream(file);
  const std::string good((std::istreambuf_iterator<char>(stream)), {});
  ASSERT_EQ(layout_fault(good), "");
  ASSERT_NE(good.find("DockNode"), std::string::npos);

  const std::string split = good.substr(0, good.rfind("  DockNode"));
  const std::map<std::string, std::string> damaged = {
      {"truncated", good.substr(0, good.size() / 2)},
      {"random bytes", std::string("\x7f\x01[Window][\xff]\n\0Pos=\n", 20)},
      {"node of height 0", replaced(good, "SizeRef=", "SizeRef=0,0 Old=")},
      {"split with one child", split + "\n; end\n"},
      {"windows of 15x3", with_every(good, "Size=", "15,3")},
      {"off the screen", with_every(good, "Pos=", "-5000,-5000")},
      {"50 MB", std::string(50 << 20, 'x')},
  };
  for (const auto& [kind, text] : damaged) {
    application_.reset();
    write(file, text);
    open(options);
    ASSERT_EQ(context().toasts.size(), 1u) << kind;
    EXPECT_THAT(context().toasts.back().notice.text, ::testing::HasSubstr("kept as layout-watch.ini.damaged-")) << kind;
    for (const char* name : {"Runs###view.runs", "Metrics###view.metrics", "Logs###view.logs"})
      EXPECT_TRUE(window_is_sound(name)) << kind << ", " << name;
  }
  application_.reset();
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  open(options);
  EXPECT_THAT(context().toasts.back().notice.text, ::testing::HasSubstr("it is no file"));
  application_.reset();
  write(file, good);
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  open(options);
  EXPECT_TRUE(context().toasts.empty()) << "a good file that is read-only is used";
  app().shell().save();
  EXPECT_EQ(layout_fault([&] {
              std::ifstream again(file);
              return std::string((std::istreambuf_iterator<char>(again)), {});
            }()),
            "");
}

TEST_F(Console, AnEmptyHistorySaysWhatToDoNext) {
  const std::filesystem::path store = folder_.path() / "history.db";
  {
    history::Writer writer(store, {});
  }
  Options options;
  options.store = store;
  open(options);
  EXPECT_TRUE(eventually([&] { return context().state.runs_known(); }));
  EXPECT_EQ(context().state.link().state, LinkState::local);
  EXPECT_TRUE(context().commands.refusal("runs.stop", context()).has_value());
}

TEST_F(Console, AHistoryFileShowsItsRunsAndFollowsNewPoints) {
  const std::filesystem::path store = folder_.path() / "history.db";
  history::Writer writer(store, {});
  history::RunRecord record;
  record.id = "r_0000000a";
  record.name = "recorded";
  record.algorithm = "sft";
  record.mesh = {{"cp", 2}};
  record.recipe = record.fingerprint = nlohmann::json::object();
  record.created_unix_ns = 1;
  writer.create_run(record);
  writer.set_state(record.id, history::RunState::running, "");
  const auto send = [&](int64_t step, double loss) {
    writer.append({record.id,
                   wire::Kind::metric,
                   0,
                   static_cast<uint64_t>(step),
                   0,
                   step,
                   {{"step", step}, {"tokens", step}, {"points", {{"train/loss", loss}}}}});
    writer.flush();
  };
  send(1, 2.0);
  Options options;
  options.store = store;
  open(options);
  const auto wait_for = [&](size_t points) {
    return eventually([&] {
      const auto run = context().state.find(record.id);
      return run && run->metrics.contains("train/loss") && run->metrics["train/loss"]->size() == points;
    });
  };
  EXPECT_TRUE(wait_for(1));
  send(2, 1.5);
  EXPECT_TRUE(wait_for(2));
  EXPECT_EQ(context().state.find(record.id)->record.last_step, 2);
}

}  // namespace
}  // namespace ringwright::gui
