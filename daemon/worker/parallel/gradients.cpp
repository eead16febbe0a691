#include "daemon/worker/parallel/gradients.h"

#include <ATen/ATen.h>

#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

void sum_bucket(const std::vector<at::Tensor>& gradients, const ProcessGroup& group) {
  if (gradients.empty()) return;
  std::vector<at::Tensor> flat;
  flat.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) flat.push_back(gradient.reshape(-1));
  const at::Tensor bucket = at::cat(flat);
  all_reduce_sum(bucket, group);
  int64_t offset = 0;
  for (const at::Tensor& gradient : gradients) {
    gradient.copy_(bucket.narrow(0, offset, gradient.numel()).view_as(gradient));
    offset += gradient.numel();
  }
}

}  // namespace

void sum_gradients(const std::map<std::string, at::Tensor>& parameters, const ProcessGroup& group, int64_t bucket_bytes_max) {
  if (group.size == 1) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> bucket;
  int64_t bucket_bytes = 0;
  for (const auto& [name, shared] : parameters) {
    at::Tensor parameter = shared;
    if (!parameter.grad().defined()) parameter.mutable_grad() = at::zeros_like(parameter);
    const auto bytes = static_cast<int64_t>(parameter.nbytes());
    if (bucket_bytes + bytes > bucket_bytes_max) {
      sum_bucket(bucket, group);
      bucket.clear();
      bucket_bytes = 0;
    }
    bucket.push_back(parameter.grad());
    bucket_bytes += bytes;
  }
  sum_bucket(bucket, group);
}

}  // namespace ringwright::worker
