// benchmarks/gather_bench.cpp - feature rows gathered per second, beside memcpy and beside reading alone.
//
// All rates are bytes of rows per second. A copy moves each byte twice (and memcpy of big arrays streams its stores, as
// the gather does), so `of memcpy` says how near random rows come to one long row. `of reads` is against prefetched
// random rows that are read and not written: what the memory's latency allows. Where there is a GPU, a row says the
// first of the gather in its memory.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/bench_device.h"
#include "benchmarks/bench_graph.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/gather_rounds.h"
#include "benchmarks/measure.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/host/timed_threads.h"
#include "core/philox.h"
#include "loaders/gather_rows.h"

namespace salient {
namespace {

struct GatherBenchOptions {
  std::uint32_t nodes = 4'000'000;
  int row_bytes = 256;
  std::uint32_t rows = 300'000;
  int threads = 0;
  int rounds = 9;
  std::string json{};
};

template <class Self, class Visit>
void visit_fields(Self& self, Visit&& field) {
  field("nodes", self.nodes, "rows of the feature matrix");
  field("row-bytes", self.row_bytes, "bytes of a row: 256 = 128 features of 16 bits");
  field("rows", self.rows, "rows gathered per thread and round, or per call on the GPU: one batch");
  field("threads", self.threads, "up to this many threads; 0 = all cores");
  field("rounds", self.rounds, "measurements of each kind");
  field("json", self.json, "also write the result to this file");
}

using Gather = void (*)(RowTable, const NodeId*, std::size_t, std::byte*);

/// The gather without its stores: prefetched the same way, summed instead of written.
void read_rows(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte*) {
  constexpr std::size_t kAhead = 8, kLine = 64;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < num_out; ++i) {
    const std::byte* later = table.data + row_of[std::min(i + kAhead, num_out - 1)] * table.row_bytes;
    for (std::size_t at = 0; at < table.row_bytes; at += kLine) __builtin_prefetch(later + at, 0, 0);
    const std::byte* row = table.data + row_of[i] * table.row_bytes;
    for (std::size_t at = 0; at + 8 <= table.row_bytes; at += kLine) {
      std::uint64_t word = 0;
      std::memcpy(&word, row + at, sizeof word);
      sum += word;
    }
  }
  asm volatile("" : : "r"(sum));
}

struct Worker {
  std::vector<NodeId> row_of;
  HugeVector<std::byte> out;
};

/// One thread's share of the rows is a worker's.
TimedWork gather_once(Gather gather, RowTable table, std::vector<Worker>& workers, int num_threads) {
  const ThreadTimes times = time_on_threads(num_threads, [&](int t) {
    Worker& worker = workers[static_cast<std::size_t>(t)];
    gather(table, worker.row_of.data(), worker.row_of.size(), worker.out.data());
  });
  return {static_cast<double>(workers[0].out.size()) * num_threads, times.wall_seconds};
}

/// Rows of one batch, drawn at random; others for every number.
std::vector<NodeId> random_rows(std::uint32_t batch, const GatherBenchOptions& options) {
  std::vector<NodeId> row_of(options.rows);
  for (std::uint32_t i = 0; i < options.rows; ++i)
    row_of[i] = static_cast<NodeId>((std::uint64_t{philox4x32({}, {{i, batch, 0, 0}}).word[0]} * options.nodes) >> 32);
  return row_of;
}

std::vector<Worker> make_workers(int count, const GatherBenchOptions& options) {
  std::vector<Worker> workers(static_cast<std::size_t>(count));
  for (std::uint32_t t = 0; t < workers.size(); ++t) {
    workers[t].row_of = random_rows(t, options);
    workers[t].out.resize(options.rows * static_cast<std::size_t>(options.row_bytes));
  }
  return workers;
}

void check_against_reference(RowTable table, std::vector<Worker>& workers) {
  HugeVector<std::byte> expected(workers[0].out.size());
  const std::vector<NodeId>& row_of = workers[0].row_of;
  gather_rows_reference(table, row_of.data(), row_of.size(), expected.data());
  gather_rows(table, row_of.data(), row_of.size(), workers[0].out.data());
  require(expected == workers[0].out, "equal to the reference");
}

BenchReport new_report(const GatherBenchOptions& options) {
  BenchReport report("gather",
                     "row gather, " + std::to_string(options.nodes) + " rows of " + std::to_string(options.row_bytes) +
                         " bytes, " + std::to_string(options.rows) + " gathered per thread",
                     {{"bytes_per_second_median", "GB/s median", 1e-9, 2},
                      {"bytes_per_second_best", "best", 1e-9, 2},
                      {"reference_bytes_per_second", "reference", 1e-9, 2},
                      {"memcpy_bytes_per_second", "memcpy", 1e-9, 2},
                      {"row_reads_bytes_per_second", "row reads", 1e-9, 2},
                      {"share_of_memcpy", "of memcpy", 1, 2},
                      {"share_of_row_reads", "of reads", 1, 2}});
  report.add_settings(options);
  report.add_note("bytes of rows per second; checked against the reference.");
  return report;
}

/// Where the GPU has no room for the rows, a note says so.
void add_gpu_row(BenchReport& report, RowTable table, const GatherBenchOptions& options) {
  log_info("GPU");
  std::vector<std::vector<NodeId>> calls;
  for (std::uint32_t call = 0; call < 16; ++call) calls.push_back(random_rows(call, options));
  try {
    const GpuGatherRates rates = gather_on_gpu(table, calls, options.rounds);
    const Spread gather = spread_of(rates.gather), copy = spread_of(rates.copy);
    report.add_row("GPU", {gather.median, gather.best, BenchReport::kNone, copy.best, BenchReport::kNone,
                           gather.best / copy.best, BenchReport::kNone});
    report.add_note("GPU: from and to its memory, beside a copy there; rows in host memory cost what that link does.");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kDeviceMemory) throw;
    report.add_note(std::string("GPU: ") + error.what());
  }
}

}  // namespace

int bench_gather(Arguments arguments) {
  GatherBenchOptions options;
  if (!read_options("gather", arguments, options)) return 0;
  check_rounds(options.rounds, options.threads);
  require_option(options.nodes >= 1, "--nodes: at least 1");
  require_option(options.rows >= 1, "--rows: at least 1");
  require_option(options.row_bytes >= 1 && options.row_bytes <= 1 << 20, "--row-bytes: 1 to 1048576");
  const int most_threads = options.threads > 0 ? options.threads : num_usable_cores();
  const auto row_bytes = static_cast<std::size_t>(options.row_bytes);
  log_info("generating the rows");
  const HugeVector<std::byte> rows = make_bench_rows(options.nodes, row_bytes);
  const RowTable table{rows.data(), options.nodes, row_bytes};
  std::vector<Worker> workers = make_workers(most_threads, options);
  check_against_reference(table, workers);

  BenchReport report = new_report(options);
  for (const int num_threads : thread_counts(most_threads)) {
    const std::string name = counted(num_threads, "thread");
    log_info(name);
    const auto spread = [&](Gather gather) {
      return measure({.rounds = options.rounds}, [&] { return gather_once(gather, table, workers, num_threads); }).rate;
    };
    const double memcpy_rate = memory_copy_rate(num_threads);
    const Spread reads = spread(read_rows), plain = spread(gather_rows_reference), gather = spread(gather_rows);
    report.add_row(name, {gather.median, gather.best, plain.best, memcpy_rate, reads.best, gather.best / memcpy_rate,
                          gather.best / reads.best});
  }
  if (!gpu_name().empty()) add_gpu_row(report, table, options);
  report.publish(options.json);
  return 0;
}

}  // namespace salient
