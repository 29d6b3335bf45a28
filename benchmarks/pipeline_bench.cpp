// benchmarks/pipeline_bench.cpp - the batch loader alone: batches per second when nothing computes on them.
//
// `overlap` is the sum of the stages' times, each on its own clock, over the wall time: 1 = one after the other; with W
// workers and a copy stream it can reach W + 1. `of copy` compares the bytes of batches per second with one long copy:
// memcpy on as many threads on a CPU, pinned memory to the device on a GPU.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_device.h"
#include "benchmarks/bench_graph.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/measure.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/console/trace.h"
#include "core/device_kind.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/host/timed_threads.h"
#include "core/timer.h"
#include "engine/device/gpu_probe.h"
#include "loaders/batch_loader.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

struct PipelineBenchOptions {
  std::uint32_t nodes = 2'500'000;
  double mean_degree = 48.5;
  int feature_dim = 100;
  std::vector<int> fanout{15, 10, 5};
  int batch_size = 1024;
  int batches = 100;
  int workers = 0;
  int slots = 0;
  int rounds = 5;
  std::optional<DeviceKind> device{};
  std::string trace{};
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("nodes", self.nodes, "nodes of the generated graph");
  field("mean-degree", self.mean_degree, "entries per node; degrees follow a power law");
  field("feature-dim", self.feature_dim, "features per node, 16 bits each");
  field("fanout", self.fanout, "neighbours kept per node and hop; -1 keeps all");
  field("batch-size", self.batch_size, "seeds per batch");
  field("batches", self.batches, "batches per epoch");
  field("workers", self.workers, "up to this many worker threads; 0 = all cores");
  field("slots", self.slots, "batches in flight; 0 = a quarter more than workers");
  field("rounds", self.rounds, "epochs measured, after one to warm up");
  field("device", self.device, "");
  field("trace", self.trace, "write a Chrome trace of the last epochs to this file");
  field("json", self.json, "also write the result to this file");
}

struct Epoch {
  double wall_seconds = 0;
  LoaderStats stats{};
  double rate() const { return static_cast<double>(stats.batches) / wall_seconds; }
};

Epoch run_epoch(BatchLoader& loader, const std::vector<BatchRequest>& requests, BenchDevice* device) {
  CUstream_st* const stream = device == nullptr ? nullptr : device->stream();
  const Timer timer;
  loader.start(requests);
  while (loader.next(stream) != nullptr) {
  }
  if (device != nullptr) device->wait();
  const double wall_seconds = timer.seconds();
  return {wall_seconds, loader.stats()};
}

void check(const PipelineBenchOptions& options) {
  check_rounds(options.rounds, options.workers);
  check_generated_graph(options.nodes, options.mean_degree, options.batch_size, options.batches);
  require_option(are_fanouts(options.fanout), "--fanout: each 1 to 65535, or -1 for all");
  require_option(options.feature_dim >= 1 && options.feature_dim <= 1 << 16, "--feature-dim: 1 to 65536");
  require_option(options.slots == 0 || options.slots >= 2, "--slots: at least 2, or 0");
}

/// The training nodes, batch by batch.
std::vector<BatchRequest> requests_of(const Dataset& dataset, const PipelineBenchOptions& options) {
  std::vector<BatchRequest> requests;
  const auto batch_size = static_cast<std::size_t>(options.batch_size);
  for (std::size_t b = 0; b < static_cast<std::size_t>(options.batches); ++b) {
    if ((b + 1) * batch_size > dataset.train.size())
      fail(ErrorKind::kUsage, "--batches: the graph has nodes for " + std::to_string(b) + " batches; raise --nodes");
    requests.push_back({{1, 0, static_cast<std::uint32_t>(b)}, dataset.train.subspan(b * batch_size, batch_size)});
  }
  return requests;
}

BenchReport new_report(const PipelineBenchOptions& options, const Dataset& dataset, bool use_gpu) {
  BenchReport report("pipeline",
                     std::string("batch pipeline on ") + (use_gpu ? "the GPU, " : "the CPU, ") +
                         std::to_string(options.nodes) + " nodes, " + std::to_string(dataset.graph.indices.size()) +
                         " entries, " + std::to_string(options.feature_dim) + " features, fanout " +
                         to_text(options.fanout) + ", batch " + std::to_string(options.batch_size),
                     {{"batches_per_second_median", "batches/s median", 1},
                      {"batches_per_second_best", "best", 1},
                      {"bytes_per_second", "GB/s", 1e-9, 2},
                      {"bytes_per_batch", "MB/batch", 1e-6},
                      {"sample_seconds_per_batch", "sample ms", 1e3, 2},
                      {"gather_seconds_per_batch", "gather ms", 1e3, 2},
                      {"transfer_seconds_per_batch", "copy ms", 1e3, 2},
                      {"overlap", "overlap", 1, 2},
                      {"long_copy_bytes_per_second", "long copy GB/s", 1e-9, 1},
                      {"share_of_long_copy", "of copy", 1, 2}});
  report.add_settings(options);
  return report;
}

/// @param long_copy  bytes per second of one long copy
void add_row(BenchReport& report, const std::string& name, const Measured<Epoch>& epochs, double long_copy,
             bool use_gpu) {
  const LoaderStats& stats = epochs.best.stats;
  const double wall = epochs.best.wall_seconds;
  const auto count = static_cast<double>(stats.batches), bytes = static_cast<double>(stats.bytes);
  const double busy = stats.sample_seconds + stats.gather_seconds + stats.transfer_seconds;
  report.add_row(name, {epochs.rate.median, epochs.rate.best, bytes / wall, bytes / count, stats.sample_seconds / count,
                        stats.gather_seconds / count, use_gpu ? stats.transfer_seconds / count : BenchReport::kNone,
                        busy / wall, long_copy, bytes / wall / long_copy});
}

}  // namespace

int bench_pipeline(Arguments arguments) {
  PipelineBenchOptions options;
  if (!read_options("pipeline", arguments, options)) return 0;
  check(options);
  const int most_workers = options.workers > 0 ? options.workers : num_usable_cores();
  const bool use_gpu = options.device == DeviceKind::kCuda || (!options.device && !gpu_name().empty());
  const std::unique_ptr<BenchDevice> device = use_gpu ? open_bench_device() : nullptr;
  if (!options.trace.empty()) Trace::global().open(options.trace, 0);

  log_info("generating the data set");
  const Dataset dataset = make_bench_dataset(options.nodes, options.mean_degree, options.feature_dim);
  const std::vector<BatchRequest> requests = requests_of(dataset, options);
  BenchReport report = new_report(options, dataset, use_gpu);
  for (const int num_workers : thread_counts(most_workers)) {
    const std::string name = counted(num_workers, "worker");
    const double long_copy = use_gpu ? pinned_copy_rate() : memory_copy_rate(num_workers);
    BatchLoader loader(
        dataset,
        {.rule = {options.fanout}, .num_workers = num_workers, .num_slots = options.slots, .to_device = use_gpu});
    add_row(report, name,
            measure({.name = name, .warm_ups = 1, .rounds = options.rounds},
                    [&] { return run_epoch(loader, requests, device.get()); }),
            long_copy, use_gpu);
  }
  report.publish(options.json);
  return 0;
}

}  // namespace salient
