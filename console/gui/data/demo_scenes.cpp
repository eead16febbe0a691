#include "console/gui/data/demo_scenes.h"

#include <array>

namespace ringwright::gui::demo {
namespace {

using history::RunState;

constexpr std::array kScenes = {
    Scene{"demo-sft-cp2", RunState::running, "", 1, 2, 1, 1284, 8.9, 3.2, 18'400, 0.41},
    Scene{"demo-sft-cp1", RunState::running, "", 1, 1, 1, 612, 24.0, 4.1, 22'040, 0.62},
    Scene{"llama-1b-sft-cp8-long", RunState::stopping, "", 1, 8, 1, 940, 22.0, 5.8, 31'700, 0.49},
    Scene{"llama-1b-sft-cp4", RunState::finished, "", 1, 4, 1, 1200, 19.0, 14.5, 27'100, 0.53},
    Scene{"kjv-cosine-cp2", RunState::finished, "", 1, 2, 1, 1230, 26.0, 30.1, 19'200, 0.57},
    Scene{"lr-too-high-cp4", RunState::failed, "loss is NaN at step 38", 1, 4, 1, 44, 9.8, 32.0, 15'000, 2.1},
    Scene{"packed-answers-with-a-rather-long-name-cp2", RunState::finished, "", 1, 2, 1, 1500, 12.5, 50.0, 20'800, 0.66},
    Scene{"probe-contiguous-cp2", RunState::stopped, "stopped by the operator", 1, 2, 1, 411, 7.0, 52.0, 12'900, 1.02},
    Scene{"demo-sft-cp2", RunState::finished, "", 1, 2, 1, 800, 9.0, 74.0, 18'100, 0.48},
    Scene{"tp2-cp2-sft", RunState::lost, "the daemon ended", 1, 2, 2, 655, 11.0, 76.0, 16'300, 0.71},
    Scene{"warmup-1000", RunState::finished, "", 1, 2, 1, 1000, 8.0, 99.0, 21'500, 0.60},
    Scene{"queued-nightly", RunState::queued, "", 1, 2, 1, 0, 0, 0.01, 0, 0},
    Scene{"grpo-sums-cp2", RunState::running, "", 1, 2, 1, 318, 31.0, 3.7, 9'400, 0.08, "grpo"},
    Scene{"distill-other-tokens-cp2", RunState::running, "", 1, 2, 1, 420, 27.0, 3.9, 12'600, 0.38, "distillation"},
};

}  // namespace

const Scene& scene_of(int index) { return kScenes[static_cast<size_t>(index) % kScenes.size()]; }
int round_of(int index) { return index / static_cast<int>(kScenes.size()); }
Noise noise_at(int index, int64_t step) { return Noise((1000 + static_cast<uint64_t>(index)) * 1'000'003 + static_cast<uint64_t>(step)); }

}  // namespace ringwright::gui::demo
