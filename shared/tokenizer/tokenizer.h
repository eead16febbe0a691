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

class Tokenizer {
 public:
  // Throws Error: RW-TOK-001 file missing, RW-TOK-002 not JSON or a field of the wrong type, RW-TOK-003 a feature that is not supported (names it).
  static Tokenizer from_file(const std::filesystem::path& file);
  static Tokenizer from_text(std::string_view json, const std::string& file_name);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Invalid UTF-8 is replaced by U+FFFD, one per maximal bad part. `with_template`: add the post-processor's special tokens.
  Encoding encode(std::string_view text, bool with_template = true) const;
  std::string decode(const std::vector<int64_t>& ids, bool skip_special = false) const;
  int64_t vocabulary_size() const;  // largest id + 1
  std::optional<int64_t> token_to_id(std::string_view token) const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::tokenizer
