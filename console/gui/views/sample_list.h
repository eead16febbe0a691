// The samples of one step as a list, and the chosen one to read below it: what Samples, Rollout, Teacher and Alignment have in common.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "console/gui/data/sample_tokens.h"
#include "console/gui/services/commands.h"
#include "console/gui/services/context.h"
#include "shared/history/activity.h"

namespace ringwright::gui {

// "sample" and "samples", as the titles of commands and the head have it.
struct SampleWords {
  const char* one;
  const char* many;
};

// What is drawn of a sample above its texts.
class SampleDetails {
 public:
  virtual ~SampleDetails() = default;
  // Another sample is the chosen one.
  virtual void read(const history::SampleRecord& sample) = 0;
  virtual void draw() const = 0;
};

class SampleList {
 public:
  // `activity` null: all samples; `always`: fields that have a column also where no sample has them.
  SampleList(std::string view, SampleWords words, const history::Activity* activity, std::vector<std::string> always = {});

  // Next and previous sample, next and previous step that has some, another order.
  void add_commands(CommandRegistry& registry, const std::string& group);
  // Looks at what the run has for the selected step, to be called in each frame before draw; a null run has nothing. False: there is none.
  bool look(const Context& context, const Run* run);
  void draw(const Context& context, const Run& run);
  void set_details(std::unique_ptr<SampleDetails> details) { details_ = std::move(details); }

 private:
  using Samples = std::deque<history::SampleRecord>;

  void read(const Samples& samples, std::optional<int64_t> step);
  void sort(const Samples& samples);
  void move(int by);
  void go_to_step(Context& context, int by) const;
  void draw_head(const Context& context, const Samples& samples);
  void draw_numbers() const;
  void draw_list(const Samples& samples);
  void draw_row(const Samples& samples, size_t numbers_shown, int index);
  void draw_sample(const history::SampleRecord& sample) const;
  void draw_texts(const history::SampleRecord& sample) const;
  void choose(const Samples& samples);

  // What was looked at last.
  struct Key {
    std::string run;
    uint64_t version = 0;
    std::optional<int64_t> step;
    std::string order;
    bool operator==(const Key&) const = default;
  };

  std::string view_;
  SampleWords words_;
  const history::Activity* activity_;
  std::vector<std::string> always_;
  std::unique_ptr<SampleDetails> details_;
  Key key_;
  int read_ = -1;                             // the row whose tokens and details were read; -1: none
  std::vector<size_t> listed_;                // positions in the run's samples
  std::vector<std::string> numbers_, texts_;  // fields with a column
  std::vector<history::FieldRange> ranges_;   // by number
  std::string order_;                         // the field by which they are sorted, largest first; "": as they came
  int current_ = 0;
  std::vector<SampleToken> tokens_;  // of the chosen sample
  int form_ = 0;                     // of kForms
};

}  // namespace ringwright::gui
