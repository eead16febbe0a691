#include "shared/base/files.h"

#include <array>
#include <utility>

namespace ringwright::files {

std::string kind_if_not_regular(const std::filesystem::path& file) {
  using std::filesystem::file_type;
  constexpr std::array<std::pair<file_type, const char*>, 5> kKinds = {{{file_type::directory, "a folder"},
                                                                        {file_type::fifo, "a pipe"},
                                                                        {file_type::character, "a device"},
                                                                        {file_type::block, "a device"},
                                                                        {file_type::socket, "a socket"}}};
  std::error_code ignored;
  const file_type type = std::filesystem::status(file, ignored).type();
  for (const auto& [known, name] : kKinds)
    if (known == type) return name;
  return "";
}

}  // namespace ringwright::files
