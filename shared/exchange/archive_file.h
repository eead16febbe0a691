// The file around an archived run: a tar file, compressed with Zstandard, of small text files. Written and read by libarchive; nothing is unpacked to
// disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/error.h"

namespace ringwright::exchange {

inline constexpr uint64_t kEntryBytesMax = uint64_t{32} << 20;
inline constexpr uint64_t kEntriesMax = 200'000;
// Of all entries together: so much, and this many times the bytes of the archive itself.
inline constexpr uint64_t kUnpackedBytesFree = uint64_t{64} << 20, kUnpackedRatioMax = 200;

class ArchiveWriter {
 public:
  // `write` gets the archive's bytes as they come. Throws what `write` throws, or Error RW-ARCHIVE-005 (exit code 1).
  explicit ArchiveWriter(std::function<void(const std::string&)> write);
  ~ArchiveWriter();
  void add(const std::string& name, std::string_view content);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class ArchiveReader {
 public:
  struct Entry {
    std::string name;
    std::string content;
  };
  // Throws Error (exit code 2): RW-ARCHIVE-001 not there or not readable.
  explicit ArchiveReader(const std::filesystem::path& file);
  ~ArchiveReader();
  // Nothing at the end. Throws Error (exit code 2): RW-ARCHIVE-002 no archive of this kind; RW-ARCHIVE-003 damaged or cut off; RW-ARCHIVE-004 an
  // entry that no archive of ours has: a path, a link, a device, a name that it had before, or more bytes than are let in.
  std::optional<Entry> next();
  // "run.tar.zst: metrics-00001.jsonl", of the entry read last.
  std::string place() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::exchange
