// workbench/attack/kit.h - cheats and honest kernels for somebody's referee, and what it makes of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace salient::workbench {

/// One candidate of the kit.
struct KitEntry {
  std::string name{};
  std::string language{};  ///< "python" or "cpp"
  std::string source{};
  std::string what{};            ///< it does, one line
  std::string problem{};         ///< its name: of a problem file, or of a case
  std::string problem_source{};  ///< in Python, empty for a case
  bool is_honest = false;        ///< to be accepted
  bool is_timed = false;         ///< its results may be right, its time is not: seen by who measures time alone
  bool needs_promotion = false;  ///< seen under sanitizers alone
};

/// Of FOLDER/*.py and *.cpp, by name. A file's first line ends with what it does, its second line says what it is:
/// "attack PROBLEM [timed]" or "honest PROBLEM", behind the comment's sign, or, as fixtures of tests have it, "expect
/// VERDICT case NAME [timed|promoted]". Problems are FOLDER/problems/NAME.py, or cases.
/// @throws Error{kNoInput} without the folder, Error{kBadData} for a file that says neither
std::vector<KitEntry> read_kit(const std::filesystem::path& folder);

/// What a harness says of an entry.
struct HarnessVerdict {
  enum class Kind : std::uint8_t { kAccepted, kRefused, kUnable, kSilent } kind = Kind::kSilent;
  std::string reason{};
  std::optional<double> speedup{};  ///< times of the reference, where it measures
};

/// A command that judges, by JSON lines: it first says {"harness": NAME, "languages": [...]}. A question is {"word",
/// "name", "language", "source", "problem", "problem_source", "timed", "promotion"}; the answer repeats "word", and
/// says "verdict": "accepted", "rejected", or "unable" for what it is not made for, "reason", and "speedup" or null.
struct Harness {
  std::vector<std::string> command{};
  double seconds = 600;  ///< for one answer
};

struct HarnessFacts {
  std::string name{};
  std::vector<std::string> languages{};
};
/// @throws Error{kNoInput} if it cannot be started, Error{kBadData} for another first line
HarnessFacts ask_who_it_is(const Harness& harness);

/// In a process of its own, so that no entry reaches the next one. kSilent: it ended, or took too long, or did not
/// repeat the word. @throws Error{kNoInput} if it cannot be started
HarnessVerdict ask_harness(const Harness& harness, const KitEntry& entry);

/// Whether the harness is wrong about the entry: a cheat accepted, timed ones where a gain is claimed; an honest one
/// not.
bool is_wrong(const KitEntry& entry, const HarnessVerdict& verdict);

}  // namespace salient::workbench
