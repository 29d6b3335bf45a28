// engine/report/run_comparison.h - what of several runs may be compared, and in what they differ.
#pragma once

#include <span>
#include <string>

#include "engine/report/run_files.h"

namespace salient {

struct ComparedRun {
  std::string name{};  ///< as the page calls it
  std::string link{};  ///< of its own report, relative to the page; empty where there is none
  RunFiles files{};
};

/// For page/comparison.js:
///
///     runs: [{name, link, state, detail, seed, epochs, result, rows}]
///     sets: [{title, metric, synthetic, options: [name], facts: [name],
///             groups: [{label, runs: [index], options: [value], facts: [value]}]}]
///
/// A set is the runs on the same data (name and fingerprint) that are judged by the same metric; only they are compared
/// with each other. A group is the runs of a set whose options differ in the seed alone, or in what changes neither
/// results nor times; a run without options (no config.toml) is a group of its own. `options` and `facts` (machine,
/// placement, versions) are those that differ within the set.
Json compare_runs(std::span<const ComparedRun> runs);

}  // namespace salient
