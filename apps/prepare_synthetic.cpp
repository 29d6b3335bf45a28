// apps/prepare_synthetic.cpp - see prepare_synthetic.h.
#include "apps/prepare_synthetic.h"

#include <cstdio>

#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/printable.h"
#include "prepare/writing/raw_ogb_writer.h"
#include "store/synthetic.h"
#include "store/synthetic_typed.h"

namespace salient::prepare {
namespace {

SyntheticOptions synthetic_options(const SyntheticArguments& given) {
  require_option(given.like.empty() != (given.nodes == 0), "--like or --nodes: one of them is needed, not both");
  if (given.nodes == 0) require_none(problems_like(given.like, given.scale));
  SyntheticOptions wanted = given.nodes > 0
                                ? synthetic_of_size(given.nodes, given.mean_degree, given.features, given.classes)
                                : synthetic_like(given.like, given.scale);
  cluster_split(wanted, given.train_communities);
  keep_edges_inside(wanted, given.community_edges);
  require_none(problems(wanted));
  wanted.seed = given.write.rng_seed;
  wanted.feature_type = given.write.feature_dtype;
  return wanted;
}

int write_raw(const SyntheticArguments& given, const SyntheticOptions& wanted, const Timer& timer) {
  const WriteStoreOptions options = start_writing(given.write, kRawOgbMarker);
  require_option(wanted.feature_dim > 0, "--features: at least 1 with --raw-ogb");
  const std::uint64_t limit = memory_limit(given.write);
  const int num_threads = given.write.common.threads > 0 ? given.write.common.threads : num_usable_cores();
  check_memory(limit, raw_ogb_memory_bytes(wanted, num_threads));
  install_interrupt_handlers();
  const WriteReport report = write_raw_ogb(wanted, options);
  std::printf("name            %s\nedges           %llu, each listed once\nwrote           %.1f MB in %.1f s to %s\n",
              printable(wanted.name).c_str(), static_cast<unsigned long long>(report.edges_read),
              static_cast<double>(report.bytes) * 1e-6, timer.seconds(), printable(given.write.out).c_str());
  std::printf("%snext            salient-prepare ogb --raw %s --out DIR\n", peak_memory_text(limit).c_str(),
              printable(given.write.out).c_str());
  return 0;
}

int write_typed(const SyntheticArguments& given, const Timer& timer) {
  const WriteStoreOptions options = start_writing(given.write);
  require_option(!given.raw_ogb && given.nodes == 0 && given.train_communities == 1 && given.community_edges == 0,
                 "--like " + given.like + ": a typed graph takes --scale alone");
  SyntheticTypedOptions wanted = synthetic_typed_like(given.like, given.scale);
  wanted.seed = given.write.rng_seed;
  wanted.feature_type = given.write.feature_dtype;
  check_free_memory(synthetic_bytes(wanted));
  const auto generate_and_write = [&] {
    const Dataset dataset = make_synthetic_dataset(wanted, given.write.common.threads);
    install_interrupt_handlers();
    return write_store(dataset, {.source_path = {}, .source_options = wanted.name, .rng_seed = wanted.seed}, options);
  };
  print_summary(generate_and_write(), given.write, timer);
  return 0;
}

}  // namespace

int run_synthetic(Arguments arguments) {
  SyntheticArguments given;
  if (!read(arguments, "synthetic", given)) return 0;
  const Timer timer;
  if (is_synthetic_typed_name("synthetic:" + given.like)) return write_typed(given, timer);
  const SyntheticOptions wanted = synthetic_options(given);
  if (given.raw_ogb) return write_raw(given, wanted, timer);
  const WriteStoreOptions options = start_writing(given.write);
  require_option(given.write.symmetric != Symmetric::kNo, "--symmetric: generated graphs are always symmetric");
  const int num_threads = given.write.common.threads;
  const std::uint64_t limit = given.write.memory_gb > 0 ? memory_limit(given.write) : 0;
  const std::uint64_t needed = synthetic_peak_bytes(wanted, num_threads);
  limit > 0 ? check_memory(limit, needed) : check_free_memory(needed);
  const auto generate_and_write = [&] {
    const Dataset dataset = make_synthetic_dataset(wanted, num_threads);
    install_interrupt_handlers();
    return write_store(dataset, {.source_path = {}, .source_options = wanted.name, .rng_seed = wanted.seed}, options);
  };
  print_summary(generate_and_write(), given.write, timer, limit);  // which maps the store: its arrays are freed before
  return 0;
}

}  // namespace salient::prepare
