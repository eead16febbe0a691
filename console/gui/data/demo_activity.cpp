// What the made-up runs spend their time and memory on, and what their models say.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "console/gui/data/demo_recording.h"
#include "console/gui/data/demo_scenes.h"

namespace ringwright::gui::demo {
namespace {

using nlohmann::json;

// A phase of a step, as its share of the step; what a rank that is done early does until the others are.
struct Phase {
  const char* name;
  double share;
  const char* wait = nullptr;  // null: all ranks take as long
};
constexpr Phase kTraining[] = {{"data", 0.03}, {"forward", 0.34, "ring wait"}, {"backward", 0.46, "ring wait"}, {"reduce", 0.07}, {"optimizer", 0.1}};
constexpr Phase kRollouts[] = {{"data", 0.01},
                               {"rollout", 0.42, "wait for rollouts"},
                               {"logprobs", 0.08, "ring wait"},
                               {"forward", 0.16, "ring wait"},
                               {"backward", 0.24, "ring wait"},
                               {"reduce", 0.04},
                               {"optimizer", 0.05}};
constexpr Phase kDistillation[] = {
    {"data", 0.02},   {"align", 0.04},    {"teacher forward", 0.26, "ring wait"}, {"forward", 0.24, "ring wait"}, {"backward", 0.34, "ring wait"},
    {"reduce", 0.04}, {"optimizer", 0.06}};

struct Question {
  const char* prompt;
  const char* right;
  const char* wrong;
};
constexpr std::array<Question, 4> kQuestions = {
    {{"What is 17 * 23?", "17 * 23 = 391.", "17 * 23 = 381."},
     {"Name the capital of Australia.", "The capital of Australia is Canberra.", "The capital of Australia is Sydney."},
     {"Write a haiku about rings.", "Tokens pass around\neach rank holds a part of all\nthe circle closes",
      "Rings are round. Rings are round. Rings are"},
     {"Sort 5, 3, 9, 1.", "1, 3, 5, 9", "1, 3, 9, 5"}}};
constexpr int kRepliesPerPrompt = 4;

double rounded(double value) { return std::round(value * 1000) / 1000; }
int64_t length_of(std::string_view reply) { return static_cast<int64_t>(reply.size() / 4 + 3); }
// From 0 at the start to 1 late in the run.
double learned(int64_t step) { return 1 - std::exp(-static_cast<double>(step) / 160); }

using Bodies = std::vector<json>;

// The reply in tokens, a word or a sign each, with a loss that falls while the model learns.
void add_tokens(json& body, std::string_view reply, double level, Noise& noise) {
  json tokens = json::array(), losses = json::array(), ids = json::array();
  for (size_t at = 0; at < reply.size();) {
    const size_t end = std::min(reply.find_first_of(" \n", at + 1), reply.size());
    const std::string token(reply.substr(at, end - at));
    tokens.push_back(token);
    losses.push_back(rounded(level * -std::log(0.02 + 0.98 * noise.uniform())));
    ids.push_back(static_cast<int64_t>(token.size() * 977 + static_cast<unsigned char>(token.back()) * 31) % 32'000);
    at = end;
  }
  body["tokens"] = std::move(tokens);
  body["token_losses"] = std::move(losses);
  body["token_ids"] = std::move(ids);
}

Bodies validation_samples(Noise& noise, int64_t step) {
  Bodies bodies;
  for (const Question& question : kQuestions) {
    json body = {
        {"prompt", question.prompt}, {"reply", question.right}, {"length", length_of(question.right)}, {"loss", rounded(0.4 + noise.uniform())}};
    add_tokens(body, question.right, 1.2 - 0.8 * learned(step), noise);
    bodies.push_back(std::move(body));
  }
  return bodies;
}

// A group of replies for each of two prompts; what one is worth is its distance from the group's mean.
Bodies rollout_samples(Noise& noise, int64_t step) {
  Bodies bodies;
  for (size_t prompt = 0; prompt < 2; ++prompt) {
    const Question& question = kQuestions[(static_cast<size_t>(step) / 10 + prompt) % kQuestions.size()];
    double sum = 0;
    for (int i = 0; i < kRepliesPerPrompt; ++i) {
      const bool is_right = noise.uniform() < 0.3 + 0.6 * learned(step);
      const char* reply = is_right ? question.right : question.wrong;
      const double reward = rounded(is_right ? 0.8 + 0.2 * noise.uniform() : 0.1 * noise.uniform());
      sum += reward;
      bodies.push_back({{"kind", "rollout"},
                        {"prompt", question.prompt},
                        {"reply", reply},
                        {"reward", reward},
                        {"length", length_of(reply)},
                        {"logprob_gap", rounded(0.04 * noise.uniform())}});
      add_tokens(bodies.back(), reply, is_right ? 0.4 : 1.1, noise);
    }
    for (size_t i = bodies.size() - kRepliesPerPrompt; i < bodies.size(); ++i)
      bodies[i]["advantage"] = rounded(bodies[i]["reward"].get<double>() - sum / kRepliesPerPrompt);
  }
  return bodies;
}

struct Pair {
  std::vector<std::string> student, teacher;
  bool correct = true;
};
struct AlignedText {
  const char* content;
  std::vector<Pair> pairs;
};

const std::vector<AlignedText>& aligned_texts() {
  static const std::vector<AlignedText> texts = {{"Tokens pass around, each rank holds a part of all.",
                                                  {{{"Tok", "ens"}, {"Tokens"}},
                                                   {{" pass"}, {" pass"}},
                                                   {{" around"}, {" a", "round"}},
                                                   {{","}, {","}},
                                                   {{" each"}, {" each"}},
                                                   {{" rank"}, {" rank"}},
                                                   {{" hol", "ds"}, {" holds"}},
                                                   {{" a"}, {" a"}},
                                                   {{" part"}, {" part"}},
                                                   {{" of"}, {" of"}},
                                                   {{" all", "."}, {" all."}}}},
                                                 {"17 * 23 = 391, na\xC3\xAFve as it looks.",
                                                  {{{"1", "7"}, {"17"}},
                                                   {{" *"}, {" *"}},
                                                   {{" ", "2", "3"}, {" 23"}},
                                                   {{" ="}, {" ="}},
                                                   {{" ", "3", "9", "1"}, {" 391"}},
                                                   {{","}, {","}},
                                                   {{" na", "\xC3\xAF", "ve"}, {" na", "<unk>", "ve"}, false},
                                                   {{" as"}, {" as"}},
                                                   {{" it"}, {" it"}},
                                                   {{" looks"}, {" look", "s"}},
                                                   {{"."}, {"."}}}}};
  return texts;
}

json alignment_of(const AlignedText& text) {
  json pairs = json::array();
  double correct = 0;
  for (const Pair& pair : text.pairs) {
    pairs.push_back({{"student", pair.student}, {"teacher", pair.teacher}, {"correct", pair.correct}});
    correct += pair.correct ? 1 : 0;
  }
  return {{"kind", "alignment"},
          {"text", text.content},
          {"correct_share", rounded(correct / static_cast<double>(text.pairs.size()))},
          {"pair_count", text.pairs.size()},
          {"pairs", std::move(pairs)}};
}

Bodies distillation_samples(Noise& noise, int64_t step) {
  Bodies bodies;
  for (const Question& question : kQuestions)
    bodies.push_back({{"kind", "teacher"},
                      {"prompt", question.prompt},
                      {"reply", question.right},
                      {"kl", rounded(0.05 + 1.4 * (1 - learned(step)) + 0.1 * noise.uniform())},
                      {"entropy", rounded(0.3 + 0.5 * noise.uniform())},
                      {"same_top_share", rounded(0.5 + 0.45 * learned(step) * (0.9 + 0.1 * noise.uniform()))}});
  for (const AlignedText& text : aligned_texts()) bodies.push_back(alignment_of(text));
  return bodies;
}

struct Kind {
  std::string_view algorithm;
  const Phase* phases;
  size_t phase_count;
  Bodies (*samples)(Noise&, int64_t step);
  int64_t sample_every;
};
constexpr Kind kKinds[] = {{"sft", kTraining, std::size(kTraining), validation_samples, 100},
                           {"grpo", kRollouts, std::size(kRollouts), rollout_samples, 10},
                           {"distillation", kDistillation, std::size(kDistillation), distillation_samples, 10}};

const Kind& kind_of(const Scene& scene) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return kind.algorithm == scene.algorithm; });
}

}  // namespace

