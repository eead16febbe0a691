#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/fingerprint/machine.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::fingerprint {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;

TEST(Machine, NamesItselfAndItsLibraries) {
  const nlohmann::json node = node_fingerprint();
  EXPECT_FALSE(node.at("node").get<std::string>().empty());
  EXPECT_TRUE(node.at("kernel").get<std::string>().starts_with("Linux "));
  EXPECT_GT(node.at("cpu").at("cores").get<int>(), 0);
  EXPECT_GT(node.at("memory_bytes").get<uint64_t>(), 1u << 20);
  EXPECT_NE(node.at("file_handles").at("soft").get<int64_t>(), 0);
  EXPECT_TRUE(node.at("gpu").at("count").is_number_integer());
  EXPECT_EQ(node.at("ringwright"), RINGWRIGHT_VERSION);
  for (const char* library : {"sqlite", "zmq", "yaml-cpp", "xxhash", "nlohmann-json"})
    EXPECT_NE(node.at("libraries").at(library).get<std::string>().find('.'), std::string::npos) << library;
  EXPECT_FALSE(node.at("libraries").contains("libtorch")) << "no folder was named";
}

TEST(Machine, NoProcessorComputesFasterThanItsWidestVectors) {
  const auto bound = [](std::vector<std::string> flags) { return float32_flops_per_s_max({{"cores", 2}, {"flags", std::move(flags)}}); };
  EXPECT_DOUBLE_EQ(bound({"avx2", "avx512f"}), 2 * 6.5e9 * 64);
  EXPECT_DOUBLE_EQ(bound({"avx2"}), 2 * 6.5e9 * 32);
  EXPECT_DOUBLE_EQ(bound({}), 2 * 6.5e9 * 16);
}

TEST(Machine, ReadsProcessorPortsAndGpusFromTheSystem) {
  TemporaryFolder root;
  root.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Made Up 9000\nflags\t\t: fpu avx2 unknown avx512f\n");
  root.write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  root.write("proc/sys/net/ipv4/ip_local_reserved_ports", "40000-40010\n");
  root.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23 2025\nGCC version: 13\n");
  root.write("proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 1\n");
  for (const char* device : {"dev/nvidia0", "dev/nvidiactl", "dev/nvidia-uvm"}) root.write(device, "");
  const nlohmann::json node = node_fingerprint({.root = root.path()});
  EXPECT_EQ(node.at("cpu").at("model"), "Made Up 9000");
  EXPECT_THAT(node.at("cpu").at("flags"), ElementsAre("avx2", "avx512f"));
  EXPECT_EQ(node.at("ports"), (nlohmann::json{{"first", 32768}, {"last", 60999}, {"reserved", "40000-40010"}}));
  EXPECT_EQ(node.at("gpu").at("count"), 1);
  EXPECT_EQ(node.at("gpu").at("driver"), "570.86.15");
  EXPECT_THAT(node.at("gpu").at("models"), ElementsAre("NVIDIA H200"));
  EXPECT_FALSE(node.contains("shm_bytes")) << "this machine has no dev/shm";
}

TEST(Machine, ReadsTheVersionOfLibTorchFromItsFolder) {
  TemporaryFolder folder;
  folder.write("torch/include/torch/headeronly/version.h", "#pragma once\n#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION \"2.11.0\"\n");
  EXPECT_EQ(node_fingerprint({.torch_folder = folder / "torch"}).at("libraries").at("libtorch"), "2.11.0");
  folder.write("torch/version.py", "from typing import Optional\n__version__ = '2.11.0+cu130'\n");
  EXPECT_EQ(node_fingerprint({.torch_folder = folder / "torch"}).at("libraries").at("libtorch"), "2.11.0+cu130");
}

TEST(Machine, FindsWhereALoadedLibraryLies) {
  EXPECT_FALSE(folder_of_loaded("libc.so.6").empty());
  EXPECT_TRUE(folder_of_loaded("libmade_up.so").empty());
}

}  // namespace
}  // namespace ringwright::fingerprint
