// What the Layout view draws, worked out from a layout.
#include "console/gui/data/layout_picture.h"

#include <gtest/gtest.h>

#include "console/gui/data/ring_steps.h"
#include "console/gui/data/strip_zoom.h"
#include "shared/base/error.h"

namespace ringwright::gui {
namespace {

TEST(LayoutPictureTest, HeadTailOfOneSequenceIsEven) {
  const LayoutPicture picture = picture_layout({"round_robin", 4, 16'384, 16'384});
  ASSERT_EQ(picture.blocks.size(), 8u);
  for (const LayoutRank& rank : picture.ranks) {
    EXPECT_NEAR(rank.of_mean, 1, 1e-3);
    EXPECT_EQ(rank.tokens, 4096);
  }
  EXPECT_EQ(describe_position(picture, 12'450), "rank 1, slot 2,210 (tail), global 12,450");
  const LayoutPicture contiguous = picture_layout({"contiguous", 4, 16'384, 16'384});
  EXPECT_NEAR(contiguous.ranks[3].of_mean, 1.75, 1e-3);
  EXPECT_EQ(moved_tokens(picture, contiguous), (std::vector<std::pair<int64_t, int64_t>>{{2048, 10'240}, {12'288, 16'384}}));
}

TEST(LayoutPictureTest, PaddingOfBatchAndLayoutAreCountedApart) {
  const LayoutPicture picture = picture_layout({"round_robin", 4, 1001, 900});
  EXPECT_EQ(picture.padded_length, 1008);
  EXPECT_EQ(picture.layout_padding(), 7);
  int64_t batch = 0, layout = 0, tokens = 0;
  for (const LayoutRank& rank : picture.ranks) batch += rank.batch_padding, layout += rank.layout_padding, tokens += rank.tokens;
  EXPECT_EQ(batch, 101);
  EXPECT_EQ(layout, 7);
  EXPECT_EQ(tokens, 900);
}

TEST(RingSteps, TheStepsOfARankAddUpToItsCausalWork) {
  for (const char* name : {"round_robin", "contiguous"}) {
    const LayoutPicture picture = picture_layout({name, 4, 16'384, 15'650});
    std::vector<int64_t> sums(4);
    for (int step = 0; step < 4; ++step) {
      for (const RingStepRow& row : ring_step_rows(picture, step)) sums[static_cast<size_t>(row.rank)] += row.work;
    }
    for (size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(sums[rank], picture.ranks[rank].causal_work) << name << " rank " << rank;
  }
}

// 3 documents of 90 tokens in slots of 100, which thd makes multiples of 2 cp = 8.
LayoutQuestion three_documents(const std::string& layout) { return {layout, 4, 300, 270, 3, 4}; }

TEST(LayoutPictureTest, DocumentsAreCutEachByItselfAndSeeNoOther) {
  const LayoutPicture picture = picture_layout(three_documents("thd"));
  EXPECT_EQ(picture.document_slots, 104);
  EXPECT_EQ(picture.padded_length, 312);
  EXPECT_EQ(picture.blocks.size(), 3u * 8);
  int64_t tokens = 0, batch = 0, layout = 0, work = 0;
  for (const LayoutRank& rank : picture.ranks) {
    tokens += rank.tokens, batch += rank.batch_padding, layout += rank.layout_padding, work += rank.causal_work;
    EXPECT_EQ(rank.slots, 78);
    EXPECT_EQ(rank.blocks.size(), 6u);
  }
  EXPECT_EQ(tokens, 270);
  EXPECT_EQ(batch, 30);
  EXPECT_EQ(layout, 12);
  EXPECT_EQ(work, 3 * 90 * 91 / 2);
  EXPECT_EQ(describe_position(picture, 104), "rank 0, slot 26 (head), global 104, document 1 at 0");
  EXPECT_EQ(describe_position(picture, 201), "rank 0, slot 45 (tail), global 201, document 1 at 97, padding of the batch");
  EXPECT_EQ(describe_position(picture, 205), "rank 0, slot 49 (tail), global 205, document 1 at 101, padding of the layout");
}

TEST(LayoutPictureTest, PaddingLiesBehindEachDocumentAndBehindTheStream) {
  const LayoutPicture thd = picture_layout(three_documents("thd"));
  EXPECT_EQ(padded_stretches(thd, 0, 150), (std::vector<PaddedStretch>{{90, 100, false}, {100, 104, true}}));
  EXPECT_EQ(padded_stretches(thd, 95, 97), (std::vector<PaddedStretch>{{95, 97, false}}));
  EXPECT_TRUE(padded_stretches(thd, 104, 194).empty());
  const LayoutPicture rows = picture_layout({"round_robin", 4, 1001, 900});
  EXPECT_EQ(padded_stretches(rows, 0, 2000), (std::vector<PaddedStretch>{{900, 1001, false}, {1001, 1008, true}}));
  for (const int64_t position : {0, 89, 90, 103, 104, 311}) {
    EXPECT_EQ(tokens_between(thd, position, position + 1) == 1, padded_stretches(thd, position, position + 1).empty()) << position;
  }
}

TEST(LayoutPictureTest, ABlockIsFoundByAnyOfItsPositions) {
  for (const char* name : {"round_robin", "thd", "balanced", "contiguous"}) {
    const LayoutPicture picture = picture_layout(three_documents(name));
    for (size_t i = 0; i < picture.blocks.size(); ++i) {
      EXPECT_EQ(block_index(picture, picture.blocks[i].global_start), i) << name;
      EXPECT_EQ(block_index(picture, picture.blocks[i].global_end() - 1), i) << name;
    }
    EXPECT_EQ(block_index(picture, picture.padded_length), picture.blocks.size()) << name;
    EXPECT_EQ(block_index(picture, -1), picture.blocks.size()) << name;
  }
}

TEST(RingSteps, OfDocumentsAddUpToTheirCausalWork) {
  for (const char* name : {"round_robin", "thd", "balanced", "contiguous"}) {
    const LayoutPicture picture = picture_layout(three_documents(name));
    std::vector<int64_t> sums(4);
    for (int step = 0; step < 4; ++step) {
      for (const RingStepRow& row : ring_step_rows(picture, step)) sums[static_cast<size_t>(row.rank)] += row.work;
    }
    for (size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(sums[rank], picture.ranks[rank].causal_work) << name << " rank " << rank;
  }
  const LayoutPicture thd = picture_layout(three_documents("thd"));
  EXPECT_EQ(mask_cell(thd, 8, 7), Cell::masked) << "the first chunk of a document against the last of the one before";
  EXPECT_EQ(mask_cell(thd, 9, 8), Cell::full);
  EXPECT_EQ(mask_cell(thd, 9, 9), Cell::causal);
  const LayoutPicture rows = picture_layout(three_documents("contiguous"));
  EXPECT_EQ(mask_cell(rows, 1, 0), Cell::partial) << "most of the positions 76 to 151 are of the second document";
  EXPECT_GT(cell_share(rows, 1, 0), 0);
  EXPECT_LT(cell_share(rows, 1, 0), 0.5);
}

TEST(StripZoomTest, ZoomsAtThePointerFromAMillionTokensToFour) {
  StripZoom zoom;
  zoom.show_all(1'000'000);
  EXPECT_TRUE(zoom.is_whole());
  EXPECT_EQ(shown_text(zoom), "0-999,999 of 1,000,000");
  const int64_t position = zoom.position_at(0.3);
  for (int i = 0; i < 100; ++i) {
    zoom.zoom(0.75, 0.3);
    EXPECT_NEAR(static_cast<double>(zoom.position_at(0.3) - position), 0, 1) << "what is under the pointer stays there";
  }
  EXPECT_EQ(zoom.span(), static_cast<double>(kTokensShownMin));
  EXPECT_LE(zoom.end_shown() - zoom.first_shown(), kTokensShownMin + 1);
  EXPECT_NEAR(zoom.pixels_of_token(800), 200, 1e-6);
  for (int i = 0; i < 100; ++i) zoom.zoom(1 / 0.75, 0.3);
  EXPECT_TRUE(zoom.is_whole());
  EXPECT_EQ(zoom.first_shown(), 0);
}

TEST(StripZoomTest, NeverLeavesTheSequence) {
  StripZoom zoom;
  zoom.show_all(1000);
  zoom.zoom(0.1, 1);
  EXPECT_EQ(shown_text(zoom), "900-999 of 1,000");
  zoom.pan(5);
  EXPECT_EQ(shown_text(zoom), "900-999 of 1,000");
  zoom.pan(-0.5);
  EXPECT_EQ(shown_text(zoom), "850-949 of 1,000");
  zoom.center(-20);
  EXPECT_EQ(shown_text(zoom), "0-99 of 1,000");
  zoom.center(500);
  EXPECT_EQ(shown_text(zoom), "450-549 of 1,000");
  EXPECT_NEAR(zoom.share_of(500), 0.5, 1e-9);
  zoom.show_all();
  EXPECT_TRUE(zoom.is_whole());
}

TEST(StripZoomTest, AFewTokensAreAlwaysShownWhole) {
  StripZoom zoom;
  zoom.show_all(2);
  zoom.zoom(0.1, 0.5);
  EXPECT_TRUE(zoom.is_whole());
  zoom.show_all(0);
  EXPECT_EQ(zoom.length(), 1);
  EXPECT_EQ(shown_text(zoom), "0-0 of 1");
}

}  // namespace
}  // namespace ringwright::gui
