#include "shared/exchange/archive_file.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <exception>
#include <set>

#include "shared/base/files.h"
#include "shared/base/printable.h"

namespace ringwright::exchange {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr const char* kCompressionLevel = "9";
constexpr int kFileMode = 0644;

using EntryPointer = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

std::string problem(archive* handle) {
  const char* text = archive_error_string(handle);
  return text ? text::printable(text) : "unknown";
}

}  // namespace

struct ArchiveWriter::Impl {
  std::function<void(const std::string&)> write;
  std::unique_ptr<archive, int (*)(archive*)> handle{archive_write_new(), &archive_write_free};
  std::exception_ptr failure;  // what `write` threw: it may not pass through C code
  bool finished = false;

  static la_ssize_t take(archive*, void* self, const void* bytes, size_t count) {
    auto& impl = *static_cast<Impl*>(self);
    try {
      if (!impl.failure) impl.write(std::string(static_cast<const char*>(bytes), count));
      return static_cast<la_ssize_t>(count);
    } catch (...) {
      impl.failure = std::current_exception();
      return -1;
    }
  }

  void require(int result) {
    if (failure) std::rethrow_exception(failure);
    if (result != ARCHIVE_OK)
      throw Error(
          {"RW-ARCHIVE-005", "the archive cannot be made: " + problem(handle.get()), "", "", "make room, or export as json", ExitCode::run_failed});
  }
};

ArchiveWriter::ArchiveWriter(std::function<void(const std::string&)> write) : impl_(std::make_unique<Impl>()) {
  impl_->write = std::move(write);
  archive* handle = impl_->handle.get();
  impl_->require(archive_write_set_format_pax_restricted(handle));
  impl_->require(archive_write_add_filter_zstd(handle));
  impl_->require(archive_write_set_filter_option(handle, "zstd", "compression-level", kCompressionLevel));
  impl_->require(archive_write_set_bytes_in_last_block(handle, 1));
  impl_->require(archive_write_open2(handle, impl_.get(), nullptr, &Impl::take, nullptr, nullptr));
}

// What is not finished is not wanted: freeing would write an end.
ArchiveWriter::~ArchiveWriter() {
  if (!impl_->finished) archive_write_fail(impl_->handle.get());
}

void ArchiveWriter::add(const std::string& name, std::string_view content) {
  const EntryPointer entry(archive_entry_new(), &archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), kFileMode);
  impl_->require(archive_write_header(impl_->handle.get(), entry.get()));
  const la_ssize_t written = archive_write_data(impl_->handle.get(), content.data(), content.size());
  impl_->require(written == static_cast<la_ssize_t>(content.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
}

void ArchiveWriter::finish() {
  impl_->finished = true;
  impl_->require(archive_write_close(impl_->handle.get()));
}

struct ArchiveReader::Impl {
  std::filesystem::path file;
  std::unique_ptr<archive, int (*)(archive*)> handle{archive_read_new(), &archive_read_free};
  std::string entry;
  std::set<std::string> names;
  uint64_t bytes_left = 0;

  Error error(const char* code, const std::string& what, const std::string& action) const {
    return Error({code, what, place(), "an archive as made by: ringwright runs export RUN --format archive", action});
  }
  Error damaged(const std::string& what) const {
    return error("RW-ARCHIVE-003", "the archive is damaged: " + what, "take another copy; nothing was imported");
  }
  Error hostile(const std::string& what) const {
    return error("RW-ARCHIVE-004", "the archive is refused: " + what, "do not trust where it comes from; nothing was imported");
  }
  std::string place() const { return file.string() + (entry.empty() ? "" : ": " + entry); }

  void open();
  void check(archive_entry* header);
  std::string read();
};

void ArchiveReader::Impl::open() {
  const auto unreadable = [this](const std::string& why) {
    return error("RW-ARCHIVE-001", "the archive cannot be read: " + why, "name a file that you may read");
  };
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) throw unreadable("it is " + kind);
  std::error_code failure;
  const uint64_t bytes = std::filesystem::file_size(file, failure);
  if (failure) throw unreadable(failure.message());
  bytes_left = kUnpackedBytesFree + std::min(bytes, UINT64_MAX / 2 / kUnpackedRatioMax) * kUnpackedRatioMax;
  archive_read_support_format_tar(handle.get());
  archive_read_support_filter_zstd(handle.get());
  archive_read_support_filter_gzip(handle.get());
  if (archive_read_open_filename(handle.get(), file.c_str(), kBlockBytes) != ARCHIVE_OK)
    throw error("RW-ARCHIVE-002", "this is no archive of a run: " + problem(handle.get()), "name another file");
}

// A plain file with a plain name, of a size that can be kept in memory.
void ArchiveReader::Impl::check(archive_entry* header) {
  if (archive_entry_hardlink(header) || archive_entry_symlink(header)) throw hostile("it holds a link");
  if (archive_entry_filetype(header) != AE_IFREG) throw hostile("it holds a folder, device or pipe");
  const bool plain = !entry.empty() && std::all_of(entry.begin(), entry.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  }) && entry.front() != '.';
  if (!plain) throw hostile("it holds a path or a name that is none of ours");
  if (archive_entry_sparse_count(header) > 0) throw hostile("it holds a file with holes");
  if (!archive_entry_size_is_set(header) || archive_entry_size(header) < 0) throw damaged("an entry has no size");
  if (static_cast<uint64_t>(archive_entry_size(header)) > kEntryBytesMax)
    throw hostile("an entry has " + std::to_string(archive_entry_size(header)) + " bytes");
  if (!names.insert(entry).second) throw hostile("a name comes twice");
  if (names.size() > kEntriesMax) throw hostile("it has more than " + std::to_string(kEntriesMax) + " entries");
}

std::string ArchiveReader::Impl::read() {
  std::string content;
  for (std::string block(kBlockBytes, '\0');;) {
    const la_ssize_t count = archive_read_data(handle.get(), block.data(), block.size());
    if (count == 0) return content;
    if (count < 0) throw damaged(problem(handle.get()));
    const auto bytes = static_cast<size_t>(count);
    if (bytes > bytes_left || content.size() + bytes > kEntryBytesMax) throw hostile("it unpacks to far more bytes than a run has");
    bytes_left -= bytes;
    content.append(block, 0, bytes);
  }
}

ArchiveReader::ArchiveReader(const std::filesystem::path& file) : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->open();
}
ArchiveReader::~ArchiveReader() = default;
std::string ArchiveReader::place() const { return impl_->place(); }

std::optional<ArchiveReader::Entry> ArchiveReader::next() {
  archive_entry* header = nullptr;
  const int result = archive_read_next_header(impl_->handle.get(), &header);
  if (result == ARCHIVE_EOF) {
    if (impl_->names.empty()) throw impl_->error("RW-ARCHIVE-002", "this is no archive of a run: it is empty", "name another file");
    return std::nullopt;
  }
  if (result != ARCHIVE_OK) {
    const std::string what = problem(impl_->handle.get());
    if (impl_->names.empty()) throw impl_->error("RW-ARCHIVE-002", "this is no archive of a run: " + what, "name another file");
    throw impl_->damaged(what);
  }
  const char* name = archive_entry_pathname(header);
  impl_->entry = name ? text::printable(name) : "";
  impl_->check(header);
  return Entry{impl_->entry, impl_->read()};
}

}  // namespace ringwright::exchange
