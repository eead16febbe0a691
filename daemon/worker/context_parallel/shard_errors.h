// The kinds of error of the context-parallel contract, section 1.
#pragma once

#include <string>

namespace ringwright::worker {

[[noreturn]] void throw_bad_argument(const std::string& what, const std::string& expected);  // RW-SHARD-001
[[noreturn]] void throw_missing_key(const std::string& key);                                 // RW-SHARD-002
[[noreturn]] void throw_unsupported(const std::string& what, const std::string& expected);   // RW-SHARD-003
[[noreturn]] void throw_misuse(const std::string& what, const std::string& expected);        // RW-SHARD-004

}  // namespace ringwright::worker
