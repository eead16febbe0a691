#include "daemon/worker/parallel/in_process.h"

#include <ATen/ATen.h>
#include <c10/core/AutogradState.h>
#include <fmt/format.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "daemon/worker/parallel/message_backend.h"
#include "daemon/worker/parallel/transport/mailbox.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

// How long a rank waits for others that are slow but alive; a rank that fails ends every wait at once.
constexpr std::chrono::minutes kConnectTimeout(2);

struct CopyTensor {
  void operator()(const at::Tensor& from, const at::Tensor& to) const {
    if (from.numel() != to.numel() || from.scalar_type() != to.scalar_type()) {
      throw Error({.code = "RW-GROUP-006",
                   .what = fmt::format("a message of {} {} was received as {} {}", from.numel(), c10::toString(from.scalar_type()), to.numel(),
                                       c10::toString(to.scalar_type())),
                   .where = "in-process group",
                   .expected = "both sides name the same count and type",
                   .action = "report this with the run's log: the engine called a collective wrongly",
                   .exit_code = ExitCode::run_failed});
    }
    const at::NoGradGuard no_grad;
    to.view(-1).copy_(from.view(-1), /*non_blocking=*/true);
  }
};

using TensorMailbox = Mailbox<at::Tensor, CopyTensor>;

class InProcessMessages final : public TensorMessages {
 public:
  InProcessMessages(std::shared_ptr<TensorMailbox> mailbox, int rank) : mailbox_(std::move(mailbox)), rank_(rank) {}
  ~InProcessMessages() override { mailbox_->leave(rank_); }

  std::string name() const override { return "in_process"; }
  Handle send(const at::Tensor& tensor, int rank, int tag) override { return wrap(mailbox_->send(rank_, rank, tag, tensor.detach())); }
  Handle receive(const at::Tensor& tensor, int rank, int tag) override { return wrap(mailbox_->receive(rank_, rank, tag, tensor.detach())); }
  void wait(const Handle& transfer, std::chrono::milliseconds timeout) override {
    mailbox_->wait(static_cast<const MailTransfer&>(*transfer).mail, timeout);
  }

 private:
  struct MailTransfer final : Transfer {
    explicit MailTransfer(TensorMailbox::Handle handle) : mail(std::move(handle)) {}
    TensorMailbox::Handle mail;
  };
  static Handle wrap(TensorMailbox::Handle mail) { return std::make_shared<MailTransfer>(std::move(mail)); }

  std::shared_ptr<TensorMailbox> mailbox_;
  const int rank_;
};

}  // namespace

// One mailbox for each set of ranks that has met.
class InProcessWorld::Groups {
 public:
  std::shared_ptr<TensorMailbox> mailbox(const std::vector<int>& global_ranks) {
    const std::lock_guard lock(mutex_);
    auto& mailbox = mailboxes_[global_ranks];
    if (!mailbox) {
      mailbox = std::make_shared<TensorMailbox>(static_cast<int>(global_ranks.size()), CopyTensor());
      if (!lost_how_.empty()) lose_in(global_ranks, *mailbox);
    }
    return mailbox;
  }

  void lose(int rank, const std::string& how) {
    const std::lock_guard lock(mutex_);
    if (lost_how_.empty()) {
      lost_rank_ = rank;
      lost_how_ = how;
    }
    for (const auto& [ranks, mailbox] : mailboxes_) lose_in(ranks, *mailbox);
  }

 private:
  void lose_in(const std::vector<int>& ranks, TensorMailbox& mailbox) const {
    const auto place = std::find(ranks.begin(), ranks.end(), lost_rank_);
    if (place != ranks.end()) mailbox.lose(static_cast<int>(place - ranks.begin()), lost_how_);
  }

  std::mutex mutex_;
  std::map<std::vector<int>, std::shared_ptr<TensorMailbox>> mailboxes_;
  int lost_rank_ = -1;
  std::string lost_how_;
};

InProcessWorld::InProcessWorld(int size) : size_(size), store_(c10::make_intrusive<c10d::HashStore>()), groups_(std::make_shared<Groups>()) {}
InProcessWorld::~InProcessWorld() = default;

ProcessGroups InProcessWorld::connect(const mesh::Mesh& mesh, int rank) {
  Rendezvous rendezvous;
  rendezvous.rank = rank;
  rendezvous.world_size = size_;
  rendezvous.store = store_;
  ProcessGroupOptions options;
  options.connect_timeout = kConnectTimeout;
  options.backend_factory = [groups = groups_](const c10::intrusive_ptr<c10d::Store>&, ProcessGroup& group) {
    auto messages = std::make_shared<InProcessMessages>(groups->mailbox(group.global_ranks), group.rank);
    group.backend = c10::make_intrusive<MessageBackend>(std::move(messages), group.rank, group.size, kConnectTimeout);
    group.transport_reason = "its ranks are threads of one process";
  };
  return ProcessGroups(mesh, rendezvous, options);
}

void InProcessWorld::lose(int rank, const std::string& how) { groups_->lose(rank, how); }

RankThread::RankThread() : multithreading_(c10::AutogradState::get_tls_state().get_multithreading_enabled()) {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

RankThread::~RankThread() { c10::AutogradState::get_tls_state().set_multithreading_enabled(multithreading_); }

}  // namespace ringwright::worker
