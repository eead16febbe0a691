#include "tests/daemon/worker/parallel/collective_suite.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "daemon/worker/parallel/collectives.h"

namespace ringwright::test {
namespace {

using worker::ProcessGroup;

// The same on every rank, different for each (source, salt).
at::Tensor values_of(int source, int salt, at::IntArrayRef shape, at::ScalarType type) {
  const int64_t count = c10::multiply_integers(shape);
  return at::arange(count, at::kDouble).mul_(0.37).add_(source + 1).sin_().mul_(100.0 + salt).to(type).reshape(shape);
}

void expect_sums(const ProcessGroup& group) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kLong}) {
    for (const int64_t length : {1, 3, 64, 10007}) {
      at::Tensor sum = values_of(group.rank, 0, {length}, type), again = sum.clone();
      at::Tensor expected = at::zeros({length}, at::kDouble);
      for (int q = 0; q < group.size; ++q) expected += values_of(q, 0, {length}, type).to(at::kDouble);
      worker::all_reduce_sum(sum, group);
      worker::all_reduce_sum(again, group);
      const double scale = 100.0 * group.size;
      const double limit = type == at::kBFloat16 ? 2e-2 : type == at::kFloat ? 1e-6 : 1e-12;
      EXPECT_LT((sum.to(at::kDouble) - expected).abs().max().item<double>(), limit * scale) << type << " " << length;
      EXPECT_TRUE(at::equal(sum, again)) << "a rerun differs: " << type << " " << length;
      for (const at::Tensor& other : worker::all_gather(sum, group)) EXPECT_TRUE(at::equal(sum, other)) << "ranks differ: " << type << " " << length;
    }
  }
}

void expect_broadcast(const ProcessGroup& group) {
  for (int root = 0; root < group.size; ++root) {
    at::Tensor x = values_of(group.rank, root, {2, 5}, at::kFloat);
    worker::broadcast(x, root, group);
    EXPECT_TRUE(at::equal(x, values_of(root, root, {2, 5}, at::kFloat))) << "root " << root;
  }
}

void expect_all_gather(const ProcessGroup& group) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kInt, at::kBool}) {
    const auto parts = worker::all_gather(values_of(group.rank, 1, {3, 4}, type).t(), group);  // not contiguous
    ASSERT_EQ(parts.size(), static_cast<size_t>(group.size));
    for (int q = 0; q < group.size; ++q) {
      EXPECT_TRUE(at::equal(parts[static_cast<size_t>(q)], values_of(q, 1, {3, 4}, type).t())) << type << " from rank " << q;
    }
  }
}

void expect_all_to_all(const ProcessGroup& group) {
  std::vector<at::Tensor> parts;
  for (int q = 0; q < group.size; ++q) parts.push_back(values_of(group.rank, 10 + q, {7, 11}, at::kFloat));
  const auto received = worker::all_to_all(parts, group);
  for (int q = 0; q < group.size; ++q) {
    EXPECT_TRUE(at::equal(received[static_cast<size_t>(q)], values_of(q, 10 + group.rank, {7, 11}, at::kFloat))) << "from rank " << q;
  }
}

// Parts of unequal size, some of them empty, straight through the backend.
void expect_uneven_all_to_all(const ProcessGroup& group) {
  const auto rows = [&](int from, int to) { return int64_t{(from + 2 * to) % 3}; };
  std::vector<int64_t> sent, received;
  std::vector<at::Tensor> parts, expected;
  for (int q = 0; q < group.size; ++q) {
    sent.push_back(rows(group.rank, q));
    received.push_back(rows(q, group.rank));
    parts.push_back(values_of(group.rank, q, {sent.back(), 4}, at::kFloat));
    expected.push_back(values_of(q, group.rank, {received.back(), 4}, at::kFloat));
  }
  at::Tensor input = at::cat(parts), output = at::empty_like(at::cat(expected));
  group.backend->alltoall_base(output, input, received, sent, c10d::AllToAllOptions())->wait();
  EXPECT_TRUE(at::equal(output, at::cat(expected)));
}

// Both directions at once, under several tags, received in another order than sent.
void expect_transfers(const ProcessGroup& group, int64_t length) {
  const int next = (group.rank + 1) % group.size, previous = (group.rank + group.size - 1) % group.size;
  for (int round = 0; round < 3; ++round) {
    const at::Tensor empty = at::empty({0});
    std::vector<at::Tensor> in = {at::empty({length}), at::empty({5}), at::empty({length / 2})};
    worker::Transfers transfers(group,
                                {{values_of(group.rank, round, {length}, at::kFloat), next, 0},
                                 {empty, next, 3},
                                 {values_of(group.rank, round + 3, {5}, at::kFloat), next, 1},
                                 {values_of(group.rank, round + 6, {length / 2}, at::kFloat), next, 2}},
                                {{in[2], previous, 2}, {empty, previous, 3}, {in[1], previous, 1}, {in[0], previous, 0}});
    transfers.wait();
    transfers.wait();
    EXPECT_TRUE(at::equal(in[0], values_of(previous, round, {length}, at::kFloat)));
    EXPECT_TRUE(at::equal(in[1], values_of(previous, round + 3, {5}, at::kFloat)));
    EXPECT_TRUE(at::equal(in[2], values_of(previous, round + 6, {length / 2}, at::kFloat)));
  }
}

// A collective while transfers are under way keeps out of their way.
void expect_transfers_beside_collectives(const ProcessGroup& group) {
  const int next = (group.rank + 1) % group.size, previous = (group.rank + group.size - 1) % group.size;
  const at::Tensor in = at::empty({3000});
  worker::Transfers transfers(group, {{values_of(group.rank, 1, {3000}, at::kFloat), next, 0}}, {{in, previous, 0}});
  at::Tensor sum = at::ones({100});
  worker::all_reduce_sum(sum, group);
  worker::barrier(group);
  transfers.wait();
  EXPECT_TRUE(at::equal(in, values_of(previous, 1, {3000}, at::kFloat)));
  EXPECT_TRUE(at::equal(sum, at::full({100}, static_cast<double>(group.size))));
}

}  // namespace

void expect_collectives(const ProcessGroup& group) {
  expect_sums(group);
  expect_broadcast(group);
  expect_all_gather(group);
  expect_all_to_all(group);
  expect_uneven_all_to_all(group);
  expect_transfers(group, 257);
  expect_transfers(group, int64_t{1} << 18);
  expect_transfers_beside_collectives(group);
  for (int i = 0; i < 20; ++i) worker::barrier(group);
}

}  // namespace ringwright::test
