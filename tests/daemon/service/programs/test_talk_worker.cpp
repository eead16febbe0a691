// The talk-only worker without LibTorch.
#include "daemon/worker/runtime/talk.h"
#include "tests/daemon/service/programs/worker_arguments.h"

int main(int count, char** arguments) {
  const ringwright::WorkerArguments given = ringwright::read_worker_arguments(count, arguments);
  ringwright::worker::Channel channel(given.channel_options());
  ringwright::worker::talk(channel, given.spec.talk_points);
  return 0;
}
