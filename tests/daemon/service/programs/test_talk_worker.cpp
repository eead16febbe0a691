// The talk-only worker without LibTorch.
#include <nlohmann/json.hpp>

#include "daemon/worker/runtime/talk.h"
#include "shared/base/error.h"
#include "tests/daemon/service/programs/worker_arguments.h"

int main(int count, char** arguments) {
  const ringwright::WorkerArguments given = ringwright::read_worker_arguments(count, arguments);
  ringwright::worker::Channel channel(given.channel_options());
  try {
    ringwright::worker::talk(channel, given.spec.talk, given.rank);
  } catch (const ringwright::Error& error) {
    channel.event("run.error", to_json(error.parts()));
    channel.finish();
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
