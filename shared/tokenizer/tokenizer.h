// tokenizer.json of the Hugging Face tokenizers library: byte-level BPE with offsets. Exact ids are the contract (golden_text).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringwright::tokenizer {

struct Encoding {
  std::vector<int64_t> ids;
  std::vector<std::pair<int64_t, int64_t>> offsets;  // in code points of the input, half-open
};

// Of one text or two; offsets count from the start of the token's own text.
struct PairEncoding : Encoding {
  std::vector<int64_t> type_ids;
};

// Safe to use from several threads at once.
class Tokenizer {
 public:
  // Throws Error: RW-TOK-001 file missing, RW-TOK-002 not JSON or a field of the wrong type, RW-TOK-003 a feature that is not supported (names it).
  static Tokenizer from_file(const std::filesystem::path& file);
  static Tokenizer from_text(std::string_view json, const std::string& file_name);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Invalid UTF-8 is replaced by U+FFFD, one per maximal bad part. `with_template`: add the post-processor's special tokens.
  // Throws Error RW-TOK-004 for a byte that the vocabulary lacks, RW-TOK-005 when the file's pattern backtracks without end.
  Encoding encode(std::string_view text, bool with_template = true) const;
  // Two texts in one: joined by the pair template, or one after the other.
  PairEncoding encode_pair(std::string_view first, std::string_view second, bool with_template = true) const;
  // Bytes that are no UTF-8 give U+FFFD, one per maximal bad part. An id without a token (a model's padded vocabulary) gives nothing.
  std::string decode(const std::vector<int64_t>& ids, bool skip_special = false) const;
  int64_t vocabulary_size() const;  // largest id + 1
  std::optional<int64_t> token_to_id(std::string_view token) const;
  // The token as the file writes it; nullopt for an id without one.
  std::optional<std::string> id_to_token(int64_t id) const;
  bool is_special(int64_t id) const;

 private:
  friend class StreamDecoder;
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Decodes ids as they come. The tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = false) : tokenizer_(tokenizer), skip_special_(skip_special) {}

  // The text that became complete with this id; nullopt while a character may still be going on, that is while the text would end in U+FFFD.
  std::optional<std::string> step(int64_t id);
  // What is still held back, at the end of the stream; unfinished characters give U+FFFD.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  bool started_ = false;
  std::string held_bytes_;
};

}  // namespace ringwright::tokenizer
