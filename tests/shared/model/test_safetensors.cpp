// T21 (headers that lie) and T22 (an index that names files that are not there).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "shared/base/error.h"
#include "shared/model/safetensors.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::model {
namespace {

using ::testing::HasSubstr;

constexpr size_t kAllocationBytesMax = 256 << 10;  // of one: a stream's buffer, an error's text

std::atomic<bool> g_recording{false};
std::atomic<size_t> g_largest_bytes{0};

// Of all that is allocated while it lives, the largest piece that was asked for, whether it was ever touched or not.
class AllocationRecord {
 public:
  AllocationRecord() { g_largest_bytes = 0, g_recording = true; }
  ~AllocationRecord() { g_recording = false; }
  static size_t largest_bytes() { return g_largest_bytes; }
};

void record_allocation(size_t bytes) {
  if (!g_recording) return;
  size_t before = g_largest_bytes;
  while (bytes > before && !g_largest_bytes.compare_exchange_weak(before, bytes)) continue;
}

}  // namespace
}  // namespace ringwright::model

// In the place of the library's own, for this whole program.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ringwright::model::record_allocation(bytes);
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ringwright::model {
namespace {

class SafetensorsTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const { return folder_.write(name, bytes); }
  const test::TemporaryFolder folder_;
};

std::string length_prefix(uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes;
}
std::string file_of(const std::string& header, size_t data_bytes) { return length_prefix(header.size()) + header + std::string(data_bytes, '\0'); }
std::string tensor_of(const std::string& name, const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

struct Lie {
  const char* name;
  std::string bytes;
  const char* reason;  // part of what the error says
  const char* tensor;  // named in `where`
};

const std::vector<Lie>& lies() {
  static const std::vector<Lie> all = {
      {"overlap", file_of("{" + tensor_of("a", "[2]", "[0,8]") + "," + tensor_of("b", "[2]", "[0,8]") + "}", 8), "overlap", "'b'"},
      {"shape_against_offsets", file_of("{" + tensor_of("a", "[1000,1000]", "[0,4]") + "}", 4), "4000000 bytes", "'a'"},
      {"gap", file_of("{" + tensor_of("a", "[1]", "[4,8]") + "}", 8), "gap", "'a'"},
      {"uncovered_tail", file_of("{" + tensor_of("a", "[1]", "[0,4]") + "}", 8), "cover 4 of 8", ""},
      {"size_beyond_63_bits", file_of("{" + tensor_of("a", "[9223372036854775808,4]", "[0,4]") + "}", 4), "9223372036854775808 is too large", "'a'"},
      {"shape_overflow", file_of("{" + tensor_of("a", "[9223372036854775807,4]", "[0,4]") + "}", 4), "overflows", "'a'"},
      {"long_length", length_prefix(132095296) + "{}", "132095296", ""},
      {"three_bytes", "abc", "3 bytes", ""},
      {"pointer_file", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "pointer file", ""},
  };
  return all;
}

TEST_F(SafetensorsTest, T21LyingHeadersAreRefusedWithFileTensorAndReason) {
  for (const Lie& lie : lies()) {
    const auto file = write(lie.name, lie.bytes);
    const AllocationRecord record;
    try {
      read_safetensors_header(file);
      ADD_FAILURE() << lie.name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-CKPT-001") << lie.name;
      EXPECT_THAT(error.parts().what, HasSubstr(lie.reason)) << lie.name;
      EXPECT_THAT(error.parts().where, HasSubstr(file.string())) << lie.name;
      EXPECT_THAT(error.parts().where, HasSubstr(lie.tensor)) << lie.name;
    }
    EXPECT_GT(AllocationRecord::largest_bytes(), 0u) << "nothing was recorded";
    EXPECT_LT(AllocationRecord::largest_bytes(), kAllocationBytesMax) << lie.name << ": a length was believed";
  }
}

TEST_F(SafetensorsTest, T21MetadataAloneIsValid) {
  const SafetensorsHeader header = read_safetensors_header(write("meta", file_of(R"({"__metadata__":{"format":"pt"}})", 0)));
  EXPECT_TRUE(header.tensors.empty());
  EXPECT_EQ(header.metadata.at("format"), "pt");
}

TEST(SafetensorsHeaderTest, AgreesWithTheReferenceLibraryOnOddHeaders) {
  const std::string good = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  struct Case {
    std::string header;
    size_t data_bytes;
    bool accepted;
  };
  const std::vector<Case> cases = {
      {" {\"a\":" + good + "}", 8, true},
      {"{\"a\":" + good + "}  \n", 8, true},
      {"{\"__metadata__\":null,\"a\":" + good + "}", 8, true},
      {R"({"a":{"dtype":"F32","extra":[1,{"b":[2]}],"shape":[2],"data_offsets":[0,8]}})", 8, true},
      {R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", 2, true},
      {R"({"a":{"dtype":"F32","shape":[0,9223372036854775807,4],"data_offsets":[0,0]}})", 0, true},
      {"{}", 0, true},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, false},
      {"{\"a\":" + good + ",\"a\":" + good + "}", 8, false},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-0,8]}})", 8, false},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, false},
      {"\xef\xbb\xbf{\"a\":" + good + "}", 8, false},
      {"{\"a\":" + good + "}" + std::string(2, '\0'), 8, false},
      {R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2, false},
      {R"({"a":{"dtype":"F32","shape":[9223372036854775807,4,0],"data_offsets":[0,0]}})", 0, false},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", 8, false},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, false},
      {R"({"a":[{"dtype":"F32"}]})", 8, false},
      {"[]", 0, false},
      {"", 0, false},
      {"{\"\xff\":" + good + "}", 8, false},
      {R"({"__metadata__":{"a":"b"},"__metadata__":{"a":"b"}})", 0, false},
      {R"({"a":{"dtype":"F32","x":)" + std::string(200, '[') + std::string(200, ']') + R"(,"shape":[2],"data_offsets":[0,8]}})", 8, false},
  };
  for (const Case& one : cases) {
    const std::string bytes = file_of(one.header, one.data_bytes);
    bool accepted = true;
    try {
      parse_safetensors_header(bytes, bytes.size(), "memory");
    } catch (const Error&) {
      accepted = false;
    }
    EXPECT_EQ(accepted, one.accepted) << one.header;
  }
}

TEST_F(SafetensorsTest, T22IndexWithMissingShardNamesItAndItsTensorCount) {
  write("model-00001-of-00002.safetensors", file_of("{" + tensor_of("a", "[2]", "[0,8]") + "}", 8));
  write("model.safetensors.index.json",
        R"({"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors","c":"model-00002-of-00002.safetensors"}})");
  try {
    index_checkpoint(folder_.path());
    FAIL() << "the index was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-CKPT-002");
    EXPECT_THAT(error.parts().what, HasSubstr("model-00002-of-00002.safetensors (2 tensors)"));
  }
}

TEST_F(SafetensorsTest, T22StrayFileIsIgnoredAndNoted) {
  write("model-00001-of-00001.safetensors", file_of("{" + tensor_of("a", "[2]", "[0,8]") + "}", 8));
  write("old.safetensors", "not weights");
  write("model.safetensors.index.json", R"({"weight_map":{"a":"model-00001-of-00001.safetensors"}})");
  const auto tensors = index_checkpoint(folder_.path());
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors.at("a").file.filename(), "model-00001-of-00001.safetensors");
  EXPECT_EQ(tensors.at("a").file_offset, std::filesystem::file_size(tensors.at("a").file) - 8);
  EXPECT_EQ(stray_weight_files(folder_.path()), std::vector<std::string>{"old.safetensors"});
}

TEST_F(SafetensorsTest, IndexThatLeavesTheFolderOrPromisesTooMuchIsRefused) {
  write("part.safetensors", file_of("{" + tensor_of("a", "[2]", "[0,8]") + "}", 8));
  for (const char* map : {R"({"a":"../part.safetensors"})", R"({"a":"part.safetensors","b":"part.safetensors"})", R"({"a":1})"}) {
    write("model.safetensors.index.json", std::string(R"({"weight_map":)") + map + "}");
    try {
      index_checkpoint(folder_.path());
      ADD_FAILURE() << map;
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-CKPT-002") << map;
    }
  }
}

TEST_F(SafetensorsTest, FolderWithoutWeightsSaysHowToMakeThem) {
  try {
    index_checkpoint(folder_.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-CKPT-003");
    EXPECT_THAT(error.parts().action, HasSubstr("--init"));
  }
}

}  // namespace
}  // namespace ringwright::model
