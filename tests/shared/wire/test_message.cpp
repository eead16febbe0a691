#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "shared/base/error.h"
#include "shared/wire/message.h"

namespace ringwright::wire {
namespace {

std::string code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.parts().code;
  }
  return "no error";
}

TEST(Message, HeaderComesBackAsItWas) {
  EXPECT_TRUE(rc::check([](int32_t rank, uint64_t worker_sequence, uint64_t node_sequence, int64_t time, uint8_t kind) {
    const Event sent{"", static_cast<Kind>(kind), rank, worker_sequence, node_sequence, time, {}};
    const std::string frame = encode_header(sent);
    RC_ASSERT(frame.size() == kHeaderBytes);
    Event got;
    decode_header(frame, got);
    RC_ASSERT(got.kind == sent.kind && got.rank == rank && got.worker_sequence == worker_sequence && got.node_sequence == node_sequence);
    RC_ASSERT(got.time_unix_ns == time);
  }));
}

TEST(Message, HeaderLayoutIsFixed) {
  const std::string frame = encode_header({"", Kind::log, 3, 0x0102, 0x0304, 0x0506, {}});
  const std::string expected("RW\x01\x02\x03\0\0\0\x02\x01\0\0\0\0\0\0\x04\x03\0\0\0\0\0\0\x06\x05\0\0\0\0\0\0", 32);
  EXPECT_EQ(frame, expected);
}

TEST(Message, OtherProtocolVersionExitsWithFive) {
  std::string frame = encode_header({});
  frame[2] = 7;
  Event event;
  try {
    decode_header(frame, event);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-WIRE-002");
    EXPECT_EQ(error.exit_code(), ExitCode::version_mismatch);
    EXPECT_NE(error.parts().what.find("7"), std::string::npos);
  }
}

TEST(Message, ForeignOrCutHeadersAreRefused) {
  Event event;
  EXPECT_EQ(code_of([&] { decode_header("", event); }), "RW-WIRE-001");
  EXPECT_EQ(code_of([&] { decode_header("GET / HTTP/1.1", event); }), "RW-WIRE-001");
  EXPECT_EQ(code_of([&] { decode_header(encode_header({}).substr(0, 31), event); }), "RW-WIRE-001");
}

// T30: not-a-number, the infinities and the smallest number survive the wire.
TEST(Message, OddNumbersSurviveTheBody) {
  const nlohmann::json body = {{"nan", std::nan("")}, {"inf", INFINITY}, {"minus", -INFINITY}, {"tiny", 1e-45}, {"third", 1.0 / 3}};
  const nlohmann::json got = decode_body(encode_body(body));
  EXPECT_TRUE(std::isnan(got["nan"].get<double>()));
  EXPECT_EQ(got["inf"].get<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(got["minus"].get<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(got["tiny"].get<double>(), 1e-45);
  EXPECT_EQ(got["third"].get<double>(), 1.0 / 3);
}

TEST(Message, NestedBodiesComeBack) {
  const nlohmann::json body = {{"a", {1, 2, {{"b", {nullptr, true, "x"}}}}}, {"c", nlohmann::json::object()}, {"d", nlohmann::json::binary({1, 2})}};
  EXPECT_EQ(decode_body(encode_body(body)), body);
}

TEST(Message, DamagedBodiesAreRefused) {
  const std::string good = encode_body({{"step", 1}, {"points", {{"train/loss", 2.5}}}});
  for (size_t length = 0; length < good.size(); ++length) EXPECT_EQ(code_of([&] { decode_body(good.substr(0, length)); }), "RW-WIRE-003") << length;
  EXPECT_EQ(code_of([&] { decode_body(good + "x"); }), "RW-WIRE-003");
  EXPECT_EQ(code_of([&] { decode_body("\x93\x01\x02\x03"); }), "RW-WIRE-003") << "a list is no map";
}

TEST(Message, DeepNestingIsRefusedWithoutRecursion) {
  EXPECT_EQ(code_of([] { decode_body(std::string(5'000'000, '\x91')); }), "RW-WIRE-003");
}

TEST(Message, TextsBecomeValidUtf8) {
  const nlohmann::json got = decode_body(encode_body({{"text", "ok \xff\xc3\xa9 \xed\xa0\x80"}}));
  EXPECT_EQ(got["text"].get<std::string>(), "ok \xEF\xBF\xBD\xc3\xa9 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_NO_THROW(got.dump());
}

TEST(Message, AnyBytesAreDecodedOrRefused) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    try {
      RC_ASSERT(decode_body(bytes).is_object());
    } catch (const Error& error) {
      RC_ASSERT(error.parts().code == "RW-WIRE-003");
    }
  }));
}

}  // namespace
}  // namespace ringwright::wire
