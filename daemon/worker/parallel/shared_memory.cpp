#include "daemon/worker/parallel/shared_memory.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/worker/parallel/message_backend.h"
#include "daemon/worker/parallel/transport/shared_memory_link.h"
#include "daemon/worker/parallel/transport/shared_region.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

std::string key_of(const char* what, int rank) { return fmt::format("{}/{}", what, rank); }

// What every rank said under `what`, in rank order; waits for all.
std::vector<std::string> gather_texts(const StorePtr& store, const char* what, const ProcessGroup& group, const std::string& own) {
  store->set(key_of(what, group.rank), own);
  std::vector<std::string> texts;
  for (int rank = 0; rank < group.size; ++rank) texts.push_back(store->get_to_str(key_of(what, rank)));
  return texts;
}

// The first fault that a rank names, or "".
std::string first_fault(const StorePtr& store, const char* what, const ProcessGroup& group, const std::string& own) {
  const std::vector<std::string> faults = gather_texts(store, what, group, own);
  for (size_t rank = 0; rank < faults.size(); ++rank) {
    if (!faults[rank].empty()) return fmt::format("rank {}: {}", group.global_ranks[rank], faults[rank]);
  }
  return "";
}

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

struct Shared {
  std::optional<SharedRegion> region;
  std::string fault;
};

// Rank 0 makes the memory, the others map it. All agree on whether it worked; after that, nobody else can open it.
Shared share_region(const StorePtr& store, const ProcessGroup& group, size_t bytes) {
  const std::vector<std::string> hosts = gather_texts(store, "host", group, host_identity());
  for (size_t rank = 1; rank < hosts.size(); ++rank) {
    if (hosts[rank] != hosts[0]) return {{}, fmt::format("ranks {} and {} are not on one host", group.global_ranks[0], group.global_ranks[rank])};
  }
  SharedRegion region;
  std::string fault;
  if (group.rank == 0) {
    fault = fault_of([&] { region = SharedRegion::create(bytes); });
    store->set("region", fault.empty() ? region.address() : "");
  } else {
    const std::string address = store->get_to_str("region");
    if (!address.empty()) fault = fault_of([&] { region = SharedRegion::open(address, bytes); });
  }
  fault = first_fault(store, "mapped", group, fault);
  region.close_descriptor();
  if (!fault.empty()) return {{}, fault};
  return {std::move(region), ""};
}

// Its memory outlives the object that lies in it.
template <class Object>
struct InRegion {
  template <class... Arguments>
  explicit InRegion(SharedRegion&& shared, Arguments... arguments) : region(std::move(shared)), object(region.data(), arguments...) {}
  SharedRegion region;
  Object object;
};

// Each rank is written down before any looks for the others.
std::string watch_peers(const StorePtr& store, const ProcessGroup& group, RankBoard& board) {
  gather_texts(store, "here", group, "");
  return first_fault(store, "watched", group, fault_of([&] { board.watch_peers(); }));
}

class SharedMemoryMessages final : public TensorMessages {
 public:
  explicit SharedMemoryMessages(std::unique_ptr<InRegion<SharedMemoryLink>> link) : link_(std::move(link)) {}

  std::string name() const override { return "shared_memory"; }
  Handle send(const at::Tensor& tensor, int rank, int tag) override {
    const auto bytes = bytes_of(tensor);
    return wrap(link_->object.send(bytes, rank, tag, std::make_shared<at::Tensor>(tensor.detach())));
  }
  Handle receive(const at::Tensor& tensor, int rank, int tag) override {
    return wrap(link_->object.receive(bytes_of(tensor), rank, tag, std::make_shared<at::Tensor>(tensor.detach())));
  }
  void wait(const Handle& transfer, std::chrono::milliseconds timeout) override {
    link_->object.wait(static_cast<const LinkTransfer&>(*transfer).link, timeout);
  }

 private:
  struct LinkTransfer final : Transfer {
    explicit LinkTransfer(SharedMemoryLink::Handle handle) : link(std::move(handle)) {}
    SharedMemoryLink::Handle link;
  };
  static Handle wrap(SharedMemoryLink::Handle link) { return std::make_shared<LinkTransfer>(std::move(link)); }

  static std::span<std::byte> bytes_of(const at::Tensor& tensor) {
    if (!tensor.is_cpu()) {
      throw Error({.code = "RW-GROUP-006",
                   .what = fmt::format("a tensor on {} was given to the shared-memory transport", tensor.device().str()),
                   .where = "process group",
                   .expected = "a tensor on the CPU",
                   .action = "set ringwright.cp.transport to auto",
                   .exit_code = ExitCode::run_failed});
    }
    return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
  }

  std::unique_ptr<InRegion<SharedMemoryLink>> link_;
};

}  // namespace

SharedMemoryGroup connect_shared_memory(const StorePtr& store, const ProcessGroup& group) {
  Shared shared = share_region(store, group, SharedMemoryLink::bytes(group.size));
  if (!shared.region) return {nullptr, shared.fault};
  auto link = std::make_unique<InRegion<SharedMemoryLink>>(std::move(*shared.region), group.rank, group.size);
  const std::string fault = watch_peers(store, group, link->object.board());
  if (!fault.empty()) return {nullptr, fault};
  auto messages = std::make_shared<SharedMemoryMessages>(std::move(link));
  return {c10::make_intrusive<MessageBackend>(std::move(messages), group.rank, group.size, store->getTimeout()), "its ranks are on one host"};
}

std::shared_ptr<RankBoard> connect_rank_board(const StorePtr& store, const ProcessGroup& group) {
  Shared shared = share_region(store, group, RankBoard::bytes(group.size));
  if (!shared.region) return nullptr;
  const auto board = std::make_shared<InRegion<RankBoard>>(std::move(*shared.region), group.rank, group.size);
  if (!watch_peers(store, group, board->object).empty()) return nullptr;
  return {board, &board->object};
}

}  // namespace ringwright::worker
