// workbench/referee/verdict.cpp - see verdict.h.
#include "workbench/referee/verdict.h"

#include <iterator>

namespace salient::workbench {
namespace {

constexpr const char* kWords[] = {
    "STATIC_REJECT", "COMPILE_ERROR",  "LAUNCH_ERROR",     "RUNTIME_ERROR", "TIMEOUT",   "UNWRITTEN",
    "OUT_OF_BOUNDS", "INPUT_MODIFIED", "NONDETERMINISTIC", "INCORRECT",     "PRECISION", "INPUT_DEPENDENT",
    "SLOWER",        "NOISE",          "IMPOSSIBLE",       "ACCEPTED",      "PROMOTED"};

}  // namespace

const char* word_of(Verdict verdict) { return kWords[static_cast<std::size_t>(verdict)]; }

std::optional<Verdict> verdict_of(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kWords); ++i)
    if (word == kWords[i]) return static_cast<Verdict>(i);
  return std::nullopt;
}

}  // namespace salient::workbench
