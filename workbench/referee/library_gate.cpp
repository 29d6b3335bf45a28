// workbench/referee/library_gate.cpp - the gate on a linked library of the host back end; see static_gate.h.
//
// Names and flags of sections, which a candidate can choose, are not looked at: the loader does not, either.
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

/// Arithmetic and memory of the C library that compilers and kernels call.
constexpr std::string_view kAllowed[] = {
    "memcpy", "memmove", "memset", "memcmp", "exp",           "expf",         "exp2", "exp2f", "expm1", "expm1f",
    "log",    "logf",    "log1p",  "log1pf", "log2",          "log2f",        "pow",  "powf",  "sqrt",  "sqrtf",
    "erf",    "erff",    "erfc",   "erfcf",  "tanh",          "tanhf",        "sin",  "sinf",  "cos",   "cosf",
    "tan",    "tanf",    "atan",   "atanf",  "fmax",          "fmaxf",        "fmin", "fminf", "fma",   "fmaf",
    "round",  "roundf",  "rint",   "rintf",  "__extendhfsf2", "__truncsfhf2", "fmod", "fmodf"};
constexpr std::string_view kOfSanitizers[] = {"__asan_", "__ubsan_"};
constexpr std::string_view kNeeded[] = {"libm.so.6", "libc.so.6"};

constexpr Elf64_Word kSegments[] = {PT_LOAD, PT_DYNAMIC,   PT_NOTE,      PT_GNU_EH_FRAME,
                                    PT_PHDR, PT_GNU_STACK, PT_GNU_RELRO, PT_GNU_PROPERTY};
/// Of these, DT_FLAGS and DT_FLAGS_1 are looked at.
constexpr Elf64_Sxword kTags[] = {DT_NEEDED,  DT_HASH,     DT_STRTAB,    DT_SYMTAB,   DT_STRSZ,    DT_SYMENT,
                                  DT_PLTGOT,  DT_PLTRELSZ, DT_PLTREL,    DT_JMPREL,   DT_RELA,     DT_RELASZ,
                                  DT_RELAENT, DT_FLAGS,    DT_FLAGS_1,   DT_BIND_NOW, DT_SYMBOLIC, DT_RELACOUNT,
                                  DT_VERSYM,  DT_VERNEED,  DT_VERNEEDNUM};
/// Of a sanitized library besides: AddressSanitizer tells its runtime of the variables.
constexpr Elf64_Sxword kTagsOfSanitizers[] = {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY, DT_FINI_ARRAYSZ};

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
constexpr Elf64_Xword kRelocations[] = {R_X86_64_RELATIVE, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64};
#else
constexpr Elf64_Half kMachine = EM_AARCH64;
constexpr Elf64_Xword kRelocations[] = {R_AARCH64_RELATIVE, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_ABS64};
#endif

template <class List, class Value>
bool holds(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

using Reason = std::optional<std::string>;

/// Addresses, [begin, end).
struct Range {
  std::uint64_t begin = 0, end = 0;
  bool covers(std::uint64_t at, std::uint64_t bytes) const { return begin <= at && at <= end && bytes <= end - at; }
};

Range range_of(const Elf64_Phdr& segment) { return {segment.p_vaddr, segment.p_vaddr + segment.p_memsz}; }

/// A library's bytes, read with bounds checked, and its segments.
class Library {
 public:
  explicit Library(const std::filesystem::path& path) : path_(path), bytes_(read_text_file(path)) {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN || header.e_machine != kMachine || header.e_phentsize != sizeof(Elf64_Phdr))
      refuse();
    for (std::uint64_t i = 0; i < header.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_DYNAMIC) read_dynamic(segment);
  }

  std::span<const Elf64_Phdr> segments() const { return segments_; }
  std::span<const Elf64_Dyn> dynamic() const { return dynamic_; }
  /// The value of a tag; 0 without it.
  std::uint64_t value(Elf64_Sxword tag) const {
    for (const Elf64_Dyn& entry : dynamic_)
      if (entry.d_tag == tag) return entry.d_un.d_val;
    return 0;
  }
  /// What the loader finds at an address.
  template <class T>
  T loaded(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD &&
          Range{segment.p_vaddr, segment.p_vaddr + segment.p_filesz}.covers(address, sizeof(T)))
        return at<T>(segment.p_offset + (address - segment.p_vaddr));
    refuse();
  }
  std::string name(std::uint64_t index) const {
    std::string text;
    for (std::uint64_t address = value(DT_STRTAB) + index;; ++address) {
      const char c = loaded<char>(address);
      if (c == '\0') return text;
      text += c;
    }
  }
  [[noreturn]] void refuse() const { fail(ErrorKind::kBadData, path_.string() + ": not an ELF library"); }

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) refuse();
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  void read_dynamic(const Elf64_Phdr& segment) {
    for (std::uint64_t address = segment.p_vaddr;; address += sizeof(Elf64_Dyn)) {
      const auto entry = loaded<Elf64_Dyn>(address);
      if (entry.d_tag == DT_NULL) return;
      dynamic_.push_back(entry);
    }
  }

  std::filesystem::path path_;
  std::string bytes_;
  std::vector<Elf64_Phdr> segments_{};
  std::vector<Elf64_Dyn> dynamic_{};
};

/// What is read-only once the library is loaded: whole pages alone.
Range sealed_range(const Library& library) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const Elf64_Phdr& segment : library.segments())
    if (segment.p_type == PT_GNU_RELRO) {
      const Range range = range_of(segment);
      return {range.begin / page * page, range.end / page * page};
    }
  return {};
}

