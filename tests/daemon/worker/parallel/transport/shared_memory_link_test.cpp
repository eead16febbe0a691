// Messages over shared memory: between threads (also built with ThreadSanitizer), and between processes, one of which is killed.
#include "daemon/worker/parallel/transport/shared_memory_link.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <random>
#include <system_error>
#include <thread>

#include "daemon/worker/parallel/transport/shared_region.h"

namespace ringwright::worker {
namespace {

constexpr std::chrono::seconds kLong(60);

using Bytes = std::vector<std::byte>;

Bytes bytes_of(int seed, size_t count) {
  Bytes bytes(count);
  std::minstd_rand random(static_cast<unsigned>(seed) + 1);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

// All ranks over one mapping, so that ThreadSanitizer sees that they share it.
void run_threads(int size, size_t ring_bytes, const std::function<void(SharedMemoryLink& link, int rank)>& body) {
  const SharedRegion region = SharedRegion::create(SharedMemoryLink::bytes(size, ring_bytes));
  std::vector<std::unique_ptr<SharedMemoryLink>> links;
  for (int rank = 0; rank < size; ++rank) links.push_back(std::make_unique<SharedMemoryLink>(region.data(), rank, size, ring_bytes));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { body(*links[static_cast<size_t>(rank)], rank); });
}

// Sizes around and far above the ring's; every rank to every other at once.
TEST(SharedMemoryLink, CarriesMessagesOfAnySizeBothWays) {
  constexpr int kRanks = 3;
  const std::vector<size_t> sizes = {1, 15, 4080, 4096, 4097, 1, 100000, 0, 7};
  run_threads(kRanks, 4096, [&](SharedMemoryLink& link, int rank) {
    for (size_t round = 0; round < sizes.size(); ++round) {
      std::vector<Bytes> sent, got;
      std::vector<SharedMemoryLink::Handle> transfers;
      for (int peer = 0; peer < kRanks; ++peer) {
        sent.push_back(bytes_of(10 * rank + peer, sizes[round]));
        got.emplace_back(sizes[round]);
      }
      for (int peer = 0; peer < kRanks; ++peer) {
        if (peer == rank) continue;
        transfers.push_back(link.receive(got[static_cast<size_t>(peer)], peer, 0));
        transfers.push_back(link.send(sent[static_cast<size_t>(peer)], peer, 0));
      }
      for (const auto& transfer : transfers) link.wait(transfer, kLong);
      for (int peer = 0; peer < kRanks; ++peer) {
        if (peer == rank) continue;
        EXPECT_EQ(got[static_cast<size_t>(peer)], bytes_of(10 * peer + rank, sizes[round])) << sizes[round] << " bytes from " << peer;
      }
    }
  });
}

// The receiver asks for the last tag first: what comes before is put aside, also when it is larger than the ring and still coming.
TEST(SharedMemoryLink, MessagesMayBeReceivedInAnotherOrder) {
  for (const size_t size : {size_t{10}, size_t{50000}}) {
    run_threads(2, 4096, [&](SharedMemoryLink& link, int rank) {
      std::vector<Bytes> data;
      std::vector<SharedMemoryLink::Handle> transfers;
      for (int tag = 0; tag < 3; ++tag) {
        data.push_back(rank == 0 ? bytes_of(tag, size) : Bytes(size));
      }
      if (rank == 0) {
        for (int tag = 0; tag < 3; ++tag) transfers.push_back(link.send(data[static_cast<size_t>(tag)], 1, tag));
        for (const auto& transfer : transfers) link.wait(transfer, kLong);
        return;
      }
      for (const int tag : {2, 0, 1}) {
        const auto transfer = link.receive(data[static_cast<size_t>(tag)], 0, tag);
        link.wait(transfer, kLong);
        EXPECT_EQ(data[static_cast<size_t>(tag)], bytes_of(tag, size)) << "tag " << tag;
      }
    });
  }
}

TEST(SharedMemoryLink, AMessageThatFitsItsRingIsSentWithoutTheReceiver) {
  const SharedRegion region = SharedRegion::create(SharedMemoryLink::bytes(2));
  SharedMemoryLink sender(region.data(), 0, 2);
  const Bytes data = bytes_of(1, 1 << 20);
  sender.wait(sender.send(data, 1, 0), std::chrono::milliseconds(0));
  SharedMemoryLink receiver(region.data(), 1, 2);
  Bytes got(data.size());
  receiver.wait(receiver.receive(got, 0, 0), std::chrono::milliseconds(0));
  EXPECT_EQ(got, data);
}

TEST(SharedMemoryLink, SidesThatDisagreeAreAnError) {
  const SharedRegion region = SharedRegion::create(SharedMemoryLink::bytes(2, 4096));
  SharedMemoryLink sender(region.data(), 0, 2, 4096), receiver(region.data(), 1, 2, 4096);
  const Bytes data = bytes_of(1, 10);
  Bytes got(11);
  sender.send(data, 1, 0);
  EXPECT_THROW(receiver.wait(receiver.receive(got, 0, 0), kLong), std::runtime_error);
}

TEST(SharedMemoryLink, ARankThatLeftIsNamedToThoseWhoWaitAndToTheirWaiters) {
  const SharedRegion region = SharedRegion::create(SharedMemoryLink::bytes(3, 4096));
  auto first = std::make_unique<SharedMemoryLink>(region.data(), 0, 3, 4096);
  SharedMemoryLink second(region.data(), 1, 3, 4096), third(region.data(), 2, 3, 4096);
  Bytes got(3);
  first->wait(first->send(bytes_of(1, 3), 1, 0), kLong);
  first.reset();
  second.wait(second.receive(got, 0, 0), kLong);  // what it sent before is still there
  EXPECT_EQ(got, bytes_of(1, 3));
  const auto lost_rank = [&](SharedMemoryLink& link, int peer) {
    try {
      link.wait(link.receive(got, peer, 0), kLong);
    } catch (const LostRank& lost) {
      return lost.rank();
    }
    return -1;
  };
  EXPECT_EQ(lost_rank(second, 0), 0);
  EXPECT_EQ(lost_rank(third, 1), 0);  // rank 1 lives, but will not answer any more
}

// Waiting must not take a core from the rank that computes.
TEST(SharedMemoryLink, WaitingCostsNoProcessorTime) {
  const SharedRegion region = SharedRegion::create(SharedMemoryLink::bytes(2, 4096));
  SharedMemoryLink link(region.data(), 0, 2, 4096);
  Bytes got(1);
  const auto cpu_ms = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000.0 + static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000.0;
  };
  const double before = cpu_ms();
  EXPECT_THROW(link.wait(link.receive(got, 1, 0), std::chrono::milliseconds(500)), std::runtime_error);
  EXPECT_LT(cpu_ms() - before, 25.0);
}

struct Child {
  pid_t pid = -1;
  ~Child() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
};

// A child process that runs `body` and ends with 0, or 1 when it throws.
pid_t start_child(const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  try {
    body();
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

TEST(SharedMemoryLink, AKilledProcessIsNoticedAtOnceAndNamed) {
  const SharedRegion region = SharedRegion::create(SharedMemoryLink::bytes(2, 4096));
  Child child;
  child.pid = start_child([&] {
    SharedMemoryLink link(region.data(), 1, 2, 4096);
    Bytes data(1), got(1);
    link.wait(link.send(data, 0, 0), kLong);
    link.wait(link.receive(got, 0, 1), kLong);  // which never comes
  });
  SharedMemoryLink link(region.data(), 0, 2, 4096);
  Bytes got(1);
  link.wait(link.receive(got, 1, 0), kLong);
  link.board().watch_peers();
  std::jthread killer([&] { kill(child.pid, SIGKILL); });
  const auto begin = std::chrono::steady_clock::now();
  try {
    link.wait(link.receive(got, 1, 0), kLong);
    ADD_FAILURE() << "nothing can have come";
  } catch (const LostRank& lost) {
    EXPECT_EQ(lost.rank(), 1);
    EXPECT_THAT(lost.what(), testing::HasSubstr("ended"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(SharedRegion, IsSharedByItsAddressAndHasNoName) {
  SharedRegion region = SharedRegion::create(1 << 16);
  const SharedRegion same = SharedRegion::open(region.address(), 1 << 16);
  region.data()[100] = std::byte{42};
  EXPECT_EQ(same.data()[100], std::byte{42});
  EXPECT_NE(same.data(), region.data());
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::HasSubstr("ringwright")));
  }
  const std::string address = region.address();
  region.close_descriptor();
  EXPECT_THROW(SharedRegion::open(address, 1 << 16), std::exception);
}

TEST(SharedRegion, RefusesWhatIsNotTheMemoryThatWasMeant) {
  const SharedRegion region = SharedRegion::create(1 << 16);
  EXPECT_THROW(SharedRegion::open(region.address(), 1 << 17), std::runtime_error);
  EXPECT_THROW(SharedRegion::open("", 1), std::runtime_error);
  EXPECT_THROW(SharedRegion::open("1 x", 1), std::runtime_error);
  EXPECT_THROW(SharedRegion::open(std::to_string(getpid()) + " 1", 1 << 16), std::exception);  // stdout
}

}  // namespace
}  // namespace ringwright::worker
