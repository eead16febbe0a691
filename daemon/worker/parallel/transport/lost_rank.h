// What a transport throws when it cannot go on; collectives.h turns it into an Error with the rank's number in the run.
#pragma once

#include <stdexcept>
#include <string>

namespace ringwright::worker {

class LostRank : public std::runtime_error {
 public:
  // rank: inside the group. what: how it was lost, without its number: "has ended".
  LostRank(int rank, const std::string& what) : std::runtime_error(what), rank_(rank) {}

  int rank() const { return rank_; }

 private:
  int rank_;
};

}  // namespace ringwright::worker
