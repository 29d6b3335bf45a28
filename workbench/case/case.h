// workbench/case/case.h - what a case says: the task, its buffers, shapes, error bound, least work, start kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/case/element_type.h"
#include "workbench/case/expression.h"

namespace salient::workbench {

enum class BackendKind : std::uint8_t { kHost, kCuda };
inline const char* word_of(BackendKind backend) { return backend == BackendKind::kHost ? "host" : "cuda"; }

enum class BufferRole : std::uint8_t { kIn, kOut, kInOut };

/// How an input buffer is filled.
enum class Fill : std::uint8_t {
  kValues,  ///< floating point, by the value pattern
  kIndex,   ///< whole numbers in [0, limit), by the index pattern
  kIndptr,  ///< offsets from 0 to limit, ascending; the index pattern decides the degrees
  kBits,    ///< any 32 bits
};

struct BufferSpec {
  std::string name;
  ElementType type = ElementType::kF32;
  BufferRole role = BufferRole::kIn;
  std::string count;  ///< expression: elements
  Fill fill = Fill::kValues;
  std::string limit{};  ///< expression, of kIndex and kIndptr
};

/// How equal an output must be to the reference.
enum class Exact : std::uint8_t {
  kNo,      ///< within the error bound
  kValues,  ///< the same numbers; a NaN for a NaN, a zero for a zero
  kBits,    ///< the same bits: copies
};

enum class ShapeSet : std::uint8_t { kPublic, kEdge, kHidden };

/// low == high but for hidden shapes, which are drawn from [low, high].
struct DimRange {
  std::string name;
  std::int64_t low = 0, high = 0;
};

struct ShapeSpec {
  ShapeSet set = ShapeSet::kPublic;
  std::string backend{};  ///< "host", "cuda", or "" for both
  std::vector<DimRange> dims{};
};

/// A kernel of the engine that came from a run of a case.
struct EngineKernel {
  std::string file{}, function{};  ///< "models/kernels/NAME.h", and what it declares there
  std::string run{};               ///< name of the recorded run
};

/// A case file, checked: every expression has a value for every shape.
struct Case {
  std::string name{};
  std::string kind{};                   ///< class of work: elementwise, gemm, reduction, gather, segment, attention
  std::string task{};                   ///< what is to be computed, in words and formulas
  std::string reference{};              ///< name in reference.h's table
  std::vector<std::string> formulas{};  ///< of the reference "formula": see formula.h
  std::vector<std::string> program{};   ///< of the references "python" and "command": see reference_program.h
  std::vector<std::string> dims{};
  std::vector<BufferSpec> buffers{};
  std::string rows{};           ///< expression: independent parts of the result, as the reference computes them
  std::string row_cost{};       ///< expression: operations of the reference for one row
  std::string bound{};          ///< expression: c of the error bound c * eps * sum|terms|
  std::string mean{};           ///< expression: most of the root mean square of errors; empty = 8 + c/64, see judge.h
  std::string bytes{};          ///< expression: least bytes moved
  std::string flops{};          ///< expression: least operations
  std::string ceiling = "f32";  ///< f32 | tf32_tensor | bf16_tensor: which arithmetic ceiling applies
  bool nonfinite = false;       ///< inputs with NaN and infinities are part of the contract
  Exact exact = Exact::kNo;     ///< of every output of floating point; whole numbers always are
  int least_exponent = -60;  ///< of 2, of the values of ValuePattern::kExtreme: what the reference's formula can take
  int most_exponent = 60;    ///< without overflow and underflow in between
  bool data_dependent = false;  ///< by its nature the task takes more time for some values than for others
  bool atomics = false;         ///< the order of additions is free: runs may differ in their last bits
  std::vector<ShapeSpec> shapes{};
  std::filesystem::path host_start{}, cuda_start{};  ///< start kernels; empty = none
  std::filesystem::path file{};                      ///< that it was read from
  std::string backward{};                            ///< name of the case of its gradients; "" = there is none
  std::vector<EngineKernel> engine{};                ///< what the engine has of this case's runs

  const std::filesystem::path& start(BackendKind backend) const {
    return backend == BackendKind::kHost ? host_start : cuda_start;
  }
};

/// The case in a file's text.
///
/// @param file  named in messages; start kernels are looked for in the folder `kernels` beside it
/// @throws Error{kBadData} "FILE:LINE: rule" for whatever is unknown, missing, or broken.
Case parse_case(const std::string& text, const std::filesystem::path& file);

/// Every NAME.case in `folder`, by name. @throws Error{kNoInput} without the folder, Error{kBadData}.
std::vector<Case> load_cases(const std::filesystem::path& folder);
/// @param word  the name of a case in `folder`, or a file "PATH.case"
/// @throws Error{kNoInput} with the known names if there is none of this name, Error{kBadData}
Case load_case(const std::filesystem::path& folder, const std::string& word);
/// The word by which load_case() finds it again from anywhere.
std::string word_of(const Case& given, const std::filesystem::path& folder);

/// The C++ or CUDA type of a buffer's elements.
std::string type_name(ElementType type, BackendKind backend);

/// The dims that a buffer's number of elements depends on; others are plain numbers.
std::vector<std::string> sizes_of(const Case& given);

/// The C++ or CUDA parameter list of a kernel of this case: buffers in order, dims as 64-bit integers, then scratch.
std::string parameter_list(const Case& given, BackendKind backend, const std::vector<BufferSpec>& scratch);

/// The case as a generator is shown it: task, parameters, public shapes. Never the hidden shapes.
std::string describe(const Case& given, BackendKind backend);

}  // namespace salient::workbench
