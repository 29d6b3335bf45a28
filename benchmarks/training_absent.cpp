// benchmarks/training_absent.cpp - a build without LibTorch cannot train.
#include "benchmarks/verbs.h"
#include "core/error.h"

namespace salient {
namespace {

[[noreturn]] int refuse(const char* verb) {
  fail(ErrorKind::kUsage, std::string("this build has no LibTorch, which '") + verb + "' needs");
}

}  // namespace

int bench_table1(Arguments) { refuse("table1"); }
int bench_ablation(Arguments) { refuse("ablation"); }
int bench_steps(Arguments) { refuse("steps"); }
int bench_links(Arguments) { refuse("links"); }
int bench_tiers(Arguments) { refuse("tiers"); }
int bench_scaling(Arguments) { refuse("scaling"); }
int bench_inference(Arguments) { refuse("inference"); }

}  // namespace salient
