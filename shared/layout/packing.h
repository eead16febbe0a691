// Which documents share a row, and which rows share a microbatch: `policy.sequence_packing` and `policy.dynamic_batching`. Pure arithmetic over
// lengths; nothing here sees a token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::layout {

// What a document's slot must be a multiple of so that cp ranks can cut it, each of whose tokens tp ranks share under sequence parallelism: 2*cp at
// cp > 1, times tp (the product, not the least common multiple); 1 at cp = 1 without it.
int64_t document_divisor(int cp, int tp, bool sequence_parallel);

struct PackingOptions {
  std::string algorithm = "modified_first_fit_decreasing";  // one of packing_algorithms()
  int64_t pack_length = 0;                                  // tokens of a pack at most
  int64_t document_divisor = 1;                             // slots of documents are multiples of it, and so is a pack
  // The row of a pack is its documents' slots, rounded up to a multiple of this and of the divisor, at most pack_length. Empty: pack_length itself.
  std::optional<int64_t> sequence_length_round = {};
};

struct Pack {
  std::vector<size_t> documents = {};      // indices of the input, in the order of their slots
  std::vector<int64_t> real_lengths = {};  // seq_lens
  std::vector<int64_t> slot_lengths = {};  // seq_lens_padded: multiples of the divisor; the row's tail belongs to the last
  int64_t row_length = 0;                  // their sum
};

// The longest document that a pack of so many tokens holds, when slots are multiples of the divisor.
int64_t longest_document_of_pack(int64_t pack_length, int64_t document_divisor);

// "concatenative": in order, a new pack where the next document does not fit. "first_fit": in order, each into the first pack with room.
// "first_fit_decreasing": the same, longest first. "modified_first_fit_decreasing" (also "modified_ffd"): Johnson and Garey, "A 71/60 theorem for bin
// packing", J. Complexity 1, 1985. Documents of no tokens take no slot and are left out. Throws Error RW-PACK-001 for an unknown algorithm,
// RW-PACK-002 for a pack length or a round that the divisor does not divide, or values out of range, RW-PACK-003 for a document longer than a pack
// (its index, its length), RW-PACK-004 when no pack remains.
std::vector<Pack> pack_documents(const std::vector<int64_t>& lengths, const PackingOptions& options);
const std::vector<std::string>& packing_algorithms();
// NeMo RL's name of an algorithm that is none of them; RW-GUARD-166 speaks of it.
inline constexpr std::string_view kFirstFitShuffle = "first_fit_shuffle";

// All documents in one row, without padding. Throws Error RW-PACK-004 for no documents or one without tokens.
Pack pack_whole(const std::vector<int64_t>& lengths);

// seq_lens and seq_lens_padded of a batch of rows, each as wide as the longest list.
struct RowLengths {
  std::vector<std::vector<int64_t>> real = {};
  std::vector<std::vector<int64_t>> slots = {};
};

// Rows that are packs: shorter lists end in kLengthFiller.
RowLengths filled_lengths(std::vector<std::vector<int64_t>> real, std::vector<std::vector<int64_t>> slots);
// Rows of one document each: its slot is the longest row. attended: tokens that count; row_lengths: of the rows as they came.
RowLengths loose_row_lengths(const std::vector<int64_t>& attended, const std::vector<int64_t>& row_lengths);

// Where each slot of a packed row comes from.
struct PackedSlot {
  int64_t document = 0;  // index within the pack
  int64_t offset = -1;   // token of the document; -1: padding
  int64_t position = 0;  // from 0 in each document, counting on over its padding
};
std::vector<PackedSlot> packed_slots(const std::vector<int64_t>& real_lengths, const std::vector<int64_t>& slot_lengths);

// For each position of a stream, the position of its next-token target: the next one in the same document, -1 at a document's last token and on
// padding. offsets: cumulative slots; real_lengths: tokens of each.
std::vector<int64_t> next_token_positions(const std::vector<int64_t>& offsets, const std::vector<int64_t>& real_lengths);

struct Microbatch {
  std::vector<size_t> rows = {};  // indices of the input
  int64_t row_length = 0;         // the longest, rounded
};

struct DynamicBatchingOptions {
  int64_t tokens_max = 0;             // rows * row_length of a microbatch at most
  int64_t sequence_length_round = 1;  // row lengths are multiples of it
  int64_t length_divisor = 1;         // and of this
};

// Rows by length, shortest first (of equal ones the earlier), cut into microbatches that hold as many as fit. Throws Error RW-PACK-002 for values out
// of range, RW-PACK-003 for a row that is longer than a microbatch.
std::vector<Microbatch> batch_by_tokens(const std::vector<int64_t>& lengths, const DynamicBatchingOptions& options);

}  // namespace ringwright::layout
