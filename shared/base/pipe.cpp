#include "shared/base/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ringwright {
namespace {

void close_end(int& end) {
  if (const int closed = std::exchange(end, -1); closed >= 0) ::close(closed);
}

}  // namespace

Pipe::Pipe() : error_(::pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno) {}

Pipe::~Pipe() {
  close_reading();
  close_writing();
}

void Pipe::close_reading() { close_end(ends_[0]); }
void Pipe::close_writing() { close_end(ends_[1]); }

int Pipe::take_reading() {
  ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  return std::exchange(ends_[0], -1);
}

}  // namespace ringwright
