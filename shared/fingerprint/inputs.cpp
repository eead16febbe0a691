#include "shared/fingerprint/inputs.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "shared/base/error.h"
#include "shared/base/files.h"

namespace ringwright::fingerprint {
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr const char* kHashedExtensions[] = {".safetensors", ".json", ".model", ".txt", ".jinja"};

std::string hexadecimal(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

// {bytes, xxh3}, or {error}.
nlohmann::json describe_file(const std::filesystem::path& file) {
  try {
    const std::string hash = xxh3_of_file(file);
    return {{"bytes", std::filesystem::file_size(file)}, {"xxh3", hash}};
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

nlohmann::json describe_folder(const std::filesystem::path& folder) {
  nlohmann::json files = nlohmann::json::object();
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string extension = entry.path().extension().string();
    const bool hashed = std::find(std::begin(kHashedExtensions), std::end(kHashedExtensions), extension) != std::end(kHashedExtensions);
    std::error_code ignored;
    if (hashed && entry.is_regular_file(ignored)) files[entry.path().filename().string()] = describe_file(entry.path());
  }
  if (failure) return {{"error", failure.message()}};
  return {{"files", files}};
}

}  // namespace

std::string xxh3_of_text(std::string_view text) { return hexadecimal(XXH3_64bits(text.data(), text.size())); }

std::string xxh3_of_file(const std::filesystem::path& file) {
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty())
    throw Error({"RW-STORE-008", "this is " + kind + ", not a file", file.string(), "a file that you may read", ""});
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), &std::fclose);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), &XXH3_freeState);
  const auto unreadable = [&] {
    return Error({"RW-STORE-008", "the file cannot be read: " + std::string(std::strerror(errno)), file.string(), "a file that you may read", ""});
  };
  if (!stream) throw unreadable();
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(kReadBytes);
  while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), stream.get())) XXH3_64bits_update(state.get(), buffer.data(), bytes);
  if (std::ferror(stream.get())) throw unreadable();
  return hexadecimal(XXH3_64bits_digest(state.get()));
}

nlohmann::json input_fingerprint(std::string_view recipe_text, const nlohmann::json& paths) {
  nlohmann::json inputs = {{"recipe", {{"xxh3", xxh3_of_text(recipe_text)}}}};
  if (!paths.is_object()) return inputs;
  for (const auto& [name, value] : paths.items()) {
    if (!value.is_string()) continue;
    const std::filesystem::path path = value.get<std::string>();
    std::error_code ignored;
    nlohmann::json entry = std::filesystem::is_directory(path, ignored) ? describe_folder(path) : describe_file(path);
    entry["path"] = path.string();
    inputs[name] = std::move(entry);
  }
  return inputs;
}

}  // namespace ringwright::fingerprint
