// T17: around a Mamba block the whole stream is rebuilt, and convolution and scan must start anew at each document. A toy mixer stands for the block:
// y[i] = x[i] + x[i-1], then h = 0.5 h + y.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "daemon/worker/context_parallel/mamba_exchange.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

constexpr layout::MambaShape kToy = {.heads = 4, .head_size = 1, .groups = 4, .state = 1};
constexpr int64_t kChannels = 5 * 4;  // z, x, B, C and dt have a channel a head
const std::vector<int64_t> kOffsets = {0, 8, 16};
const std::vector<int64_t> kReal = {3, 2};

struct Mixed {
  at::Tensor convolution, state;
};

// x_PD in global order; `index_P`: each position's document.
Mixed mix(const at::Tensor& x_PD, const at::Tensor& index_P) {
  Mixed mixed{at::empty_like(x_PD), at::empty_like(x_PD)};
  for (int64_t t = 0; t < x_PD.size(0); ++t) {
    const bool first = t == 0 || index_P[t].item<int32_t>() != index_P[t - 1].item<int32_t>();
    mixed.convolution[t] = first ? x_PD[t] : x_PD[t] + x_PD[t - 1];
    mixed.state[t] = first ? mixed.convolution[t] : 0.5 * mixed.state[t - 1] + mixed.convolution[t];
  }
  return mixed;
}

// The documents' tokens in every channel of x, each document in its slot.
at::Tensor projected(const std::vector<std::vector<double>>& documents) {
  at::Tensor stream = at::zeros({kOffsets.back(), kChannels}, at::kDouble);
  for (size_t d = 0; d < documents.size(); ++d)
    for (size_t i = 0; i < documents[d].size(); ++i) stream[kOffsets[d] + static_cast<int64_t>(i)].narrow(0, 4, 4).fill_(documents[d][i]);
  return stream;
}

std::shared_ptr<const layout::Layout> make_stream_layout(int cp) {
  layout::Options options;
  options.document_offsets = kOffsets;
  return layout::make_layout("thd", cp, options);
}

// What rank `cp.rank` has of the mixer's two results after post, with the global position of each row.
struct RankResult {
  at::Tensor convolution_LD, state_LD;
  std::vector<int64_t> positions;
};
RankResult run(const at::Tensor& stream, const ProcessGroup& cp) {
  const std::shared_ptr<const layout::Layout> layout = make_stream_layout(cp.size);
  RankResult result;
  result.positions = layout->local_token_global_indices(kOffsets.back(), cp.rank);
  const MambaExchange exchange(kToy, layout, cp);
  const at::Tensor pre_BPC = exchange.pre(stream.index_select(0, at::tensor(result.positions, at::kLong)));
  const int64_t heads = 4 / cp.size;
  MambaDocuments documents;
  documents.padded_offsets = at::tensor(kOffsets, at::kInt);
  const at::Tensor index_1P = mamba_sequence_index(documents, {}, kOffsets.back() / cp.size, cp.size);
  const Mixed mixed = mix(pre_BPC.view({kOffsets.back(), -1}).narrow(1, heads, heads), index_1P[0]);
  const auto post = [&](const at::Tensor& x_PD) { return exchange.post(x_PD.view({1, kOffsets.back(), heads})).reshape({-1, 4}); };
  result.convolution_LD = post(mixed.convolution), result.state_LD = post(mixed.state);
  return result;
}

void expect_rows(const RankResult& result, const at::Tensor& rows_LD, const std::vector<std::vector<double>>& wanted) {
  for (size_t slot = 0; slot < result.positions.size(); ++slot) {
    const size_t document = result.positions[slot] < kOffsets[1] ? 0 : 1;
    const int64_t token = result.positions[slot] - kOffsets[document];
    if (token >= kReal[document]) continue;
    EXPECT_TRUE(at::equal(rows_LD[static_cast<int64_t>(slot)], at::full({4}, wanted[document][static_cast<size_t>(token)], at::kDouble)))
        << "document " << document << ", token " << token;
  }
}

TEST(MambaDocuments, T17ConvolutionAndScanStartAnewAtEachDocument) {
  const at::Tensor stream = projected({{1, 2, 3}, {10, 20}}), changed = projected({{7, -2, 5}, {10, 20}});
  for (const int cp : {1, 2, 4})
    test::run_on_threads(cp, [&](const ProcessGroups& ranks) {
      const RankResult result = run(stream, ranks.group("cp"));
      expect_rows(result, result.convolution_LD, {{1, 3, 5}, {10, 30}});
      expect_rows(result, result.state_LD, {{1, 3.5, 6.75}, {10, 35}});
      const RankResult other = run(changed, ranks.group("cp"));
      for (size_t slot = 0; slot < result.positions.size(); ++slot) {
        if (result.positions[slot] < kOffsets[1]) continue;
        const auto row = static_cast<int64_t>(slot);
        EXPECT_TRUE(at::equal(result.state_LD[row], other.state_LD[row])) << "document 2 has changed with document 1, cp " << cp;
      }
    });
}

// Without the documents' index the state of one document would run into the next: what the test above would see.
TEST(MambaDocuments, T17ALeakIsAnotherResult) {
  const at::Tensor x_PD = at::tensor({1.0, 2.0, 3.0, 10.0, 20.0}, at::kDouble).view({5, 1});
  const Mixed leaked = mix(x_PD, at::zeros({5}, at::kInt));
  EXPECT_TRUE(at::equal(leaked.convolution.flatten(), at::tensor({1.0, 3.0, 5.0, 13.0, 30.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(leaked.state.flatten(), at::tensor({1.0, 3.5, 6.75, 16.375, 38.1875}, at::kDouble)));
}

}  // namespace
}  // namespace ringwright::worker
