// workbench/referee/verdict.h - what the referee says of a candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace salient::workbench {

enum class Verdict : std::uint8_t {
  kStaticReject,  ///< forbidden constructs, or entries that do not fit the case
  kCompileError,
  kLaunchError,   ///< a launch line that cannot be launched
  kRuntimeError,  ///< the worker process died, or the device reports an error
  kTimeout,
  kUnwritten,    ///< an output element kept its poison
  kOutOfBounds,  ///< a guard zone was written
  kInputModified,
  kNondeterministic,  ///< two runs on the same input differ
  kIncorrect,
  kPrecision,       ///< beyond the error bound, but within that of bf16 terms
  kInputDependent,  ///< right, but faster on values that are timed than on others
  kSlower,
  kNoise,       ///< no gain above the noise
  kImpossible,  ///< faster than 0.9 of the measured floor: a person must look
  kAccepted,    ///< correct; where it was timed: faster than the best so far
  kPromoted,
};

const char* word_of(Verdict verdict);  ///< "STATIC_REJECT"
std::optional<Verdict> verdict_of(std::string_view word);

/// Whether the candidate computed what the case asks for.
inline bool is_correct(Verdict verdict) { return verdict >= Verdict::kSlower; }

/// A verdict with its reason, one line, as generators are shown it. Never about hidden shapes' numbers.
struct Finding {
  Verdict verdict = Verdict::kAccepted;
  std::string reason{};
  std::string log{};  ///< compiler output and the like, several lines
};

}  // namespace salient::workbench
