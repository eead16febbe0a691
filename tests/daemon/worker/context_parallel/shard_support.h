// Short forms for tests of the sharder.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "daemon/worker/context_parallel/flavours.h"
#include "daemon/worker/parallel/process_groups.h"
#include "tests/support/error_of.h"

namespace ringwright::worker {

using Longs = std::vector<int64_t>;

inline at::Tensor row(const Longs& values) { return at::tensor(values, at::kLong).unsqueeze(0); }

inline Longs longs(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kLong).contiguous();
  return {flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel()};
}

// A member of a group that is never talked to.
inline ProcessGroup member(int rank, int size) {
  ProcessGroup group;
  group.rank = rank;
  group.size = size;
  return group;
}

// By the flavour's name alone.
inline Sharder make_sharder(std::string_view flavour, const ProcessGroup& group, const SharderOptions& options = {}) {
  return Sharder(make_flavour_strategy(flavour, group.size, options), group);
}

using test::error_code;

// What it says; empty without one.
template <class Call>
std::string error_text(Call&& call) {
  return test::error_of(call).what;
}

}  // namespace ringwright::worker
