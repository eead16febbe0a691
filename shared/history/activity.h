// What a run's samples and spans say of an activity of training: rollouts, the forward passes of teachers, the alignment of tokenizers.
//
// A sample is what its sender wrote: its field `kind` names the activity, `prompt`, `reply` and other texts are to be read, numbers to be compared.
// Lists are more of it: `tokens`, `token_losses`, `token_ids` of one length, and `pairs` of an alignment, {student: [tokens], teacher: [tokens],
// correct}.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::history {

struct Activity {
  std::string_view name;                   // of its samples' `kind`: "rollout"
  std::array<std::string_view, 2> phases;  // how the names of its spans' phases begin: "teacher" for "teacher forward"; "": no other
};
inline constexpr std::array<Activity, 3> kActivities = {
    {{"rollout", {"rollout", "generation"}}, {"teacher", {"teacher", ""}}, {"alignment", {"align", ""}}}};
// Null: there is none of this name.
const Activity* activity_named(std::string_view name);

// By `kind`; a reply with a reward that has none is a rollout's.
bool is_of(const Activity& activity, const SampleRecord& sample);
bool is_of(const Activity& activity, const SpanRecord& span);

// A field as text: "" where the sample has none, JSON where it is neither text nor null.
std::string sample_field(const SampleRecord& sample, const char* field);
// nullopt: it has none, or one that is no number.
std::optional<double> sample_number(const SampleRecord& sample, const char* field);
// Names of the fields that hold text: prompt and reply first, then by name; `kind` is none of them.
std::vector<std::string> text_fields(const SampleRecord& sample);

// `activity` null: of whatever it is. Records: a vector or a deque.
//
// Positions of the samples of the newest step, up to `step` where it is given, that has some; where all are later, of the oldest such step.
template <class Samples>
std::vector<size_t> samples_at(const Samples& samples, std::optional<int64_t> step, const Activity* activity = nullptr);
// The steps that have such samples, in order.
template <class Samples>
std::vector<int64_t> sample_steps(const Samples& samples, const Activity* activity = nullptr);
// Names of the fields that hold a number in one of the samples at these positions: reward, length and logprob_gap first, then by name. At most
// kNumberFieldsMax; `step` and `rank` are none of them.
inline constexpr size_t kNumberFieldsMax = 5;
template <class Samples>
std::vector<std::string> number_fields(const Samples& samples, const std::vector<size_t>& positions);

struct FieldRange {
  size_t count = 0;  // of the samples that have the field, with a finite value
  double mean = 0, minimum = 0, maximum = 0;
};
template <class Samples>
FieldRange field_range(const Samples& samples, const std::vector<size_t>& positions, const char* field);

// One phase of one step.
struct PhaseTime {
  std::string phase;
  int ranks = 0;                        // that have it
  int64_t mean_ns = 0, longest_ns = 0;  // over these
  int longest_rank = 0;
  double share = 0;  // of what all spans of the step take together
};
struct StepPhases {
  int64_t step = 0;
  std::vector<PhaseTime> phases;  // in the order in which they come
};
// Of the newest step, up to `step` where it is given, that has such spans; else of the oldest. nullopt: there are none. A span that ends before it
// begins, by a clock that was set back, counts as none.
template <class Spans>
std::optional<StepPhases> phases_at(const Spans& spans, std::optional<int64_t> step, const Activity* activity = nullptr);

}  // namespace ringwright::history
