// A batch, and how each flavour of context parallelism pads its tensors before they are cut (context-parallel contract, section 5).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "shared/layout/deepseek_v4.h"

namespace ringwright::worker {

// What a batch may hold beside tensors: qkv_format, cp_size, cp_rank, or something that only passes through.
using BatchValue = std::variant<bool, int64_t, double, std::string>;

// Named tensors; an undefined one is a key without a value. Known names: input_ids [B,S] or inputs_embeds [B,S,H] (exactly one of them), labels,
// position_ids, padding_mask (true on padding), attention_mask, loss_mask; packed rows add seq_lens and seq_lens_padded [B,k] (filled with
// kNoDocument) and the value qkv_format = "thd". Others are left as they are unless BatchOptions registers them.
struct Batch : std::map<std::string, at::Tensor> {
  using std::map<std::string, at::Tensor>::map;

  // qkv_format == "thd": rows of packed documents, meant to become one stream.
  bool declares_stream() const;
  // The tensor of this name. Throws Error RW-SHARD-002.
  const at::Tensor& required(const std::string& key) const;

  std::map<std::string, BatchValue> values;
};

inline constexpr int64_t kNoDocument = layout::kLengthFiller;  // fills seq_lens, seq_lens_padded and chunked cu_seqlens up to a common width
inline constexpr double kIgnoredLabel = -100;                  // a position without a target

struct BatchOptions {
  int64_t padding_token_id = 0;                             // round_robin alone pads ids with 0
  std::map<std::string, int64_t> extra_sequence_keys = {};  // further tensors to cut: name -> sequence axis
  std::map<std::string, double> extra_pad_values = {};      // contiguous only; default 0
  bool shard_primary = true;                                // false: the model cuts its own input_ids or inputs_embeds
};

// What differs between flavours.
struct BatchRules {
  bool pads_with_token_id = false;       // input_ids are padded with padding_token_id, else with 0
  bool continues_positions = false;      // position_ids are padded with last + 1, last + 2, ..., else with 0
  bool converts_attention_mask = false;  // attention_mask becomes padding_mask, else it is only removed
  bool loss_mask_for_labels = false;     // a missing `labels` is taken from loss_mask, else it is an error
  bool requires_extra_keys = true;       // a registered key that is absent is an error
};

inline constexpr BatchRules kRoundRobinRules = {};
inline constexpr BatchRules kContiguousRules = {.pads_with_token_id = true,
                                                .continues_positions = true,
                                                .converts_attention_mask = true,
                                                .loss_mask_for_labels = true,
                                                .requires_extra_keys = false};

// The primary stream's name. Throws Error RW-SHARD-001 when both or neither of input_ids and inputs_embeds are there, or it has one axis.
std::string primary_key(const Batch& batch);

// Pads everything that is cut by sequence to `padded_length` and calls `cut(tensor, axis)` on it. `batch` itself is never changed.
// Throws Error RW-SHARD-001 (bad argument), RW-SHARD-002 (missing key).
class BatchSharding {
 public:
  BatchSharding(const BatchRules& rules, const BatchOptions& options) : rules_(rules), options_(options) {}

  template <typename Cut>
  Batch apply(const Batch& batch, int64_t padded_length, Cut&& cut) const {
    Batch result = pad(batch, padded_length);
    for (const auto& [key, axis] : sequence_axes(result)) {
      result[key] = cut(result[key], axis);
    }
    return result;
  }

  // The batch's rows behind each other as one row: [B, S, ...] becomes [1, B*S, ...]. Throws Error RW-SHARD-003 for an extra key whose sequence is
  // not on axis 1.
  Batch as_one_row(const Batch& batch) const;

 private:
  Batch complete(const Batch& batch) const;
  Batch pad(const Batch& batch, int64_t padded_length) const;
  void pad_extra(Batch& batch, int64_t sequence_length, int64_t padded_length) const;
  std::map<std::string, int64_t> sequence_axes(const Batch& batch) const;

  BatchRules rules_;
  BatchOptions options_;
};

// true where the mask hides: 2-D masks where they are 0, 4-D [B,1,S,S] on the diagonal of head 0 (bool: not; additive: not 0).
at::Tensor padding_mask_from_attention_mask(const at::Tensor& attention_mask);

// Appends slots of `value` along `axis` up to `length`.
at::Tensor pad_right(const at::Tensor& tensor, int64_t axis, int64_t length, double value);

}  // namespace ringwright::worker
