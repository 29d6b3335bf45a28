// apps/session.cpp - see session.h.
#include "apps/session.h"

#include <iostream>
#include <optional>
#include <utility>

#include "apps/open_named_dataset.h"
#include "apps/placement.h"
#include "apps/versions.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/number_text.h"
#include "core/timer.h"
#include "core/version.h"
#include "engine/comm/agreement.h"
#include "engine/comm/make_communicator.h"

namespace salient {

void print_versions(const char* program) {
  std::cout << program << ' ' << kVersion << '\n';
  for (const auto& [library, version] : library_versions()) std::cout << library << ' ' << version << '\n';
  std::cout << std::flush;
}

void set_terminal(const std::string& progress, const std::string& log_level, const Launch& launch) {
  set_progress_mode(progress == "none" || launch.rank > 0 ? ProgressMode::kNone
                    : progress == "plain"                 ? ProgressMode::kPlain
                                                          : ProgressMode::kAuto);
  set_log_level(log_level == "off"                          ? LogLevel::kOff
                : log_level == "warning" || launch.rank > 0 ? LogLevel::kWarning
                : log_level == "debug"                      ? LogLevel::kDebug
                                                            : LogLevel::kInfo);
}

void require_equal_programs(Communicator& comm, const char* program, const std::string& configuration) {
  std::string versions = std::string(program) + " " + kVersion + "\n";
  for (const auto& [library, version] : library_versions())
    versions.append(library).append(" ").append(version).append("\n");
  require_equal_on_all_ranks(comm, "the program", versions);
  require_equal_on_all_ranks(comm, "the configuration", configuration);
}

Session open_session(const SessionOptions& options, const Launch& launch, Communicator& control) {
  std::optional<ComputeDevice> device;
  together(control, [&] {
    device =
        ComputeDevice::choose(options.device, launch.local_rank, options.threads > 0 ? options.threads : launch.cores);
  });
  std::string place = stay_near_device(control, launch, *device);
  require_equal_on_all_ranks(control, "the kind of device", device->is_cuda() ? "cuda" : "cpu", ErrorKind::kNoDevice);
  auto comm = make_communicator({.wanted = options.comm,
                                 .timeout_seconds = static_cast<double>(options.comm_timeout),
                                 .is_data_on_gpu = device->is_cuda()},
                                launch);
  return {*device, std::move(place), std::move(comm)};
}

Dataset open_dataset_together(Communicator& comm, const Launch& launch, const std::string& name,
                              const std::string& data_root) {
  const Timer loading;
  Dataset dataset = open_named_dataset(name, data_root, comm, launch);
  require_equal_on_all_ranks(comm, "the checksum of the data set", dataset.fingerprint, ErrorKind::kBadData);
  if (comm.rank() == 0)
    log_info(dataset.name + (dataset.source_kind == "synthetic" ? " (synthetic)" : "") + ": " +
             std::to_string(dataset.num_nodes()) + " nodes, " + std::to_string(dataset.num_edges()) + " entries, " +
             std::to_string(dataset.feature_dim) + " features, " + std::to_string(dataset.num_classes) +
             (dataset.task == Task::kMultiLabel ? " labels a node" : " classes") + ", opened in " +
             fixed(loading.seconds(), 1) + " s");
  return dataset;
}

}  // namespace salient
