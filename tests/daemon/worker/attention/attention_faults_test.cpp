// A rank that dies while keys and values are under way.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "daemon/worker/context_parallel/attention_method.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;

// Ends the process, without a word, in place of one send.
class DyingBackend final : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;

  DyingBackend(c10::intrusive_ptr<c10d::Backend> inner, int sends)
      : Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)), left_(sends) {}

  const std::string getBackendName() const override { return "dying"; }
  Work send(std::vector<at::Tensor>& tensors, int rank, int tag) override {
    if (left_-- == 0) _exit(0);
    return inner_->send(tensors, rank, tag);
  }
  Work recv(std::vector<at::Tensor>& tensors, int rank, int tag) override { return inner_->recv(tensors, rank, tag); }

 private:
  c10::intrusive_ptr<c10d::Backend> inner_;
  int left_;
};

constexpr int kVictim = 1;
constexpr std::chrono::seconds kDelayMax(10);

// `sends`: how many of its sends the victim makes; of a forward pass on three ranks 4, of the backward pass 6 more.
void expect_the_victim_named(const ProcessGroups& ranks, int sends) {
  ProcessGroup group = ranks.group("cp");
  if (group.rank == kVictim) group.backend = c10::make_intrusive<DyingBackend>(group.backend, sends);
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout("round_robin", group.size);
  const Tensors local = cut(make_tensors({.kv_heads = 6}, 60), local_map(*layout, 60, group.rank), at::kFloat);
  const auto start = std::chrono::steady_clock::now();
  try {
    run(local, make_attention("ring", layout, group), {});
    ADD_FAILURE() << "rank " << group.rank << " did not notice";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-GROUP-004");
    EXPECT_NE(error.parts().what.find("rank 1"), std::string::npos) << error.parts().what;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, kDelayMax);
  _exit(testing::Test::HasFailure() ? 1 : 0);  // there is nobody left for a barrier
}

RANK_TEST(AttentionFaults, ARankThatDiesInTheForwardRingIsNamed, 3) { expect_the_victim_named(ranks, 2); }
RANK_TEST(AttentionFaults, ARankThatDiesInTheBackwardRingIsNamed, 3) { expect_the_victim_named(ranks, 6); }

}  // namespace
}  // namespace ringwright::worker
