// The mailbox between rank threads; also built with ThreadSanitizer.
#include "daemon/worker/parallel/transport/mailbox.h"

#include <gmock/gmock.h>

#include <numeric>
#include <thread>

namespace ringwright::worker {
namespace {

using Numbers = std::shared_ptr<std::vector<int>>;

struct CopyNumbers {
  void operator()(const Numbers& from, const Numbers& to) const {
    if (from->size() != to->size()) throw std::length_error("sizes differ");
    *to = *from;
  }
};

using NumbersMailbox = Mailbox<Numbers, CopyNumbers>;

constexpr std::chrono::seconds kLong(60);

Numbers numbers(int first, size_t count) {
  auto result = std::make_shared<std::vector<int>>(count);
  std::iota(result->begin(), result->end(), first);
  return result;
}

// Every rank sends to every rank under two tags, many times, in both orders of posting.
TEST(Mailbox, KeepsTheOrderOfEachSourceAndTag) {
  constexpr int kRanks = 4, kRounds = 200;
  NumbersMailbox mailbox(kRanks, {});
  const auto run = [&](int rank) {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<NumbersMailbox::Handle> transfers;
      std::vector<std::pair<Numbers, int>> expected;
      for (int peer = 0; peer < kRanks; ++peer) {
        for (int tag : {0, 7}) {
          const auto first_of = [&](int source) { return 1000 * source + 10 * round + tag; };
          if (round % 2 == 0) transfers.push_back(mailbox.send(rank, peer, tag, numbers(first_of(rank), 5)));
          expected.emplace_back(numbers(-1, 5), first_of(peer));
          transfers.push_back(mailbox.receive(rank, peer, tag, expected.back().first));
          if (round % 2 == 1) transfers.push_back(mailbox.send(rank, peer, tag, numbers(first_of(rank), 5)));
        }
      }
      for (const auto& transfer : transfers) mailbox.wait(transfer, kLong);
      for (const auto& [got, first] : expected) EXPECT_EQ(*got, *numbers(first, 5)) << "rank " << rank << " round " << round;
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kRanks; ++rank) threads.emplace_back(run, rank);
}

TEST(Mailbox, ALostRankEndsEveryWaitAndIsNamed) {
  NumbersMailbox mailbox(3, {});
  std::vector<int> named(2, -1);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          mailbox.wait(mailbox.receive(rank, 1 - rank, 0, numbers(0, 1)), kLong);
        } catch (const LostRank& lost) {
          named[static_cast<size_t>(rank)] = lost.rank();
        }
      });
    }
    mailbox.lose(2, "has failed");
    mailbox.lose(0, "has failed because of rank 2");
  }
  EXPECT_THAT(named, testing::ElementsAre(2, 2));
}

TEST(Mailbox, ARankThatLeftIsMissedOnlyByThoseWhoWaitForIt) {
  NumbersMailbox mailbox(2, {});
  const Numbers got = numbers(0, 3);
  mailbox.send(1, 0, 0, numbers(5, 3));
  mailbox.leave(1);
  mailbox.wait(mailbox.receive(0, 1, 0, got), kLong);  // what it sent before is still there
  EXPECT_EQ(*got, *numbers(5, 3));
  EXPECT_THROW(mailbox.wait(mailbox.receive(0, 1, 0, got), kLong), LostRank);
}

TEST(Mailbox, BothSidesSeeThatTheyDisagree) {
  NumbersMailbox mailbox(2, {});
  const auto sent = mailbox.send(0, 1, 0, numbers(0, 3)), received = mailbox.receive(1, 0, 0, numbers(0, 4));
  EXPECT_THROW(mailbox.wait(sent, kLong), std::length_error);
  EXPECT_THROW(mailbox.wait(received, kLong), std::length_error);
}

TEST(Mailbox, AWaitEndsInTime) {
  NumbersMailbox mailbox(2, {});
  EXPECT_THROW(mailbox.wait(mailbox.receive(0, 1, 0, numbers(0, 1)), std::chrono::milliseconds(1)), std::runtime_error);
}

}  // namespace
}  // namespace ringwright::worker
