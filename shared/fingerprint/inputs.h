// Hashes of all that went into a run: recipe, weights, tokenizer, data.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ringwright::fingerprint {

// XXH3, 64 bits, as 16 hexadecimal digits, as `xxhsum -H3` prints it.
std::string xxh3_of_text(std::string_view text);
// Reads the whole file. Throws Error RW-STORE-008 (exit code 2) when it cannot be read.
std::string xxh3_of_file(const std::filesystem::path& file);

// {recipe: {xxh3}, <name>: {path, bytes, xxh3}, <name>: {path, files: {name: {bytes, xxh3}}}, ...} for each entry of `paths` (worker_spec.h) that is
// a file or a folder; in a folder the files of a checkpoint or tokenizer (.safetensors, .json, .model, .txt, .jinja), not below it. An entry that
// cannot be read has `error` in place of its hash. Reads every byte of them, so it takes as long as the disk does: call it off the main loop.
nlohmann::json input_fingerprint(std::string_view recipe_text, const nlohmann::json& paths);

}  // namespace ringwright::fingerprint