Reason reject_segments(const Library& library, LibraryKind kind) {
  const Range sealed = sealed_range(library);
  std::size_t dynamics = 0, stacks = 0, seals = 0;
  for (const Elf64_Phdr& segment : library.segments()) {
    const bool is_writable = (segment.p_flags & PF_W) != 0, runs = (segment.p_flags & PF_X) != 0;
    if (segment.p_type == PT_TLS) return "a thread's variable";
    if (!holds(kSegments, segment.p_type)) return "a part of a library that a kernel has not";
    dynamics += segment.p_type == PT_DYNAMIC ? 1U : 0U;
    seals += segment.p_type == PT_GNU_RELRO ? 1U : 0U;
    stacks += segment.p_type == PT_GNU_STACK ? 1U : 0U;
    if (runs && (is_writable || segment.p_type == PT_GNU_STACK)) return "memory that is written and run";
    if (segment.p_type == PT_LOAD && is_writable && kind == LibraryKind::kPlain &&
        !sealed.covers(segment.p_vaddr, segment.p_memsz))
      return "memory that outlives a launch";
  }
  if (dynamics != 1 || stacks != 1 || seals > 1) return "a library that was not linked as kernels are";
  return std::nullopt;
}

Reason reject_tags(const Library& library, LibraryKind kind) {
  for (const Elf64_Dyn& entry : library.dynamic()) {
    const Elf64_Sxword tag = entry.d_tag;
    const std::uint64_t value = entry.d_un.d_val;
    if (tag == DT_FLAGS && (value & ~std::uint64_t{DF_BIND_NOW | DF_SYMBOLIC}) != 0)
      return (value & DF_TEXTREL) != 0 ? "addresses in code, set at load time" : "a flag for the loader";
    if (tag == DT_FLAGS_1 && (value & ~std::uint64_t{DF_1_NOW}) != 0) return "a flag for the loader";
    if (tag == DT_NEEDED && !holds(kNeeded, library.name(value))) return "the library " + library.name(value);
    if (holds(kTags, tag)) continue;
    if (kind == LibraryKind::kSanitized && holds(kTagsOfSanitizers, tag)) {
      const bool is_size = tag == DT_INIT_ARRAYSZ || tag == DT_FINI_ARRAYSZ;
      if (is_size && value > sizeof(Elf64_Addr)) return "code that runs at load time";
      continue;
    }
    return holds(kTagsOfSanitizers, tag) || tag == DT_INIT || tag == DT_FINI || tag == DT_PREINIT_ARRAY
               ? "code that runs at load time"
               : "an entry for the loader that a kernel has not";
  }
  if (library.value(DT_HASH) == 0) return "a library that was not linked as kernels are";
  return std::nullopt;
}

Reason reject_symbols(const Library& library, LibraryKind kind, std::uint64_t num_symbols) {
  for (std::uint64_t i = 1; i < num_symbols; ++i) {
    const auto symbol = library.loaded<Elf64_Sym>(library.value(DT_SYMTAB) + i * sizeof(Elf64_Sym));
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return "a function chosen at load time";
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS) return "a thread's variable";
    if (symbol.st_shndx != SHN_UNDEF) continue;
    const std::string name = library.name(symbol.st_name);
    const bool is_sanitizers =
        kind == LibraryKind::kSanitized && std::any_of(std::begin(kOfSanitizers), std::end(kOfSanitizers),
                                                       [&](std::string_view part) { return name.starts_with(part); });
    if (!is_sanitizers && !holds(kAllowed, name)) return "a call of " + name;
  }
  return std::nullopt;
}

/// Of one table: relocations of kinds that write an address, into memory that the library itself has.
Reason reject_relocations(const Library& library, Range table, std::uint64_t num_symbols) {
  for (std::uint64_t at = table.begin; at < table.end; at += sizeof(Elf64_Rela)) {
    const auto one = library.loaded<Elf64_Rela>(at);
    if (!holds(kRelocations, ELF64_R_TYPE(one.r_info)) || ELF64_R_SYM(one.r_info) >= num_symbols)
      return "an address that is chosen at load time";
    const bool is_own = std::any_of(library.segments().begin(), library.segments().end(), [&](const Elf64_Phdr& s) {
      return s.p_type == PT_LOAD && (s.p_flags & PF_W) != 0 && range_of(s).covers(one.r_offset, sizeof(Elf64_Addr));
    });
    if (!is_own) return "addresses in code, set at load time";
  }
  return std::nullopt;
}

}  // namespace

Reason reject_size(const std::filesystem::path& compiled) {
  if (std::filesystem::file_size(compiled) <= std::uintmax_t{64} << 20) return std::nullopt;
  return "more than 64 MiB when it is compiled";
}

Reason reject_library(const std::filesystem::path& path, LibraryKind kind) {
  if (auto reason = reject_size(path)) return reason;
  const Library library(path);
  if (auto reason = reject_segments(library, kind)) return reason;
  if (auto reason = reject_tags(library, kind)) return reason;
  const std::uint64_t num_symbols = library.loaded<Elf64_Word>(library.value(DT_HASH) + sizeof(Elf64_Word));
  if (auto reason = reject_symbols(library, kind, num_symbols)) return reason;
  for (const auto& [table, bytes] : {std::pair{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}}) {
    const std::uint64_t begin = library.value(table);
    if (auto reason = reject_relocations(library, {begin, begin + library.value(bytes)}, num_symbols)) return reason;
  }
  return std::nullopt;
}

}  // namespace salient::workbench
