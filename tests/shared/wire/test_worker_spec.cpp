#include <gtest/gtest.h>

#include <fstream>

#include "shared/base/error.h"
#include "shared/wire/worker_spec.h"
#include "tests/shared/wire/small_daemon.h"

namespace ringwright::wire {
namespace {

WorkerSpec example() {
  WorkerSpec spec;
  spec.run = "r_0badcafe";
  spec.directory = "/somewhere/runs/r_0badcafe";
  spec.recipe = {{"sft", {{"max_num_steps", 50}}}};
  spec.paths = {{"model", "/models/demo"}, {"validation", nullptr}};
  spec.world_size = 4, spec.dp_shard = 2, spec.cp = 2;
  spec.rendezvous_port = 40001;
  spec.orphan_grace_s = 0.5;
  spec.talk.points = 12;
  spec.talk.from_run = "r_00000001";
  return spec;
}

TEST(WorkerSpec, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  write_worker_spec(example(), folder.path() / "spec.json");
  EXPECT_EQ(to_json(read_worker_spec(folder.path() / "spec.json")), to_json(example()));
}

TEST(WorkerSpec, MissingFieldIsNamed) {
  nlohmann::json json = to_json(example());
  json.erase("cp");
  try {
    worker_spec_from_json(json);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-SPEC-001");
    EXPECT_EQ(error.parts().where, "cp");
  }
}

TEST(WorkerSpec, WrongTypeIsNamed) {
  nlohmann::json json = to_json(example());
  json["world_size"] = "four";
  try {
    worker_spec_from_json(json);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().where, "world_size");
  }
}

TEST(WorkerSpec, MissingAndBrokenFilesAreNamed) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_worker_spec(folder.path() / "none.json"), Error);
  std::ofstream(folder.path() / "broken.json") << "{";
  EXPECT_THROW(read_worker_spec(folder.path() / "broken.json"), Error);
  EXPECT_THROW(write_worker_spec(example(), folder.path() / "no" / "such" / "folder"), Error);
}

}  // namespace
}  // namespace ringwright::wire
