// workbench/referee/cubin_gate.cpp - the gate on a cubin, an ELF file of NVIDIA's; see static_gate.h.
//
// The driver finds memory by sections (.nv.global, .nv.global.init), functions by symbols, and the parameters of a
// kernel by records in .nv.info.KERNEL: a byte of format, a byte of attribute, two bytes, then as many as those say in
// format 4.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

constexpr Elf64_Half kCudaMachine = 190;   // EM_CUDA
constexpr std::uint8_t kWithBytes = 4;     // format of a record
constexpr std::uint8_t kParameter = 0x17;  // EIATTR_KPARAM_INFO
constexpr std::uint8_t kThreads = 0x10;    // EIATTR_REQNTID: three numbers
constexpr unsigned kSizeShift = 18;        // of the last word of that record
constexpr std::string_view kInfo = ".nv.info.", kMemory = ".nv.global";

/// An ELF file, read with bounds checked.
class Cubin {
 public:
  explicit Cubin(std::string_view bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != kCudaMachine || header.e_shentsize != sizeof(Elf64_Shdr))
      refuse();
    for (std::uint64_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    names_ = content(section(header.e_shstrndx));
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const Elf64_Shdr& section(std::size_t number) const {
    if (number >= sections_.size()) refuse();
    return sections_[number];
  }
  std::string_view name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }
  std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    if (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) refuse();
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  static std::string_view text(std::string_view table, std::size_t offset) {
    const std::size_t end = table.find('\0', offset);
    if (offset >= table.size() || end == std::string_view::npos) refuse();
    return table.substr(offset, end - offset);
  }
  template <class T>
  static T value_at(std::string_view bytes, std::uint64_t offset) {
    if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) refuse();
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  [[noreturn]] static void refuse() { fail(ErrorKind::kBadData, "the compiled file is no cubin"); }

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    return value_at<T>(bytes_, offset);
  }

  std::string_view bytes_, names_{};
  std::vector<Elf64_Shdr> sections_{};
};

/// What the driver reads of kernels in cuTile before it launches them. No instruction may: see reject_sass().
bool is_launch_data(const std::string& name, std::uint64_t bytes, Language language) {
  return language == Language::kCutile && name == "___NV_TILE_LAUNCH_META_DATA___" && bytes == 64;
}

std::optional<std::string> reject_symbols(const Cubin& cubin, const Elf64_Shdr& table, Language language) {
  const std::string_view symbols = cubin.content(table), names = cubin.content(cubin.section(table.sh_link));
  for (std::uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = Cubin::value_at<Elf64_Sym>(symbols, at);
    const std::string name(Cubin::text(names, symbol.st_name));
    if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL)
      return "a call outside of the kernel: " + name.substr(0, 60);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) continue;
    const bool is_memory = cubin.name(cubin.section(symbol.st_shndx)).starts_with(kMemory);
    if (is_memory && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 1 &&
        !is_launch_data(name, symbol.st_size, language))
      return "a module variable: memory that outlives a launch, " + name.substr(0, 60);
  }
  return std::nullopt;
}

/// Contents of all records of `wanted` in what is said of a kernel.
std::vector<std::string_view> records_of(std::string_view info, std::uint8_t wanted) {
  std::vector<std::string_view> records;
  for (std::uint64_t at = 0; at + 4 <= info.size();) {
    const auto format = Cubin::value_at<std::uint8_t>(info, at),
               attribute = Cubin::value_at<std::uint8_t>(info, at + 1);
    const std::uint64_t bytes = format == kWithBytes ? Cubin::value_at<std::uint16_t>(info, at + 2) : 0;
    if (format == kWithBytes && attribute == wanted) records.push_back(info.substr(at + 4, bytes));
    at += 4 + bytes;
  }
  return records;
}

/// Sizes of a kernel's parameters, in bytes.
std::vector<std::size_t> parameters_of(std::string_view info) {
  std::vector<std::size_t> sizes;
  for (const std::string_view record : records_of(info, kParameter))
    sizes.push_back(Cubin::value_at<std::uint32_t>(record, 8) >> kSizeShift);
  return sizes;
}

std::map<std::string, std::int64_t> threads_in(const Cubin& cubin) {
  std::map<std::string, std::int64_t> threads;
  for (const Elf64_Shdr& section : cubin.sections()) {
    const std::string_view name = cubin.name(section);
    if (!name.starts_with(kInfo)) continue;
    for (const std::string_view record : records_of(cubin.content(section), kThreads))
      threads[std::string(name.substr(kInfo.size()))] = std::int64_t{Cubin::value_at<std::uint32_t>(record, 0)} *
                                                        Cubin::value_at<std::uint32_t>(record, 4) *
                                                        Cubin::value_at<std::uint32_t>(record, 8);
  }
  return threads;
}

std::optional<std::string> reject(const Cubin& cubin, const Candidate& candidate, std::size_t num_parameters) {
  std::map<std::string, std::vector<std::size_t>, std::less<>> kernels;
  for (const Elf64_Shdr& section : cubin.sections()) {
    const std::string_view name = cubin.name(section);
    if (section.sh_type == SHT_SYMTAB)
      if (auto reason = reject_symbols(cubin, section, candidate.language)) return reason;
    if (name.starts_with(kInfo))
      kernels[std::string(name.substr(kInfo.size()))] = parameters_of(cubin.content(section));
  }
  const bool asks_threads = has_threads_of_compiler(candidate.language);
  const auto threads = asks_threads ? threads_in(cubin) : std::map<std::string, std::int64_t>{};
  for (const LaunchLine& launch : candidate.launches) {
    const auto found = kernels.find(launch.kernel);
    if (found == kernels.end()) return "the cubin has no kernel " + launch.kernel;
    const std::vector<std::size_t>& sizes = found->second;
    if (sizes.size() != num_parameters ||
        std::any_of(sizes.begin(), sizes.end(), [](std::size_t size) { return size != sizeof(std::uint64_t); }))
      return "kernel " + launch.kernel + " of the cubin has " + std::to_string(sizes.size()) +
             " parameters, the case gives " + std::to_string(num_parameters) + " of 8 bytes";
    if (asks_threads && !threads.contains(launch.kernel))
      return "kernel " + launch.kernel + " of the cubin does not say how many threads a block has";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_cubin(const std::string& cubin, const Candidate& candidate,
                                        std::size_t num_parameters) {
  try {
    return reject(Cubin(cubin), candidate, num_parameters);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return error.what();
  }
}

bool has_threads_of_compiler(Language language) {
  return !traits_of(language).has_blocks && !traits_of(language).has_warps;
}

std::map<std::string, std::int64_t> threads_of_cubin(const std::string& cubin) { return threads_in(Cubin(cubin)); }

}  // namespace salient::workbench
