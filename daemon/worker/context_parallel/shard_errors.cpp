#include "daemon/worker/context_parallel/shard_errors.h"

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

[[noreturn]] void throw_shard_error(const char* code, const std::string& what, const std::string& expected, const char* action) {
  throw Error({.code = code, .what = what, .where = "context parallelism", .expected = expected, .action = action, .exit_code = ExitCode::refused});
}

}  // namespace

void throw_bad_argument(const std::string& what, const std::string& expected) {
  throw_shard_error("RW-SHARD-001", what, expected, "look at how the batch was built");
}

void throw_missing_key(const std::string& key) {
  throw_shard_error("RW-SHARD-002", "the batch has no \"" + key + "\"", "a tensor of this name", "add it to the batch");
}

void throw_unsupported(const std::string& what, const std::string& expected) {
  throw_shard_error("RW-SHARD-003", what, expected, "bring the batch into the form that is expected, or choose another ringwright.cp.flavour");
}

void throw_misuse(const std::string& what, const std::string& expected) {
  throw_shard_error("RW-SHARD-004", what, expected, "look at how the sharder was made");
}

}  // namespace ringwright::worker
