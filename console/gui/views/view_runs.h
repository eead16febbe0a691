// Runs: find them with a query, choose and mark them, act on them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "console/gui/data/background.h"
#include "console/gui/data/run_columns.h"
#include "console/gui/data/run_search.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

class ViewRuns : public View {
 public:
  void add_commands(CommandRegistry& registry) override;
  void draw(Context& context) override;
  void focus_filter() override { focus_filter_ = true; }

  // Runs that pass the filter, in table order.
  const std::vector<std::shared_ptr<Run>>& listed() const { return listed_; }
  void set_filter(std::string filter) { filter_ = std::move(filter); }
  // What is wrong with the query; nothing when it is good.
  const std::optional<ErrorParts>& query_error() const { return found_.error(); }

 private:
  struct FoundRuns {
    std::string text;
    std::vector<std::string> ids;
    double seconds;
  };
  struct ExtraColumn {
    std::string name;
    ColumnName column;
  };
  using Summaries = std::map<std::pair<std::string, std::string>, history::MetricSummary>;  // by run and metric

  void search(Context& context);
  void list_runs(const Context& context);
  void read_columns(const Context& context);
  void ask_for_summaries(Context& context);
  void show_column(Context& context, const std::string& name, bool on);
  void click_row(Context& context, const std::string& id);
  void draw_box(Context& context);
  void draw_below_box(const Context& context, ImVec2 box);
  void draw_completions();
  void draw_column_chooser(Context& context);
  void draw_table(Context& context, float height);
  void draw_row(Context& context, const std::shared_ptr<Run>& run);
  void draw_row_menu(Context& context, const std::string& id);
  void draw_extra(const Run& run, const ExtraColumn& column);
  void draw_footer(Context& context);
  static void draw_facts(const Context& context, const Run& run, float width);
  void draw_buttons(Context& context);
  static void draw_commands(Context& context);

  std::string filter_, asked_filter_, column_filter_;
  uint64_t asked_version_ = 0;
  double asked_at_ = 0;
  Question<FoundRuns> found_;
  std::optional<FoundRuns> good_;  // the last query that was one
  Question<Summaries> summaries_;
  std::set<std::string> summarized_, summarized_runs_;  // metrics, and ids of runs, that were asked for last
  std::vector<QueryField> fields_;
  size_t fields_version_ = 0;
  std::vector<ExtraColumn> extra_;
  nlohmann::json read_names_ = nlohmann::json::array();
  bool focus_filter_ = false, box_active_ = false, columns_wanted_ = false, more_wanted_ = false;
  int sort_column_ = -1;
  bool sort_descending_ = false;
  std::vector<std::shared_ptr<Run>> listed_;
};

}  // namespace ringwright::gui
