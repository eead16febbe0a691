// Any bytes: the part before the first NUL is a tokenizer.json, the rest a text. Either one Error, or ids that decode to the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "shared/base/error.h"
#include "shared/tokenizer/tokenizer.h"

namespace {

// A tokenizer without surprises, so that texts are fuzzed too when the bytes hold no file.
const std::string& plain_file() {
  static const std::string text = [] {
    std::string vocab;
    for (int byte = 0x21; byte < 0x7F; ++byte) {
      const std::string escaped = byte == '"' || byte == '\\' ? std::string("\\") + static_cast<char>(byte) : std::string(1, static_cast<char>(byte));
      vocab += (vocab.empty() ? "\"" : ",\"") + escaped + "\":" + std::to_string(byte);
    }
    return R"({"pre_tokenizer":{"type":"ByteLevel"},"decoder":{"type":"ByteLevel"},"added_tokens":[{"id":300,"content":"<x>","rstrip":true}],"model":{"type":"BPE","merges":["a b","ab a"],"vocab":{"ab":200,"aba":201,"\u0120":32,)" +
           vocab + "}}}";
  }();
  return text;
}

void encode(const ringwright::tokenizer::Tokenizer& tokenizer, std::string_view text) {
  const auto encoding = tokenizer.encode(text);
  if (encoding.ids.size() != encoding.offsets.size()) std::abort();
  for (const auto& [begin, end] : encoding.offsets) {
    if (begin > end || begin < 0 || end > static_cast<int64_t>(3 * text.size())) std::abort();
  }
  tokenizer.decode(encoding.ids, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ringwright::tokenizer::Tokenizer;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\0');
  const std::string_view text = cut == std::string_view::npos ? input : input.substr(cut + 1);
  static const Tokenizer plain = Tokenizer::from_text(plain_file(), "plain");
  try {
    encode(plain, text);
  } catch (const ringwright::Error&) {
  }
  try {
    encode(Tokenizer::from_text(input.substr(0, cut), "fuzz"), text);
  } catch (const ringwright::Error&) {
  }
  return 0;
}
