#include "shared/layout/mamba.h"

#include <gmock/gmock.h>

#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// T18: labels of the rebuilt whole sequence come from global lengths; lengths times cp must fail, never index.
TEST(Mamba, T18SequenceIndexFromGlobalLengths) {
  EXPECT_THAT(sequence_index({0, 4, 8}, 8), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(local_offsets({0, 4, 8}, 2), ElementsAre(0, 2, 4));
  EXPECT_THAT(refusal([] { sequence_index({0, 8, 16}, 8); }).what, HasSubstr("end at 16, behind the stream of 8"));
  EXPECT_THAT(undo_order(*make_layout("round_robin", 2), 4), ElementsAre(0, 2, 3, 1));
}

// y[i] = x[i] + x[i-1], then h = 0.5 h + y, both from nothing where the sequence index changes.
std::vector<double> toy_mixer(const std::vector<double>& x, const std::vector<int32_t>& index) {
  std::vector<double> h(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const bool goes_on = i > 0 && index[i] == index[i - 1];
    h[i] = (goes_on ? 0.5 * h[i - 1] + x[i - 1] : 0) + x[i];
  }
  return h;
}

// T17: convolution and scan start anew at each document of a pack, also after the exchange of context parallelism.
TEST(Mamba, T17NoStateCrossesADocument) {
  const std::vector<std::vector<double>> documents = {{1, 2, 3}, {10, 20}};
  for (const int cp : {1, 2, 3}) {
    // Each document padded to 2*cp, cut head-tail, gathered in rank order, put into global order, mixed, and trimmed.
    std::vector<int64_t> slots;
    std::vector<double> stream;
    for (const std::vector<double>& document : documents) {
      slots.push_back((static_cast<int64_t>(document.size()) + 2 * cp - 1) / (2 * cp) * 2 * cp);
      stream.insert(stream.end(), document.begin(), document.end());
      stream.resize(stream.size() + static_cast<size_t>(slots.back()) - document.size(), 0);
    }
    const std::vector<int64_t> offsets = offsets_of(slots);
    const auto layout = make_layout("thd", cp, {.document_offsets = offsets});
    std::vector<double> exchanged, rebuilt;
    for (int64_t position : redo_order(*layout, offsets.back())) exchanged.push_back(stream[static_cast<size_t>(position)]);
    for (int64_t place : undo_order(*layout, offsets.back())) rebuilt.push_back(exchanged[static_cast<size_t>(place)]);
    const std::vector<double> mixed = toy_mixer(rebuilt, sequence_index(offsets, offsets.back()));
    std::vector<double> trimmed;
    for (size_t d = 0; d < documents.size(); ++d) {
      for (size_t i = 0; i < documents[d].size(); ++i) trimmed.push_back(mixed[static_cast<size_t>(offsets[d]) + i]);
    }
    EXPECT_THAT(trimmed, ElementsAre(1, 3.5, 6.75, 10, 35)) << "cp " << cp;
  }
}

TEST(Mamba, EmptyDocumentsSkipANumberAndTheTailGetsTheLast) {
  EXPECT_THAT(sequence_index({0, 2, 2, 3}, 5), ElementsAre(0, 0, 2, 3, 3));
  EXPECT_EQ(refusal([] { sequence_index({}, 4); }).code, "RW-MAMBA-003");
  EXPECT_EQ(refusal([] { sequence_index({1, 4}, 4); }).code, "RW-MAMBA-003");
  EXPECT_EQ(refusal([] { sequence_index({0, 3, 2}, 4); }).code, "RW-MAMBA-003");
}

TEST(Mamba, OrdersComeFromTheLayout) {
  EXPECT_THAT(undo_order(*make_layout("contiguous", 2), 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(redo_order(*make_layout("round_robin", 2), 4), ElementsAre(0, 3, 1, 2));
  EXPECT_EQ(refusal([] { undo_order(*make_layout("none", 2), 4); }).code, "RW-MAMBA-002");
  EXPECT_THAT(undo_order(*make_layout("none", 1), 2), ElementsAre(0, 1));
  EXPECT_EQ(refusal([] { deinterleave_order({0, 6}, 2); }).code, "RW-LAYOUT-009");
}

TEST(Mamba, SharesNameBothNumbers) {
  const auto share = [](int64_t heads, int64_t groups, int cp) { return refusal([&] { mamba_share({heads, 1, groups, 1}, cp); }); };
  EXPECT_EQ(share(7, 1, 2).code, "RW-MAMBA-001");
  EXPECT_THAT(share(7, 1, 2).what, HasSubstr("7 heads cannot be shared by cp = 2"));
  EXPECT_THAT(share(8, 3, 4).what, HasSubstr("3 groups do not fit cp = 4"));
  EXPECT_THAT(share(8, 3, 2).what, HasSubstr("3 groups do not fit cp = 2"));
  EXPECT_EQ(mamba_share({8, 2, 2, 1}, 4).group_repeat, 2);
  EXPECT_EQ(refusal([] { mamba_slices({8, 1, 2, 1}, 4, 4); }).code, "RW-LAYOUT-002");
}

TEST(Mamba, SlicesOfTheConvolutionFollowTheRepeatedGroups) {
  const MambaSlices slices = mamba_slices({8, 1, 2, 2}, 4, 2);  // ranks 2 and 3 share group 1
  EXPECT_THAT(slices.conv_channels(), ElementsAre(4, 5, 10, 11, 14, 15));
  EXPECT_EQ(slices.heads, (ChannelRange{4, 2}));
  EXPECT_EQ(slices.projected.back(), (ChannelRange{24, 8}));
  EXPECT_THAT(group_repeat_order({8, 1, 2, 3}, 4), ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
}

// Upstream's two steps for a packed stream are one step by the layout's map.
TEST(MambaProperties, DeinterleaveThenUndoIsTheLayoutsMap) {
  EXPECT_TRUE(rc::check([] {
    const int cp = *rc::gen::inRange(1, 6);
    std::vector<int64_t> lengths = {2 * cp};
    for (const int64_t chunk : *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 4))) lengths.push_back(2 * cp * chunk);
    const std::vector<int64_t> offsets = offsets_of(lengths);
    const auto thd = make_layout("thd", cp, {.document_offsets = offsets});
    const std::vector<int64_t> deinterleave = deinterleave_order(offsets, cp), undo = document_undo_order(offsets, cp);
    const std::vector<int64_t> whole = undo_order(*thd, offsets.back()), redo = redo_order(*thd, offsets.back());
    for (size_t i = 0; i < whole.size(); ++i) {
      RC_ASSERT(deinterleave[static_cast<size_t>(undo[i])] == whole[i]);
      RC_ASSERT(redo[static_cast<size_t>(whole[i])] == static_cast<int64_t>(i));
    }
  }));
}

}  // namespace
}  // namespace ringwright::layout
