// Loading the CUDA plug-in: every way it can be absent is a text, and the worker goes on.
#include "daemon/worker/kernels/plugin.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

TEST(CudaPlugin, AMissingFileIsAText) {
  const CudaPlugin plugin = load_cuda_plugin("/nonexistent/rw_cuda.so");
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_THAT(plugin.reason, testing::HasSubstr("/nonexistent/rw_cuda.so"));
}

TEST(CudaPlugin, ALibraryThatIsNoPluginIsAText) {
  const CudaPlugin plugin = load_cuda_plugin("libm.so.6");
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_THAT(plugin.reason, testing::HasSubstr("no CUDA plug-in of Ringwright"));
}

TEST(CudaPlugin, IsLookedForBesideTheProgram) {
  setenv("RINGWRIGHT_CUDA_PLUGIN", "/somewhere/rw_cuda.so", 1);
  const auto files = cuda_plugin_candidates();
  unsetenv("RINGWRIGHT_CUDA_PLUGIN");
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0], "/somewhere/rw_cuda.so");
  EXPECT_EQ(files[1].filename(), "rw_cuda.so");
  EXPECT_EQ(cuda_plugin_candidates().size(), 3u);
}

TEST(CudaPlugin, WithoutAGpuTheReasonIsNamed) {
  const std::string problem = cuda_driver_problem();
  if (problem.empty()) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  EXPECT_EQ(cuda_plugin().functions, nullptr);
  EXPECT_EQ(cuda_plugin().reason, problem);
  try {
    require_cuda();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-CUDA-001");
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.parts().what, testing::HasSubstr(problem));
  }
}

}  // namespace
}  // namespace ringwright::worker
