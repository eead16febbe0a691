// The file format below TensorBoard's events: records, each with its length and two checksums (TFRecord).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ringwright::tensorboard {

inline constexpr uint64_t kRecordBytesMax = uint64_t{64} << 20;

// One record with its frame.
std::string frame_record(std::string_view record);

class RecordFile {
 public:
  // Throws Error RW-TB-001 (exit code 2): not there, not a regular file, not readable.
  explicit RecordFile(const std::filesystem::path& file);

  // False at the end. A last record that is not there in full, as a writer that was killed leaves it, is the end too. Throws Error RW-TB-002 for a
  // wrong checksum, or a record that is longer than kRecordBytesMax.
  bool next(std::string& record);
  uint64_t records() const { return records_; }
  // Bytes of a record that was begun at the end of the file.
  uint64_t bytes_cut_off() const { return bytes_cut_off_; }
  // "events.out.tfevents.1: record 3 (byte 512)", of the record read last.
  std::string place() const;

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  uint64_t bytes_left_ = 0, at_ = 0, record_at_ = 0, records_ = 0, bytes_cut_off_ = 0;
};

}  // namespace ringwright::tensorboard
