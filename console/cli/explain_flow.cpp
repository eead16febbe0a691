#include "console/cli/explain_flow.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/cli/run_launch.h"
#include "console/cli/run_text.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "shared/support_matrix/recipe_flow.h"

namespace ringwright::cli {
namespace {

using nlohmann::ordered_json;
using support_matrix::RecipeFlow;

void print_flow(const RecipeFlow& flow) {
  const flow::StepSizes& sizes = flow.sizes;
  fmt::print("{} of {} over dp {} x cp {} x tp {}, one microbatch of {} x {} tokens\n", styled("one step", Style::bold), flow.algorithm, sizes.dp,
             sizes.cp, sizes.tp, sizes.rows, sizes.length);
  if (!flow.note.empty()) fmt::print("{}\n", styled(flow.note, Style::warning));
  Table table({{"", Align::right}, {"stage"}, {"makes"}, {"how", Align::left, true}, {"where"}});
  int number = 0;
  const std::vector<flow::StageText> stages = flow::path(flow.engine, flow.loss, sizes);
  for (const flow::StageText& stage : stages)
    table.add_row({std::to_string(++number), std::string(stage.name), flow::shape_text(stage.shape), stage.note, std::string(stage.place)});
  fmt::print("\n");
  table.print();
  fmt::print("\n{}\n\n{}\n", flow::legend(stages), styled("scale of the loss before backward", Style::bold));
  for (const support_matrix::TargetScale& each : support_matrix::loss_scales(flow))
    fmt::print("  {:<14} {}\n", support_matrix::kTargetNames[static_cast<size_t>(each.target)], each.scale.words);
}

ordered_json to_json(const RecipeFlow& flow) {
  ordered_json json = {{"algorithm", flow.algorithm}, {"note", flow.note}, {"dp", flow.sizes.dp}, {"cp", flow.sizes.cp}, {"tp", flow.sizes.tp}};
  for (const flow::StageText& stage : flow::path(flow.engine, flow.loss, flow.sizes)) {
    ordered_json shape = ordered_json::array();
    for (const flow::Dimension& each : stage.shape)
      shape.push_back({{"letter", each.letter}, {"size", each.size > 0 ? ordered_json(each.size) : ordered_json()}});
    json["stages"].push_back({{"stage", stage.name}, {"shape", shape}, {"how", stage.note}, {"where", stage.place}});
  }
  for (const support_matrix::TargetScale& each : support_matrix::loss_scales(flow))
    json["scales"][std::string(support_matrix::kTargetNames[static_cast<size_t>(each.target)])] = {
        {"averaged_over", each.scale.averaged_over}, {"fanout", each.scale.fanout}, {"factor", each.scale.factor}, {"words", each.scale.words}};
  return json;
}

}  // namespace

int explain_flow(const std::vector<std::string>& words, const std::string& model, const Invocation& invocation) {
  support_matrix::CheckOptions options;
  options.model_folder = model;
  const RecipeFlow flow = support_matrix::recipe_flow(load_one_recipe(words), options);
  if (invocation.json) {
    fmt::print("{}", dump_ordered_document(to_json(flow)));
  } else {
    print_flow(flow);
  }
  return 0;
}

}  // namespace ringwright::cli
