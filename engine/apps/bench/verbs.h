// engine/apps/bench/verbs.h - the benchmarks that salient-bench knows; one function each.
#pragma once

#include <iostream>
#include <span>
#include <string_view>

#include "engine/core/options.h"

namespace salient {

using Arguments = std::span<const char* const>;  ///< what follows the verb on the command line

/// Each prints a table, writes JSON on request, and returns the exit code.
int bench_sampler(Arguments arguments);
int bench_gather(Arguments arguments);
int bench_pipeline(Arguments arguments);
int bench_scaling(Arguments arguments);
int bench_table1(Arguments arguments);
int bench_ablation(Arguments arguments);
int bench_inference(Arguments arguments);

/// Fills `options`; prints them and returns false if the arguments ask for help.
/// @throws Error{kUsage}.
template <class Options>
bool read_options(std::string_view verb, Arguments arguments, Options& options) {
  for (const std::string_view argument : arguments)
    if (argument == "--help" || argument == "-h") {
      std::cout << "salient-bench " << verb << ": options with their defaults\n";
      options::print_help(std::cout, options);
      return false;
    }
  options::parse(arguments, options);
  return true;
}

}  // namespace salient
