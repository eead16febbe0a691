#include "shared/tensorboard/record_file.h"

#include <cerrno>
#include <cstring>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/tensorboard/crc32c.h"
#include "shared/tensorboard/wire_format.h"

namespace ringwright::tensorboard {
namespace {

constexpr size_t kLengthBytes = 8, kChecksumBytes = 4;
constexpr size_t kHeadBytes = kLengthBytes + kChecksumBytes;

}  // namespace

std::string frame_record(std::string_view record) {
  std::string framed = little_endian(uint64_t{record.size()});
  framed += little_endian(masked_crc32c(framed));
  framed += record;
  framed += little_endian(masked_crc32c(record));
  return framed;
}

RecordFile::RecordFile(const std::filesystem::path& file) : file_(file) {
  const auto unreadable = [&](const std::string& why) {
    return Error(
        {"RW-TB-001", "the event file cannot be read: " + why, file.string(), "a TensorBoard event file", "name a file or folder that you may read"});
  };
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) throw unreadable("it is " + kind);
  stream_.open(file, std::ios::binary | std::ios::ate);
  if (!stream_) throw unreadable(std::strerror(errno));
  bytes_left_ = static_cast<uint64_t>(stream_.tellg());
  stream_.seekg(0);
}

std::string RecordFile::place() const {
  return file_.string() + ": record " + std::to_string(records_ + 1) + " (byte " + std::to_string(record_at_) + ")";
}

bool RecordFile::next(std::string& record) {
  const auto damaged = [this](const std::string& what) {
    return Error({"RW-TB-002", "the event file is damaged: " + what, place(), "records as TensorBoard's writers make them",
                  "take another copy of the file; nothing was imported"});
  };
  record_at_ = at_;
  if (bytes_left_ == 0) return false;
  char head[kHeadBytes];
  const auto cut_off = [this] { return bytes_cut_off_ = bytes_left_, bytes_left_ = 0, false; };
  if (bytes_left_ < kHeadBytes) return cut_off();
  if (!stream_.read(head, kHeadBytes)) throw damaged("it became shorter while it was read");
  const std::string_view length_text(head, kLengthBytes);
  if (read_little_endian<uint32_t>({head + kLengthBytes, kChecksumBytes}) != masked_crc32c(length_text))
    throw damaged("a record's length has a wrong checksum");
  const auto length = read_little_endian<uint64_t>(length_text);
  if (length > kRecordBytesMax)
    throw damaged("a record of " + std::to_string(length) + " bytes, and " + std::to_string(kRecordBytesMax) + " are let in");
  if (bytes_left_ - kHeadBytes < length + kChecksumBytes) return cut_off();
  record.resize(length + kChecksumBytes);
  if (!stream_.read(record.data(), static_cast<std::streamsize>(record.size()))) throw damaged("it became shorter while it was read");
  const auto checksum = read_little_endian<uint32_t>(std::string_view(record).substr(length));
  record.resize(length);
  if (checksum != masked_crc32c(record)) throw damaged("a record has a wrong checksum");
  bytes_left_ -= kHeadBytes + length + kChecksumBytes;
  at_ += kHeadBytes + length + kChecksumBytes;
  ++records_;
  return true;
}

}  // namespace ringwright::tensorboard
