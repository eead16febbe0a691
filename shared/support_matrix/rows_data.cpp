// Level 1: what the data is made of.
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {

const Rows& data_rows() {
  static const Rows kRows = {
      {.code = "RW-GUARD-160",
       .scope = "chat messages and prompt templates",
       .when = {"a processor, prompt file, environment or chat template for supervised fine-tuning",
                [](const Facts& f) { return f.algorithm == "sft" && !f.processor_key.empty() && !f.has_vision(); }},
       .automodel = {kYes, kYes},
       .ours = can("data.chat"),
       .key = "{processor_key}",
       .reason = "this version reads plain text and prompt/answer lines; {processor_key} is {processor}",
       .fix = words("give data.train.data_path a .txt or .jsonl file, and leave {processor_key} out")},
      {.code = "RW-GUARD-161",
       .scope = "data code",
       .when = any_of({given("data.custom_dataloader"), on("data.use_multiple_dataloader")}),
       .automodel = {kYes, kYes},
       .ours = always(kNo),
       .key = "{data_code_key}",
       .reason = "a data loader of one's own is Python code",
       .fix = words("give the data as a file in data.train")},
      {.code = "RW-GUARD-162",
       .scope = "only the last turn",
       .when = on("sft.only_unmask_final"),
       .automodel = {kYes, kYes},
       .ours = can("data.chat"),
       .key = "sft.only_unmask_final",
       .reason = "it is about chat messages, which this version does not read",
       .fix = set_training("sft.only_unmask_final", "false")},
      {.code = "RW-GUARD-163",
       .scope = "chat template in the recipe",
       .when = {"policy.tokenizer.chat_template is a template's text",
                [](const Facts& f) { return f.text("policy.tokenizer.chat_template").starts_with("{"); }},
       .automodel = {kYes, kYes},
       .ours = can("data.chat"),
       .key = "policy.tokenizer.chat_template",
       .reason = "this version fills in no chat templates",
       .fix = words("write each row with a prompt and an answer, both plain text, and take the template out")},
      {.code = "RW-GUARD-164",
       .scope = "several data sets",
       .when = {"data.train is a list of more than one", [](const Facts& f) { return f.train_sets > 1; }},
       .automodel = {kYes, kYes},
       .ours = can("data.several_sets"),
       .key = "data.train",
       .reason = "this version reads one data set; the recipe lists {train_sets}",
       .fix = words("join the files into one, and name that in data.train.data_path")},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix
