#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shared/tensorboard/crc32c.h"
#include "shared/tensorboard/event.h"
#include "shared/tensorboard/record_file.h"
#include "shared/tensorboard/wire_format.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::tensorboard {
namespace {

using test::error_code;
using testing::HasSubstr;

// RFC 3720, appendix B.4; "123456789" is the check value of the catalogues.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(crc32c(""), 0u);
}

// A record as TensorFlow's own writer frames it.
TEST(Records, AreFramedWithLengthAndMaskedChecksums) {
  const std::string framed = frame_record("abc");
  EXPECT_EQ(framed.size(), 8 + 4 + 3 + 4u);
  EXPECT_EQ(read_little_endian<uint64_t>(framed), 3u);
  const uint32_t crc = crc32c(std::string_view(framed).substr(0, 8));
  EXPECT_EQ(read_little_endian<uint32_t>(std::string_view(framed).substr(8)), ((crc >> 15) | (crc << 17)) + 0xa282ead8u);
}

class RecordFiles : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& bytes, uint64_t* cut_off = nullptr) {
    RecordFile file(folder_.write("events.out.tfevents.1", bytes));
    std::vector<std::string> records;
    for (std::string record; file.next(record);) records.push_back(record);
    if (cut_off) *cut_off = file.bytes_cut_off();
    return records;
  }
  test::TemporaryFolder folder_;
};

TEST_F(RecordFiles, ComeBackAsTheyWereWritten) {
  const std::vector<std::string> records = {"one", "", std::string(100'000, 'x')};
  std::string bytes;
  for (const std::string& record : records) bytes += frame_record(record);
  EXPECT_EQ(read(bytes), records);
}

// A job that is killed leaves a record that was begun: what stands before it is good.
TEST_F(RecordFiles, ALastRecordThatWasNeverFinishedIsLeftOut) {
  const std::string whole = frame_record("one"), second = frame_record("two");
  for (size_t length = 1; length < second.size(); ++length) {
    uint64_t cut_off = 0;
    EXPECT_EQ(read(whole + second.substr(0, length), &cut_off), std::vector<std::string>{"one"}) << length;
    EXPECT_EQ(cut_off, length);
  }
}

TEST_F(RecordFiles, EveryBitThatIsTurnedIsFound) {
  const std::string good = frame_record("one") + frame_record("two");
  for (size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ 0x10);
    EXPECT_EQ(error_code([&] { read(bad); }), "RW-TB-002") << byte;
  }
}

TEST_F(RecordFiles, AHugeRecordIsRefusedBeforeItIsRead) {
  std::string head = little_endian(uint64_t{1} << 40);
  head += little_endian(masked_crc32c(head));
  const ErrorParts parts = test::error_of([&] { read(head + "x"); });
  EXPECT_EQ(parts.code, "RW-TB-002");
  EXPECT_THAT(parts.what, HasSubstr("1099511627776 bytes"));
  EXPECT_EQ(error_code([&] { RecordFile file(folder_ / "none"); }), "RW-TB-001");
  EXPECT_EQ(error_code([&] { RecordFile file(folder_.path()); }), "RW-TB-001");
}

TEST(Events, ScalarsComeBack) {
  Event event;
  event.wall_time_s = 1.7e9 + 0.25;
  event.step = 12;
  event.scalars = {{"train/loss", 2.5}, {"train/lr", 1e-5}, {"nan", std::nan("")}, {"inf", std::numeric_limits<double>::infinity()}};
  const Event back = decode_event(encode_event(event));
  EXPECT_EQ(back.wall_time_s, event.wall_time_s);
  EXPECT_EQ(back.step, 12);
  ASSERT_EQ(back.scalars.size(), 4u);
  EXPECT_EQ(back.scalars[0].tag, "train/loss");
  EXPECT_EQ(back.scalars[0].value, 2.5);
  EXPECT_EQ(back.scalars[1].value, static_cast<float>(1e-5));
  EXPECT_TRUE(std::isnan(back.scalars[2].value));
  EXPECT_TRUE(std::isinf(back.scalars[3].value));
}

// Bytes put together by the .proto files, not by our writer: train/loss = 3.25 at step 7, time 1.0.
TEST(Events, AnEventOfAnotherWriterIsRead) {
  const std::string record("\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x07\x2a\x13\x0a\x11\x0a\x0atrain/loss\x15\x00\x00\x50\x40", 32);
  const Event event = decode_event(record);
  EXPECT_EQ(event.wall_time_s, 1.0);
  EXPECT_EQ(event.step, 7);
  ASSERT_EQ(event.scalars.size(), 1u);
  EXPECT_EQ(event.scalars[0].tag, "train/loss");
  EXPECT_EQ(event.scalars[0].value, 3.25);
}

std::string event_with_value(const MessageWriter& value) {
  MessageWriter summary, event;
  summary.bytes(1, value.message());
  event.integer(2, 3).bytes(5, summary.message());
  return event.message();
}

std::string event_with_tensor(const MessageWriter& tensor) {
  MessageWriter value;
  value.bytes(1, "tag").bytes(8, tensor.message());
  return event_with_value(value);
}

TEST(Events, ATensorOfOneNumberIsAScalarWhateverItsType) {
  const auto value_of = [](const MessageWriter& tensor) {
    const Event event = decode_event(event_with_tensor(tensor));
    return event.scalars.size() == 1 ? event.scalars[0].value : -1;
  };
  EXPECT_EQ(value_of(MessageWriter().integer(1, 1).bytes(5, little_endian(1.5f))), 1.5);   // float, packed
  EXPECT_EQ(value_of(MessageWriter().integer(1, 1).number(5, 1.5f)), 1.5);                 // float, single
  EXPECT_EQ(value_of(MessageWriter().integer(1, 2).bytes(4, little_endian(2.25))), 2.25);  // double, content
  EXPECT_EQ(value_of(MessageWriter().integer(1, 9).integer(10, 77)), 77);                  // int64
  EXPECT_EQ(value_of(MessageWriter().integer(1, 3).bytes(4, little_endian(int32_t{-5}))), -5);
  const Event two = decode_event(event_with_tensor(MessageWriter().integer(1, 1).bytes(5, little_endian(1.5f) + little_endian(2.5f))));
  EXPECT_TRUE(two.scalars.empty());
  EXPECT_EQ(two.other_values, 1u);
}

TEST(Events, HyperparametersOfThePluginAreRead) {
  const auto entry = [](const std::string& key, const MessageWriter& value) {
    MessageWriter entry;
    entry.bytes(1, key).bytes(2, value.message());
    return entry.message();
  };
  MessageWriter session, content, plugin, metadata, value;
  session.bytes(1, entry("policy.model_name", MessageWriter().bytes(3, "Qwen/Qwen2.5-1.5B")));
  session.bytes(1, entry("policy.train_global_batch_size", MessageWriter().number(2, 32.0)));
  session.bytes(1, entry("sft.shuffle", MessageWriter().integer(4, 1)));
  content.integer(1, 0).bytes(3, session.message());
  plugin.bytes(1, "hparams").bytes(2, content.message());
  metadata.bytes(1, plugin.message());
  value.bytes(1, "_hparams_/session_start_info").bytes(9, metadata.message());
  const Event event = decode_event(event_with_value(value));
  EXPECT_EQ(event.hyperparameters,
            nlohmann::json({{"policy.model_name", "Qwen/Qwen2.5-1.5B"}, {"policy.train_global_batch_size", 32.0}, {"sft.shuffle", true}}));
  EXPECT_TRUE(event.scalars.empty());
}

TEST(Events, BytesThatAreNoMessageAreRefused) {
  for (const std::string& bytes : {std::string("\x0a"), std::string("\x0a\xff"), std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
                                   std::string("\x03"), std::string("\x00\x01", 2), std::string("\x2a\x02\x0a\x05")})
    EXPECT_EQ(error_code([&] { decode_event(bytes); }), "RW-TB-003");
  EXPECT_TRUE(decode_event("").scalars.empty());
}

}  // namespace
}  // namespace ringwright::tensorboard