// The slow rank computes longer; the others stand in the collective until it has come.
std::vector<history::SpanRecord> spans_at(int index, const history::RunRecord& run, int64_t step) {
  const Scene& scene = scene_of(index);
  const Kind& kind = kind_of(scene);
  std::vector<history::SpanRecord> spans;
  const double step_ns = scene.step_s * 1e9;
  for (int rank = 0; rank < run.world_size; ++rank) {
    Noise noise = noise_at(index, step * 64 + rank);
    const bool slow = rank == run.world_size - 1;
    double at = static_cast<double>(run.started_unix_ns) + static_cast<double>(step - 1) * step_ns;
    for (const Phase* phase = kind.phases; phase != kind.phases + kind.phase_count; ++phase) {
      const double whole = phase->share * step_ns, busy = phase->wait == nullptr || slow ? whole : whole * (0.72 + noise.uniform() * 0.05);
      spans.push_back({rank, step, phase->name, static_cast<int64_t>(at), static_cast<int64_t>(at + busy)});
      if (busy < whole) spans.push_back({rank, step, phase->wait, static_cast<int64_t>(at + busy), static_cast<int64_t>(at + whole)});
      at += whole;
    }
  }
  return spans;
}

std::vector<history::SampleRecord> samples_at(int index, const history::RunRecord& run, int64_t step) {
  const Kind& kind = kind_of(scene_of(index));
  std::vector<history::SampleRecord> samples;
  if (step % kind.sample_every != 0) return samples;
  Noise noise = noise_at(index, step * 64 + 63);
  for (json& body : kind.samples(noise, step)) {
    body["step"] = step;
    samples.push_back({step, static_cast<int>(samples.size()) % run.world_size, std::move(body)});
  }
  return samples;
}

