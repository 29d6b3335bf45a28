// benchmarks/verbs.h - the benchmarks that salient-bench knows; one function each.
#pragma once

#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "apps/options/help.h"

namespace salient {

using Arguments = std::span<const char* const>;  ///< what follows the verb on the command line

/// Each prints a table, writes JSON on request, and returns the exit code.
int bench_sampler(Arguments arguments);
int bench_gather(Arguments arguments);
int bench_cache(Arguments arguments);
int bench_pipeline(Arguments arguments);
int bench_scaling(Arguments arguments);
int bench_table1(Arguments arguments);
int bench_ablation(Arguments arguments);
int bench_steps(Arguments arguments);
int bench_links(Arguments arguments);
int bench_tiers(Arguments arguments);
int bench_inference(Arguments arguments);
int bench_typed(Arguments arguments);

/// Of options that several benchmarks have.
inline void check_rounds(int rounds, int threads) {
  require_option(rounds >= 1, "--rounds: at least 1");
  require_option(threads >= 0 && threads <= 1024, "--threads, --workers: 0 to 1024");
}
inline void check_generated_graph(std::uint32_t nodes, double mean_degree, int batch_size, int batches) {
  require_option(nodes >= 1, "--nodes: at least 1");
  require_option(mean_degree >= 1 && mean_degree <= 1e6, "--mean-degree: 1 to 1000000");
  require_option(batch_size >= 1 && static_cast<std::uint32_t>(batch_size) <= nodes, "--batch-size: 1 to --nodes");
  require_option(batches >= 1, "--batches: at least 1");
}

/// Before hours of measuring: that --json can be written. @throws Error{kIo}.
void check_json_path(const std::string& path);

/// Fills `options`; prints them and returns false if the arguments ask for help.
/// @throws Error{kUsage}.
template <class Options>
bool read_options(std::string_view verb, Arguments arguments, Options& options) {
  for (const std::string_view argument : arguments)
    if (argument.starts_with("--help") || argument == "-h") {
      options::print_help(std::cout, "salient-bench " + std::string(verb) + ": options with their defaults\n", options);
      return false;
    }
  options::parse(arguments, options);
  check_json_path(options.json);
  return true;
}

}  // namespace salient
