// workbench/referee/candidate.h - a candidate: one source file, and the launches that its comment lines declare.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "workbench/case/case.h"
#include "workbench/referee/verdict.h"

namespace salient::workbench {

/// What a candidate is written in, as its line "// language ptx" or "# language triton" says.
enum class Language : std::uint8_t {
  kCpp,  ///< without a line: C++ on the host, CUDA C++ with or without CuTe on a GPU
  kPtx,
  kTriton,
  kCuteDsl,
  kTilelang,
  kCutile,
};

/// All that the workbench knows of a language, beside its compiler.
struct LanguageTraits {
  const char* word;               ///< in declarations and options
  const char* extension;          ///< of the file of a candidate on a GPU
  const char* package = nullptr;  ///< of Python, which lowers it by python/lower_WORD.py; null = no Python is needed
  bool has_blocks = true;         ///< a launch says block, block_y and smem
  bool has_warps = false;         ///< a launch says warps and stages
  bool has_params = true;         ///< it has macros or constants
  bool has_arrays = false;        ///< kernels get extents and strides of every buffer
  bool has_ptx = true;            ///< its compiler gives PTX; else a cubin alone
  std::size_t hidden_parameters = 0;  ///< behind the scratch, which every kernel ends with; they are 0
};
const LanguageTraits& traits_of(Language language);
std::optional<Language> language_of(std::string_view word);
std::string names_of_languages();  ///< "cpp, ptx, ..."

/// // launch NAME block=256 [block_y=1] grid=EXPR [grid_y=EXPR] [grid_z=EXPR] [smem=EXPR]
/// # launch NAME grid=EXPR [warps=EXPR] [stages=EXPR]: of Triton, whose compiler chooses the shared memory
/// # launch NAME grid=EXPR: of cuTile, whose compiler chooses the threads, too
struct LaunchLine {
  std::string kernel{};
  std::string block = "1", block_y = "1", grid{}, grid_y = "1", grid_z = "1", smem = "0";
  std::string warps = "4", stages = "3";  ///< of Triton; `block` follows from them
};

/// // param NAME=64 values=32,64,128: a macro for the compiler, and what `tune` tries.
struct Parameter {
  std::string name{};
  std::int64_t value = 0;
  std::vector<std::int64_t> values{};
};

struct Candidate {
  std::string source{};
  Language language = Language::kCpp;
  std::vector<LaunchLine> launches{};
  std::vector<Parameter> parameters{};
  std::vector<BufferSpec> scratch{};  ///< // scratch NAME TYPE COUNT: passed after the dims, poisoned before every run
  /// # array NAME EXPR EXPR: extents of a buffer by rows, of languages that have arrays; else it has one extent.
  std::map<std::string, std::vector<std::string>> arrays{};
};

/// Launches with numbers in place of expressions.
struct Launch {
  std::string kernel{};
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 2> block{1, 1};
  std::int64_t smem = 0;
};

/// Parameters of every kernel, all of 64 bits.
std::size_t num_parameters(const Candidate& candidate, const Case& given);

/// The extents of a buffer of a language that has arrays, as expressions: those of its line `array`, or its number of
/// elements.
std::vector<std::string> extents_of(const Candidate& candidate, const BufferSpec& buffer);

/// Reads the declarations of a source.
///
/// @throws Error{kBadData} with line number and rule: no launch, an unknown key, more than 16 launches, 16 parameters
///         or 8 scratch buffers, a source above 1 MiB.
Candidate parse_candidate(std::string source);

/// The same with LAUNCH_ERROR in place of an exception.
std::variant<Candidate, Finding> read_candidate(std::string source);

/// What expressions of a candidate know: sizes, `sm`, params.
Variables with_parameters(const Candidate& candidate, const Variables& dims, std::int64_t sm);

/// Numbers for one shape. `sm` is the number of multiprocessors, or of cores. Launches with an empty grid are left out.
///
/// @throws Error{kBadData} for a negative grid, a block of 0 or above 1024 threads, more than 1 MiB of shared memory.
std::vector<Launch> resolve_launches(const Candidate& candidate, const Variables& dims, std::int64_t sm);

/// Elements of a scratch buffer for one shape. @throws Error{kBadData} if negative or above 2^33
std::size_t scratch_elements(const BufferSpec& scratch, const Candidate& candidate, const Variables& dims,
                             std::int64_t sm);

}  // namespace salient::workbench
