#include "shared/tokenizer/tokenizer.h"

#include <mutex>
#include <system_error>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/tokenizer/byte_alphabet.h"
#include "shared/tokenizer/tokenizer_file.h"
#include "shared/tokenizer/utf8.h"

namespace ringwright::tokenizer {
namespace {

// Working memory of one call; calls at the same time each have their own.
struct Scratch {
  BpeScratch bpe;
  SplitScratch split;
  std::vector<Section> sections;
  std::vector<int32_t> ids;
  std::vector<uint32_t> character_of_byte;
  std::string repaired;
};

// An entry of the vocabulary or an added token.
struct Token {
  std::string symbols;  // as the file writes it
  std::string bytes;    // what it decodes to
  bool known = false;
  bool special = false;
};

TokenSpaces spaces_of(std::string_view symbols) {
  std::vector<bool> space;
  for (size_t at = 0; at < symbols.size();) {
    const utf8::Step next = utf8::step(symbols, at);
    const char32_t character = next.valid ? utf8::character_at(symbols, at) : U'\uFFFD';
    space.push_back(utf8::is_space(character) || character == 0x120);  // U+0120 stands for the byte 0x20
    at += next.length;
  }
  TokenSpaces result;
  for (size_t i = 0; i < space.size() && space[i]; ++i) ++result.leading;
  for (size_t i = space.size(); i > 0 && space[i - 1]; --i) ++result.trailing;
  return result;
}

}  // namespace

struct Tokenizer::Impl {
  explicit Impl(TokenizerParts parts)
      : vocabulary(std::move(parts.vocabulary)),
        bpe(std::move(parts.bpe)),
        added(std::move(parts.added)),
        splitter(std::move(parts.split_steps)),
        post(std::move(parts.post_steps)),
        decodes_bytes(parts.decodes_bytes) {
    for (const auto& [symbols, id] : vocabulary) add_token(id, symbols, false);
    for (const AddedToken& token : added.all()) {
      add_token(token.id, token.content, token.special);
      vocabulary.emplace(token.content, token.id);
    }
    for (const Token& token : tokens) spaces.push_back(spaces_of(token.symbols));
  }

  void add_token(int32_t id, const std::string& symbols, bool special) {
    const auto place = static_cast<size_t>(id);
    if (tokens.size() <= place) tokens.resize(place + 1);
    tokens[place] = {symbols, bytes_of_symbols(symbols).value_or(symbols), true, special || tokens[place].special};
  }

  const Token* find(int64_t id) const {
    if (id < 0 || id >= static_cast<int64_t>(tokens.size()) || !tokens[static_cast<size_t>(id)].known) return nullptr;
    return &tokens[static_cast<size_t>(id)];
  }

  std::unique_ptr<Scratch> take_scratch() const {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(idle.back());
    idle.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<Scratch> scratch) const {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(scratch));
  }

  void encode_piece(const Piece& piece, bool ascii, Scratch& scratch, PairEncoding& result) const;
  Tokenized encode_text(std::string_view text, Scratch& scratch) const;

  std::unordered_map<std::string, int32_t> vocabulary;
  Bpe bpe;
  AddedTokens added;
  PreTokenizer splitter;
  PostProcessor post;
  bool decodes_bytes;
  std::vector<Token> tokens;
  std::vector<TokenSpaces> spaces;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Scratch>> idle;
};

void Tokenizer::Impl::encode_piece(const Piece& piece, bool ascii, Scratch& scratch, PairEncoding& result) const {
  scratch.ids.clear();
  bpe.encode(piece.bytes, scratch.bpe, scratch.ids);
  int64_t at = piece.origin;
  for (const int32_t id : scratch.ids) {
    const auto size = static_cast<int64_t>(tokens[static_cast<size_t>(id)].bytes.size());
    const int64_t first = std::max(at, piece.floor), last = std::max(at + size - 1, piece.floor);
    at += size;
    result.ids.push_back(id);
    if (ascii) {
      result.offsets.emplace_back(first, last + 1);
    } else {
      const std::vector<uint32_t>& character = scratch.character_of_byte;
      result.offsets.emplace_back(character[static_cast<size_t>(first)], int64_t{character[static_cast<size_t>(last)]} + 1);
    }
  }
}

