// apps/salient_doctor.cpp - salient-doctor: what of this machine is fine, slow or missing for training, how fast it is
// at best, and the time of an epoch that follows.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/advice.h"
#include "apps/doctor/ceilings.h"
#include "apps/doctor/epoch_estimate.h"
#include "apps/doctor/finding.h"
#include "apps/doctor/host_checks.h"
#include "apps/doctor/launch_checks.h"
#include "apps/doctor/scaling.h"
#include "apps/open_named_dataset.h"
#include "apps/options/help.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/host/program.h"
#include "core/number_text.h"
#include "core/printable.h"
#include "core/version.h"
#include "engine/comm/agreement.h"
#include "engine/comm/comm_options.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/device/gpu_probe.h"
#include "sampler/neighbor_sampler.h"
#include "store/schema_text.h"

namespace salient::doctor {
namespace {

constexpr const char* kName = "salient-doctor";
constexpr double kSecondsToStart = 60;  // for other ranks to come
constexpr const char* kHelp =
    "salient-doctor - what of this machine is fine, slow or missing for training, and how fast it is at best\n\n"
    "  salient-doctor                               a line per part, then its ceilings\n"
    "  salient-doctor --dataset wordnet             and the time of an epoch\n"
    "  mpirun -np 4 --bind-to none salient-doctor   and the ranks' all-reduce\n"
    "  salient-doctor --run RUN --ranks 8 --hosts 2 computes the epochs of a run on one rank on more of them\n\n"
    "Ends with 0 when nothing is missing, else with 1. Takes less than a minute, and 0.2 GB of memory a core.\n\n";

// NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
const char* in_environment(const char* name) { return std::getenv(name); }

struct Options {
  std::string dataset{};
  std::string data_root = "data";
  EpochCase epoch{};
  std::string run{};
  int num_ranks = 1, num_hosts = 1;
  double nvlink_gbytes = Interconnect{}.peer_bytes / 1e9;
  double network_gbits = Interconnect{}.network_bytes * 8 / 1e9;
  double network_us = Interconnect{}.network_seconds * 1e6;
  bool measure = true;
  int comm_timeout = CommOptions{}.timeout_seconds;
  bool json = false;
  bool version = false;
  options::HelpTopic help{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, Options>
void visit_fields(Self& self, Visit&& field) {
  field("dataset", self.dataset, "name below --data-root, a directory, or synthetic:NAME[:SCALE]");
  field("data-root", self.data_root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("fanout", self.epoch.fanouts, "of the epoch: neighbours kept per node, the seeds' own hop first; -1 keeps all");
  field("batch-size", self.epoch.batch_size, "of the epoch: seeds per rank and step");
  field("hidden", self.epoch.hidden, "of the epoch: width of the hidden layers of GraphSAGE, of a typed graph rgcn");
  field("run", self.run, "computes the epochs of this run, trained on one rank, on --ranks; looks at nothing else");
  field("ranks", self.num_ranks, "with --run: ranks to compute for; on GPUs one each");
  field("hosts", self.num_hosts, "with --run: that the ranks are on, as many on each");
  field("nvlink-gbytes", self.nvlink_gbytes, "with --run: GB/s that a GPU writes to the others of its host");
  field("network-gbits", self.network_gbits, "with --run: Gb/s between hosts");
  field("network-us", self.network_us, "with --run: microseconds until a message of a host is at another one");
  field("measure", self.measure, "false: only looks");
  field("comm-timeout", self.comm_timeout, "seconds that ranks wait for rank 0, which opens --dataset and measures");
  field("json", self.json, "one JSON object for machines instead of lines");
  field("version", self.version, "print the version and stop");
  field("help", self.help, "print this and stop");
}

Options read_options(std::span<const char* const> args, const LookUp& look_up) {
  Options options;
  if (const auto root = options::data_folder(look_up)) options.data_root = *root;
  options::parse(args, options);
  require_option(!options.data_root.empty(), "--data-root: is a folder, . for the working directory");
  require_option(are_fanouts(options.epoch.fanouts), "--fanout: numbers from 1 to 65535, or -1");
  require_option(options.epoch.batch_size >= 1 && options.epoch.batch_size <= 1 << 20, "--batch-size: 1 to 1048576");
  require_option(options.epoch.hidden >= 1 && options.epoch.hidden <= 1 << 16, "--hidden: 1 to 65536");
  require_option(options.comm_timeout >= 1, "--comm-timeout: at least 1");
  require_option(options.num_hosts >= 1 && options.num_ranks <= 1 << 16, "--ranks: 1 to 65536, --hosts: at least 1");
  require_option(options.num_ranks >= 1 && options.num_ranks % options.num_hosts == 0,
                 "--ranks: as many on each of --hosts");
  require_option(options.num_ranks == 1 || !options.run.empty(), "--ranks: with --run, of a run on one rank");
  require_option(options.nvlink_gbytes > 0 && options.network_gbits > 0 && options.network_us >= 0,
                 "--nvlink-gbytes, --network-gbits: above 0; --network-us: at least 0");
  require_option(options.dataset.empty() || options.measure, "--dataset: needs what --measure finds");
  return options;
}

struct Diagnosis {
  Findings findings{};
  Ceilings ceilings{};
  EpochEstimate epoch{};
  std::string schema{};  ///< of a typed graph: its types and relations, a line each
  bool has_missing() const {
    return std::ranges::any_of(findings, [](const Finding& f) { return f.state == State::kMissing; });
  }
};

Findings look(const GpuProbe& gpus, const Launch& launch, const LookUp& look_up) {
  Findings findings{check_processor(),     check_memory(),     check_pinned_limit(pinned_limit()),
                    check_shared_memory(), check_huge_pages(), check_disk(std::filesystem::current_path())};
  for (Finding& finding : check_gpus(gpus)) findings.push_back(std::move(finding));
  for (Finding& finding : check_launch(launch, look_up)) findings.push_back(std::move(finding));
  return findings;
}

/// On the data set's own arrays, since smaller ones are partly in the caches.
EpochEstimate estimate(const Dataset& dataset, const EpochCase& epoch, Ceilings ceilings) {
  if (dataset.num_edges() > 0) ceilings.random_reads = random_read_rate(dataset.graph.indices, ceilings.cores);
  if (dataset.features.num_rows > 0 && dataset.features.row_bytes > 0)
    ceilings.random_row_bytes = random_row_rate(dataset.features, ceilings.cores);
  return estimate_epoch(dataset, epoch, ceilings);
}

void print_text(const Diagnosis& found, const Options& options) {
  for (const Finding& finding : found.findings)
    std::printf("%-8s %-14s %s%s%s\n", to_text(finding.state).c_str(), finding.part.c_str(),
                printable(finding.found).c_str(), finding.advice.empty() ? "" : "; ", finding.advice.c_str());
  const Ceilings& at_best = found.ceilings;
  const auto line = [](const char* name, double rate, const char* of_what) {
    if (rate > 0) std::printf("%-23s %8.2f %s\n", name, rate * 1e-9, of_what);
  };
  line("memory copy", at_best.copied_bytes, "GB/s");
  line("random rows", at_best.random_row_bytes, "GB/s, of 256 bytes");
  line("random reads", at_best.random_reads, "G/s, of 4 bytes");
  line("arithmetic", at_best.operations, "GFLOP/s of the cores in fp32");
  line("pinned copy to the GPU", at_best.pinned_bytes, "GB/s");
  line("all-reduce of ranks", at_best.all_reduced_bytes, "GB/s, through host memory");
  std::fputs(found.schema.c_str(), stdout);
  const EpochEstimate& epoch = found.epoch;
  if (epoch.steps == 0) return;
  std::printf("epoch of %s: at least %.3g s in %lld steps (sampling %.2g, gathering %.2g",
              printable(options.dataset).c_str(), epoch.total, static_cast<long long>(epoch.steps), epoch.sampling,
              epoch.gathering);
  if (at_best.pinned_bytes > 0)
    std::printf(", copying %.2g; the model's time on the GPU comes on top", epoch.transfer);
  else
    std::printf(", computing %.2g", epoch.computing);
  std::printf("%s)\n", epoch.exchange > 0 ? (", exchange " + fixed(epoch.exchange, 3)).c_str() : "");
}

void print_json(const Diagnosis& found) {
  nlohmann::ordered_json json{{"version", kVersion}, {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& finding : found.findings)
    json["findings"].push_back({{"part", finding.part},
                                {"state", to_text(finding.state)},
                                {"found", finding.found},
                                {"advice", finding.advice}});
  const auto add = [&](const char* group, const char* name, double value) {
    if (value > 0) json[group][name] = value;
  };
  if (!found.schema.empty()) json["schema"] = found.schema;
  add("ceilings", "copied_bytes_per_second", found.ceilings.copied_bytes);
  add("ceilings", "random_row_bytes_per_second", found.ceilings.random_row_bytes);
  add("ceilings", "random_reads_per_second", found.ceilings.random_reads);
  add("ceilings", "operations_per_second", found.ceilings.operations);
  add("ceilings", "pinned_bytes_per_second", found.ceilings.pinned_bytes);
  add("ceilings", "all_reduced_bytes_per_second", found.ceilings.all_reduced_bytes);
  add("epoch", "steps", static_cast<double>(found.epoch.steps));
  add("epoch", "seconds", found.epoch.total);
  add("epoch", "sampling_seconds", found.epoch.sampling);
  add("epoch", "gathering_seconds", found.epoch.gathering);
  add("epoch", "transfer_seconds", found.epoch.transfer);
  add("epoch", "computing_seconds", found.epoch.computing);
  add("epoch", "exchange_seconds", found.epoch.exchange);
  std::puts(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

Interconnect links_of(const Options& options) {
  Interconnect links;
  links.peer_bytes = options.nvlink_gbytes * 1e9;
  links.network_bytes = options.network_gbits * 1e9 / 8;
  links.network_seconds = options.network_us * 1e-6;
  return links;
}

nlohmann::ordered_json to_json(const ScaledEpoch& row) {
  return {{"ranks", row.num_ranks},
          {"hosts", row.num_hosts},
          {"steps", row.num_steps},
          {"waiting_seconds_per_step", row.waiting_seconds},
          {"exchange_seconds_per_step", row.exchange_seconds},
          {"epoch_seconds", row.seconds},
          {"efficiency", row.efficiency}};
}

void print_text(const MeasuredEpoch& epoch, const std::vector<ScaledEpoch>& rows) {
  std::printf("measured on one rank: %.4g s an epoch of %lld steps, %.1f us a step with a spread of %.1f us\n",
              epoch.seconds, static_cast<long long>(epoch.num_steps), epoch.step_seconds() * 1e6,
              epoch.spread_seconds * 1e6);
  if (epoch.is_on_gpu && epoch.reads_host_memory)
    std::puts("its batches come from host memory, which the ranks of a host share: with several, epochs take longer");
  std::puts("computed, not measured:\nranks  hosts   steps  waiting us  exchange us  epoch s  efficiency");
  for (const ScaledEpoch& row : rows)
    std::printf("%5d  %5d  %6lld  %10.1f  %11.1f  %7.4g  %10.2f\n", row.num_ranks, row.num_hosts,
                static_cast<long long>(row.num_steps), row.waiting_seconds * 1e6, row.exchange_seconds * 1e6,
                row.seconds, row.efficiency);
}

/// @throws as read_measured_epoch(); Error{kUsage} for ranks that would share the cores of a host.
void compute_scaling(const Options& options) {
  const MeasuredEpoch epoch = read_measured_epoch(options.run);
  require_option(epoch.is_on_gpu || options.num_ranks == options.num_hosts,
                 "--ranks: of a run on cores as many as --hosts, as the ranks of a host share its cores");
  const std::vector<ScaledEpoch> rows = scale_epochs(epoch, links_of(options), options.num_ranks, options.num_hosts);
  if (!options.json) return print_text(epoch, rows);
  nlohmann::ordered_json json{{"version", kVersion}, {"computed", nlohmann::ordered_json::array()}};
  for (const ScaledEpoch& row : rows) json["computed"].push_back(to_json(row));
  std::puts(json.dump(2).c_str());
}

/// As many as may be given 1 GB each: they copy arrays far larger than their caches.
int measuring_cores(const Launch& launch) {
  constexpr std::int64_t kBytesOfCore = 1'000'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(available_host_bytes() / kBytesOfCore, 1, launch.cores));
}

Dataset open_dataset(const Options& options) {
  return open_named_dataset(options.dataset, options.data_root, FeatureFile::kNeeded, GraphKind::kAny);
}

/// Rank 0 looks and measures; the other ranks take part in the all-reduce.
int diagnose(const Options& options, const Launch& launch, Communicator& comm) {
  Diagnosis found;
  std::optional<Dataset> dataset;
  together(comm, [&] {
    if (launch.rank != 0) return;
    const GpuProbe gpus = probe_gpus();
    found.findings = look(gpus, launch, in_environment);
    if (!options.dataset.empty()) dataset = open_dataset(options);
    if (options.measure) found.ceilings = measure_ceilings(measuring_cores(launch), !gpus.gpus.empty());
  });
  if (options.measure && launch.size > 1) found.ceilings.all_reduced_bytes = all_reduce_rate(comm);
  together(comm, [&] {
    if (!dataset) return;
    if (dataset->types.is_typed()) found.schema = schema_text(*dataset);
    EpochCase epoch = options.epoch;
    epoch.num_ranks = launch.size;
    found.epoch = estimate(*dataset, epoch, found.ceilings);
  });
  if (launch.rank == 0) options.json ? print_json(found) : print_text(found, options);
  std::string verdict = found.has_missing() ? "missing" : "";
  comm.broadcast(verdict);
  return verdict.empty() ? 0 : 1;
}

int run_rank(std::span<const char* const> args, const Launch& launch) {
  const auto connect = [&](double seconds) {
    return launch.size > 1 ? make_mpi_communicator(launch, seconds) : make_self_communicator();
  };
  const auto start = connect(kSecondsToStart);
  Options options;
  together(*start, [&] { options = read_options(args, in_environment); });
  if (options.help || options.version) {
    if (launch.rank != 0) return 0;
    if (!options.help) return std::printf("%s %s\n", kName, kVersion), 0;
    options::print_help(std::cout, kHelp, Options{}, options.help);
    return std::cout << std::flush, 0;
  }
  if (!options.run.empty()) {
    together(*start, [&] {
      if (launch.rank == 0) compute_scaling(options);
    });
    return 0;
  }
  return diagnose(options, launch, *connect(options.comm_timeout));
}

}  // namespace
}  // namespace salient::doctor

int main(int argc, char** argv) {
  salient::start_program();
  const std::span<const char* const> args(argv + 1, static_cast<std::size_t>(argc - 1));
  const int code =
      salient::run_ranks({salient::doctor::kName, salient::doctor_advice, salient::doctor::kSecondsToStart},
                         [&](const salient::Launch& launch) { return salient::doctor::run_rank(args, launch); });
  return salient::end_program(salient::doctor::kName, code);
}
