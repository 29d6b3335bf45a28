// apps/session.cpp - see session.h.
#include "apps/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/open_named_dataset.h"
#include "apps/options/thread_note.h"
#include "apps/pinning.h"
#include "apps/versions.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/host/processor.h"
#include "core/number_text.h"
#include "core/timer.h"
#include "core/version.h"
#include "engine/train/run_model.h"

namespace salient {

void set_terminal(const ConsoleOptions& options, const Launch& launch) {
  set_progress_mode(launch.rank == 0 ? options.progress : ProgressMode::kNone);
  set_log_level(launch.rank == 0 ? options.log_level : std::max(options.log_level, LogLevel::kWarning));
}

void require_equal_programs(Communicator& comm, const char* program, const std::string& configuration) {
  std::string versions = std::string(program) + " " + kVersion + "\n";
  for (const auto& [library, version] : library_versions())
    versions.append(library).append(" ").append(version).append("\n");
  require_equal_on_all_ranks(comm, "the program", versions);
  require_equal_on_all_ranks(comm, "the configuration", configuration);
}

CommunicatorOptions communicator_options(const CommOptions& comm, const MachineOptions& machine,
                                         const ComputeDevice& device) {
  return {.wanted = comm.backend,
          .timeout_seconds = static_cast<double>(comm.timeout_seconds),
          .is_data_on_gpu = device.is_cuda(),
          .moves_rows = machine.features == Residency::kPartitioned,
          .rows = comm.rows};
}

Session open_session(const MachineOptions& machine, const CommOptions& comm_options, const Launch& launch,
                     Communicator& control) {
  if (launch.rank == 0) {
    warn_of_threads("--threads", machine.threads, launch.cores);
    warn_of_threads("--workers", machine.workers, launch.cores);
  }
  std::optional<ComputeDevice> device;
  together(control, [&] {
    const int threads = machine.threads > 0 ? machine.threads : launch.cores;
    device = ComputeDevice::choose(machine.device, launch.local_rank, threads);
  });
  std::string numa_nodes = pin_near_device(control, launch, *device);
  require_equal_on_all_ranks(control, "the kind of device", device->is_cuda() ? "cuda" : "cpu", ErrorKind::kNoDevice);
  auto comm = make_communicator(communicator_options(comm_options, machine, *device), launch);
  return {launch, *device, std::move(comm), std::move(numa_nodes)};
}

bool has_precision(const ComputeDevice& device, Precision precision) {
  return device.is_cuda() || precision == Precision::kFp32 || (precision == Precision::kBf16 && has_bf16_products());
}

Numerics numerics_on(const ComputeDevice& device, const TrainOptions& trained_with, std::optional<Precision> asked) {
  Numerics numerics = numerics_of(trained_with);
  if (asked) numerics.precision = *asked;
  if (has_precision(device, numerics.precision)) return numerics;
  log_info("the run is in " + name_of(numerics.precision) + ", which this device lacks: predictions in fp32");
  numerics.precision = Precision::kFp32;
  return numerics;
}

void require_precision(const Session& session, std::optional<Precision> precision) {
  if (!precision || has_precision(session.device, *precision)) return;
  fail(ErrorKind::kNoDevice, precision == Precision::kTf32
                                 ? "--precision tf32 needs a GPU, and this run is on the CPU"
                                 : "--precision bf16 needs a GPU or AVX-512 BF16; this run is on a CPU without");
}

void require_step(const Session& session, std::optional<StepKind> step) {
  if (step == StepKind::kResident && !session.device.is_cuda())
    fail(ErrorKind::kNoDevice, "--step resident needs a GPU, and this run is on the CPU");
}

namespace {

/// Of graph and features.
std::string sizes_of(const Dataset& dataset) {
  const std::string nodes = std::to_string(dataset.num_nodes()) + " nodes";
  const std::string entries = std::to_string(dataset.num_edges()) + " entries";
  if (dataset.types.is_typed())
    return nodes + " of " + std::to_string(dataset.types.node_types.size()) + " types, " + entries + " of " +
           std::to_string(dataset.types.relations.size()) + " relations, the target type is " +
           dataset.types.target().name;
  return nodes + ", " + entries + ", " + std::to_string(dataset.feature_dim) +
         (dataset.has_sparse_features() ? " sparse" : "") + " features";
}

}  // namespace

Dataset open_dataset_together(const Session& session, const DataOptions& data, const MachineOptions& machine) {
  const FeatureFile needed = machine.features == Residency::kPartitioned ? FeatureFile::kOrParts : FeatureFile::kNeeded;
  const Timer loading;
  Dataset dataset = open_named_dataset(data.dataset, data.root, *session.comm, session.launch, needed, GraphKind::kAny);
  require_equal_on_all_ranks(*session.comm, "the checksum of the data set", dataset.fingerprint, ErrorKind::kBadData);
  if (session.is_rank_0())
    log_info(dataset.name + (dataset.source_kind == "synthetic" ? " (synthetic)" : "") + ": " + sizes_of(dataset) +
             ", " + std::to_string(dataset.num_classes) + " " + words_of(dataset.task).outputs +
             (dataset.task == Task::kMultiLabel ? " a node" : "") + ", opened in " + fixed(loading.seconds(), 1) +
             " s");
  return dataset;
}

}  // namespace salient