Tokenized Tokenizer::Impl::encode_text(std::string_view given, Scratch& scratch) const {
  std::string_view text = given;
  const bool ascii = utf8::is_ascii(text);
  if (!ascii) {
    if (!utf8::is_valid(text)) {
      scratch.repaired = utf8::replace_invalid(text);
      text = scratch.repaired;
    }
    utf8::character_of_byte(text, scratch.character_of_byte);
  }
  Tokenized tokenized;
  PairEncoding& result = tokenized.encoding;
  added.cut(text, scratch.sections);
  for (const Section& section : scratch.sections) {
    if (section.token != nullptr) {
      const auto begin = static_cast<int64_t>(ascii ? section.begin : scratch.character_of_byte[section.begin]);
      const auto last = static_cast<int64_t>(ascii ? section.end - 1 : scratch.character_of_byte[section.end - 1]);
      tokenized.added.emplace_back(result.ids.size(), spaces_of(text.substr(section.begin, section.end - section.begin)));
      result.ids.push_back(section.token->id);
      result.offsets.emplace_back(begin, last + 1);
    } else {
      splitter.run(text.substr(section.begin, section.end - section.begin), static_cast<int64_t>(section.begin), scratch.split,
                   [&](const Piece& piece) { encode_piece(piece, ascii, scratch, result); });
    }
  }
  return tokenized;
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::from_file(const std::filesystem::path& file) {
  const auto unreadable = [&](const std::string& reason) {
    return Error({.code = "RW-TOK-001",
                  .what = "the tokenizer file cannot be read: " + reason,
                  .where = file.string(),
                  .expected = "a tokenizer.json of the tokenizers library",
                  .action = "check the path; the model's folder must hold tokenizer.json",
                  .exit_code = ExitCode::usage});
  };
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) throw unreadable("it is " + kind);
  std::string text;
  try {
    text = files::read_all(file);
  } catch (const std::system_error& error) {
    throw unreadable(error.code().message());
  }
  return from_text(text, file.string());
}

Tokenizer Tokenizer::from_text(std::string_view json, const std::string& file_name) {
  return Tokenizer(std::make_unique<Impl>(read_tokenizer(json, file_name)));
}

Encoding Tokenizer::encode(std::string_view text, bool with_template) const {
  std::unique_ptr<Scratch> scratch = impl_->take_scratch();
  std::vector<Tokenized> texts;
  texts.push_back(impl_->encode_text(text, *scratch));
  impl_->give_back(std::move(scratch));
  PairEncoding result = impl_->post.run(std::move(texts), impl_->spaces, with_template);
  return {std::move(result.ids), std::move(result.offsets)};
}

PairEncoding Tokenizer::encode_pair(std::string_view first, std::string_view second, bool with_template) const {
  std::unique_ptr<Scratch> scratch = impl_->take_scratch();
  std::vector<Tokenized> texts;
  texts.push_back(impl_->encode_text(first, *scratch));
  texts.push_back(impl_->encode_text(second, *scratch));
  impl_->give_back(std::move(scratch));
  return impl_->post.run(std::move(texts), impl_->spaces, with_template);
}

std::string Tokenizer::decode(const std::vector<int64_t>& ids, bool skip_special) const {
  std::string bytes;
  bool first = true;
  for (const int64_t id : ids) {
    const Token* token = impl_->find(id);
    if (token == nullptr || (skip_special && token->special)) continue;
    if (!impl_->decodes_bytes && !first) bytes += ' ';
    bytes += impl_->decodes_bytes ? token->bytes : token->symbols;
    first = false;
  }
  return utf8::replace_invalid(bytes);
}

int64_t Tokenizer::vocabulary_size() const { return static_cast<int64_t>(impl_->tokens.size()); }

std::optional<int64_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto found = impl_->vocabulary.find(std::string(token));
  if (found == impl_->vocabulary.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Tokenizer::id_to_token(int64_t id) const {
  const Token* token = impl_->find(id);
  if (token == nullptr) return std::nullopt;
  return token->symbols;
}

bool Tokenizer::is_special(int64_t id) const {
  const Token* token = impl_->find(id);
  return token != nullptr && token->special;
}

std::optional<std::string> StreamDecoder::step(int64_t id) {
  const Token* token = tokenizer_.impl_->find(id);
  if (token != nullptr && !(skip_special_ && token->special)) {
    const bool bytes = tokenizer_.impl_->decodes_bytes;
    if (!bytes && started_) held_bytes_ += ' ';
    held_bytes_ += bytes ? token->bytes : token->symbols;
    started_ = true;
  }
  std::string text = utf8::replace_invalid(held_bytes_);
  if (text.empty() || text.ends_with("\xEF\xBF\xBD")) return std::nullopt;
  held_bytes_.clear();
  return text;
}

std::string StreamDecoder::finish() {
  std::string text = utf8::replace_invalid(held_bytes_);
  held_bytes_.clear();
  return text;
}

}  // namespace ringwright::tokenizer
