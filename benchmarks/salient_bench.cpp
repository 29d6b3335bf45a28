// benchmarks/salient_bench.cpp - argv -> one benchmark. Each verb is a file of this folder.
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "apps/advice.h"
#include "benchmarks/verbs.h"
#include "core/error.h"
#include "core/host/program.h"
#include "core/version.h"

namespace salient {
namespace {

struct Verb {
  std::string_view name;
  const char* summary;
  int (*run)(Arguments);
};

constexpr std::array kVerbs{
    Verb{"sampler", "sampled edges per second, beside a textbook sampler and random reads", bench_sampler},
    Verb{"typed", "sampled edges per second of a typed graph's twin, beside random reads", bench_typed},
    Verb{"gather", "feature rows gathered per second, beside memcpy and random reads", bench_gather},
    Verb{"cache", "rows found in a cache, by what chose them, and what choosing takes", bench_cache},
    Verb{"pipeline", "batches per second of the loader, beside one long copy", bench_pipeline},
    Verb{"table1", "where an epoch's time goes: a plain loop, features on the host, features on the GPU", bench_table1},
    Verb{"ablation", "what each improvement over a plain loop is worth", bench_ablation},
    Verb{"steps", "every model's epochs, eager and resident, in each precision", bench_steps},
    Verb{"links", "training links a second, by what samples and computes", bench_links},
    Verb{"tiers", "epochs with a part of the graph in GPU memory", bench_tiers},
    Verb{"scaling", "epochs on 1, 2, 4, ... ranks, and what the exchange of gradients costs", bench_scaling},
    Verb{"inference", "accuracy and seconds of a run's model, from few neighbours to all", bench_inference},
};

void print_help() {
  constexpr std::size_t kIndent = 27;
  std::printf("salient-bench - what the parts of the engine can do on this machine\n\n");
  for (const Verb& verb : kVerbs)
    std::printf("  salient-bench %-10s %s\n", std::string(verb.name).c_str(),
                options::wrapped(verb.summary, kIndent, options::help_columns()).c_str());
  std::printf("\n  salient-bench VERB --help      its options; every verb takes --json FILE\n");
}

int run(std::span<const char* const> arguments) {
  const std::string_view first = arguments.empty() ? "--help" : arguments[0];
  if (first.starts_with("--help") || first == "-h" || first == "help") {
    print_help();
    return 0;
  }
  if (first == "--version") {
    std::printf("salient-bench %s\n", kVersion);
    return 0;
  }
  std::string known;
  for (const Verb& verb : kVerbs) {
    if (verb.name == first) return verb.run(arguments.subspan(1));
    known.append(known.empty() ? "" : ", ").append(verb.name);
  }
  fail(ErrorKind::kUsage, "no benchmark is called '" + std::string(first) + "'; there are " + known);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  salient::start_program();
  try {
    const int code = salient::run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
    return salient::end_program("salient-bench", code);
  } catch (...) {
    return salient::report_current_exception("salient-bench", salient::train_advice);
  }
}
