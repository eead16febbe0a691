// The arguments that the daemon gives to a worker.
#pragma once

#include <cstdlib>
#include <string>

#include "daemon/worker/runtime/channel.h"
#include "shared/wire/worker_spec.h"

namespace ringwright {

struct WorkerArguments {
  wire::WorkerSpec spec;
  std::string endpoint;
  int rank = 0;
  int listen_fd = -1;

  worker::ChannelOptions channel_options() const {
    worker::ChannelOptions options;
    options.endpoint = endpoint;
    options.run = spec.run;
    options.rank = rank;
    options.orphan_grace_s = spec.orphan_grace_s;
    options.directory = spec.directory;
    return options;
  }
};

inline WorkerArguments read_worker_arguments(int count, char** arguments) {
  WorkerArguments result;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i], value = arguments[i + 1];
    if (name == "--spec") result.spec = wire::read_worker_spec(value);
    if (name == "--channel") result.endpoint = value;
    if (name == "--rank") result.rank = std::atoi(value.c_str());
    if (name == "--listen-fd") result.listen_fd = std::atoi(value.c_str());
  }
  return result;
}

}  // namespace ringwright
