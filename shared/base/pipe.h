// The two ends of a pipe that closes them by itself; no program that is started inherits them.
#pragma once

#include <array>

namespace ringwright {

class Pipe {
 public:
  // error() is what stood in its way.
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int error() const { return error_; }      // 0: none
  int reading() const { return ends_[0]; }  // -1: closed, or taken
  int writing() const { return ends_[1]; }
  void close_reading();
  void close_writing();
  // The caller's to close from now on. It never waits for bytes.
  int take_reading();

 private:
  std::array<int, 2> ends_{-1, -1};
  int error_;
};

}  // namespace ringwright
