#include "shared/doctor/needed_libraries.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

namespace ringwright::doctor {
namespace {

constexpr size_t kEntriesMax = 4096;      // program headers, and entries of the dynamic section
constexpr uint64_t kNameBytesMax = 4096;  // of one library's name

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& file) : stream_(file, std::ios::binary) {}

  template <class T>
  std::optional<T> read(uint64_t offset) {
    T value{};
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    if (!stream_.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
    return value;
  }
  std::string text(uint64_t offset) {
    std::string bytes(kNameBytesMax, '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes.c_str();
  }

 private:
  std::ifstream stream_;
};

std::vector<Elf64_Phdr> segments_of(ElfFile& file) {
  std::vector<Elf64_Phdr> segments;
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_phentsize != sizeof(Elf64_Phdr))
    return segments;
  for (size_t i = 0; i < std::min<size_t>(header->e_phnum, kEntriesMax); ++i)
    if (const auto segment = file.read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr))) segments.push_back(*segment);
  return segments;
}

std::optional<uint64_t> offset_of_address(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> needed_libraries(const std::filesystem::path& path) {
  ElfFile file(path);
  const std::vector<Elf64_Phdr> segments = segments_of(file);
  const auto dynamic = std::find_if(segments.begin(), segments.end(), [](const Elf64_Phdr& each) { return each.p_type == PT_DYNAMIC; });
  std::vector<std::string> names;
  if (dynamic == segments.end()) return names;
  std::vector<uint64_t> name_offsets;
  std::optional<uint64_t> texts;
  for (size_t i = 0; i < std::min<size_t>(dynamic->p_filesz / sizeof(Elf64_Dyn), kEntriesMax); ++i) {
    const auto entry = file.read<Elf64_Dyn>(dynamic->p_offset + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) name_offsets.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) texts = offset_of_address(segments, entry->d_un.d_ptr);
  }
  if (texts)
    for (const uint64_t offset : name_offsets) names.push_back(file.text(*texts + offset));
  return names;
}

std::vector<std::string> missing_libraries(const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> missing;
  for (const std::string& name : needed_libraries(file)) {
    const auto has_it = [&](const std::filesystem::path& folder) {
      std::error_code ignored;
      return std::filesystem::exists(folder / name, ignored);
    };
    if (std::any_of(folders.begin(), folders.end(), has_it)) continue;
    void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle) missing.push_back(name);
    if (handle) ::dlclose(handle);
  }
  return missing;
}

}  // namespace ringwright::doctor