json more_points_at(int index, int64_t step) {
  const std::string_view algorithm = scene_of(index).algorithm;
  Noise noise = noise_at(index, step * 64 + 62);
  if (algorithm == "grpo") return {{"train/reward", 0.3 + 0.6 * learned(step) + 0.03 * noise.normal()}};
  if (algorithm == "distillation") return {{"train/proj_accuracy", 0.5 + 0.4 * learned(step) + 0.01 * noise.normal()}};
  return json::object();
}

estimate::Estimate estimate_of(int index) {
  const Scene& scene = scene_of(index);
  constexpr int64_t kMib = 1 << 20, kParameterBytes = 28 * kMib, kSequence = 16'384, kBytesPerToken = 36 << 10;
  const int64_t tokens = kSequence / scene.cp;
  return {{{"parameters", kParameterBytes, ""},
           {"gradients", kParameterBytes, ""},
           {"optimizer", 2 * kParameterBytes, ""},
           {"activations", tokens * kBytesPerToken, ""},
           {"logits", 96 * kMib, ""},
           {"KV blocks", scene.cp > 1 ? tokens * 4096 : 0, ""}},
          kParameterBytes};
}

// With the program and its libraries.
uint64_t resident_bytes_max_at(int index, int rank) {
  constexpr uint64_t kProgramBytes = 246 << 20, kRankBytes = 5 << 20;
  return static_cast<uint64_t>(estimate_of(index).memory_bytes()) + kProgramBytes + static_cast<uint64_t>(rank) * kRankBytes;
}

uint64_t resident_bytes_at(int index, int rank) { return resident_bytes_max_at(index, rank) / 100 * 88; }

}  // namespace ringwright::gui::demo
