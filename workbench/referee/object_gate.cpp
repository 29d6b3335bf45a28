// workbench/referee/object_gate.cpp - the gate on a compiled object of the host back end; see static_gate.h.
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

/// Arithmetic and memory of the C library that compilers and kernels call.
constexpr std::array<std::string_view, 48> kAllowed = {
    "memcpy", "memmove", "memset", "memcmp", "exp",           "expf",         "exp2", "exp2f", "expm1", "expm1f",
    "log",    "logf",    "log1p",  "log1pf", "log2",          "log2f",        "pow",  "powf",  "sqrt",  "sqrtf",
    "erf",    "erff",    "erfc",   "erfcf",  "tanh",          "tanhf",        "sin",  "sinf",  "cos",   "cosf",
    "tan",    "tanf",    "atan",   "atanf",  "fmax",          "fmaxf",        "fmin", "fminf", "fma",   "fmaf",
    "round",  "roundf",  "rint",   "rintf",  "__extendhfsf2", "__truncsfhf2", "fmod", "fmodf"};

/// An object file's bytes, read with bounds checked.
class Object {
 public:
  explicit Object(const std::filesystem::path& path) : path_(path), bytes_(read_text_file(path)) {}

  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) refuse();
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string_view text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) refuse();
    const std::string_view rest = std::string_view(bytes_).substr(offset);
    return rest.substr(0, rest.find('\0'));
  }
  [[noreturn]] void refuse() const { fail(ErrorKind::kBadData, path_.string() + ": not an ELF object"); }

 private:
  std::filesystem::path path_;
  std::string bytes_;
};

std::optional<std::string> reject_symbols(const Object& object, const Elf64_Shdr& table, const Elf64_Shdr& names) {
  for (std::uint64_t i = 1; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = object.at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
    const std::string_view name = object.text(names.sh_offset + symbol.st_name);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return "a function chosen at load time";
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS) return "a thread's variable";
    if (symbol.st_shndx != SHN_UNDEF || name.empty() || name == "_GLOBAL_OFFSET_TABLE_") continue;
    if (std::find(kAllowed.begin(), kAllowed.end(), name) == kAllowed.end()) return "a call of " + std::string(name);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> reject_size(const std::filesystem::path& compiled) {
  if (std::filesystem::file_size(compiled) <= std::uintmax_t{64} << 20) return std::nullopt;
  return "more than 64 MiB when it is compiled";
}

std::optional<std::string> reject_object(const std::filesystem::path& path) {
  if (auto reason = reject_size(path)) return reason;
  const Object object(path);
  const auto header = object.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(Elf64_Shdr)) object.refuse();
  const auto section = [&](std::uint64_t i) { return object.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)); };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    const std::string_view name = object.text(names.sh_offset + one.sh_name);
    const bool is_sealed = name == ".data.rel.ro" || name.starts_with(".data.rel.ro.");  // read-only once it is loaded
    if ((one.sh_flags & SHF_WRITE) != 0 && one.sh_size > 0 && !is_sealed)
      return "memory that outlives a launch (section " + std::string(name) + ")";
    if (one.sh_type == SHT_INIT_ARRAY || one.sh_type == SHT_FINI_ARRAY || one.sh_type == SHT_PREINIT_ARRAY)
      return "code that runs at load time";
    if (one.sh_type == SHT_SYMTAB)
      if (auto reason = reject_symbols(object, one, section(one.sh_link))) return reason;
  }
  return std::nullopt;
}

}  // namespace salient::workbench
