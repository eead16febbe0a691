#include "shared/wire/message.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::wire {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian and are copied as they are");

constexpr char kMagic[2] = {'R', 'W'};
constexpr int kBodyDepthMax = 64;  // a hostile body could otherwise exhaust the stack

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

template <class T>
T take(std::string_view& rest) {
  T value;
  std::memcpy(&value, rest.data(), sizeof(T));
  rest.remove_prefix(sizeof(T));
  return value;
}

Error damaged_body(const std::string& why) {
  return Error({"RW-WIRE-003", "a message's body cannot be read: " + why, "body frame", "one MessagePack map with text keys",
                "update the program that sent it to the daemon's version", ExitCode::run_failed});
}

// Builds the document while it watches the depth, and makes every text valid UTF-8, so that it can be printed as JSON later.
class BodyBuilder {
 public:
  using json = nlohmann::json;

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(json::number_integer_t value) { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(text::valid_utf8(std::move(value))); }
  bool binary(json::binary_t& value) { return add(json::binary(std::move(value))); }
  bool start_object(size_t) { return open(json::object()); }
  bool start_array(size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    key_ = text::valid_utf8(std::move(name));
    return true;
  }
  bool parse_error(size_t position, const std::string&, const json::exception&) {
    why_ = "damaged at byte " + std::to_string(position);
    return false;
  }

  json take_root() { return std::move(root_); }
  const std::string& why() const { return why_; }

 private:
  template <class T>
  bool add(T&& value) {
    place(std::forward<T>(value));
    return true;
  }
  template <class T>
  json* place(T&& value) {
    if (open_.empty()) {
      root_ = std::forward<T>(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::forward<T>(value));
      return &parent.back();
    }
    json& slot = parent[key_];
    slot = std::forward<T>(value);
    return &slot;
  }
  bool open(json container) {
    if (open_.size() >= kBodyDepthMax) {
      why_ = "nested deeper than " + std::to_string(kBodyDepthMax) + " levels";
      return false;
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json root_;
  std::vector<json*> open_;  // a parent never grows while its child is open, so the pointers hold
  std::string key_, why_ = "damaged";
};

}  // namespace

std::string encode_header(const Event& event) {
  std::string frame(kMagic, sizeof kMagic);
  frame.reserve(kHeaderBytes);
  put(frame, kProtocolVersion);
  put(frame, static_cast<uint8_t>(event.kind));
  put(frame, event.rank);
  put(frame, event.worker_sequence);
  put(frame, event.node_sequence);
  put(frame, event.time_unix_ns);
  return frame;
}

void decode_header(std::string_view frame, Event& event) {
  if (frame.size() < 3 || std::memcmp(frame.data(), kMagic, sizeof kMagic) != 0)
    throw Error({"RW-WIRE-001", "a message is no Ringwright message", "header frame", "a frame that starts with RW",
                 "look for another program on this socket", ExitCode::run_failed});
  if (static_cast<uint8_t>(frame[2]) != kProtocolVersion) throw version_mismatch(static_cast<uint8_t>(frame[2]));
  if (frame.size() != kHeaderBytes)
    throw Error({"RW-WIRE-001", "a message's header has " + std::to_string(frame.size()) + " bytes", "header frame",
                 std::to_string(kHeaderBytes) + " bytes", "update the program that sent it to the daemon's version", ExitCode::run_failed});
  frame.remove_prefix(3);
  event.kind = static_cast<Kind>(take<uint8_t>(frame));
  event.rank = take<int32_t>(frame);
  event.worker_sequence = take<uint64_t>(frame);
  event.node_sequence = take<uint64_t>(frame);
  event.time_unix_ns = take<int64_t>(frame);
}

std::string encode_body(const nlohmann::json& body) {
  std::string frame;
  nlohmann::json::to_msgpack(body, frame);
  return frame;
}

std::string_view body_frame_of(const Event& event, std::string& buffer) {
  if (!event.body_frame.empty()) return event.body_frame;
  return buffer = encode_body(event.body);
}

nlohmann::json decode_body(std::string_view frame) {
  BodyBuilder builder;
  bool good = false;
  try {
    good = nlohmann::json::sax_parse(frame.begin(), frame.end(), &builder, nlohmann::json::input_format_t::msgpack);
  } catch (const nlohmann::json::exception& error) {
    throw damaged_body(error.what());
  }
  if (!good) throw damaged_body(builder.why());
  nlohmann::json body = builder.take_root();
  if (!body.is_object()) throw damaged_body("it is no map");
  return body;
}

Error version_mismatch(int64_t theirs) {
  return Error({"RW-WIRE-002", "the other side speaks protocol version " + std::to_string(theirs), "protocol version",
                "version " + std::to_string(kProtocolVersion),
                "use one release of Ringwright for daemon, worker, console and command line; restart the daemon after an update",
                ExitCode::version_mismatch});
}

int64_t now_unix_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count(); }

double seconds_between(int64_t from_unix_ns, int64_t to_unix_ns) { return std::max(0.0, static_cast<double>(to_unix_ns - from_unix_ns) * 1e-9); }

Event event_from_frames(const nlohmann::json& frames) {
  const auto as_text = [](const nlohmann::json& frame) {
    const auto& bytes = frame.get_binary();
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  Event event;
  event.run = frames.at(0).get<std::string>();
  decode_header(as_text(frames.at(1)), event);
  event.body = decode_body(as_text(frames.at(2)));
  return event;
}

}  // namespace ringwright::wire
