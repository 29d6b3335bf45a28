// apps/session.h - what a rank of salient-train or salient-infer works with, from the start of the program on.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/console/console_options.h"
#include "core/value_text.h"
#include "engine/comm/agreement.h"
#include "engine/comm/comm_options.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/comm/make_communicator.h"
#include "engine/device/compute_device.h"
#include "engine/device/machine_options.h"
#include "engine/device/planned_data.h"
#include "engine/train/train_options.h"
#include "models/numerics.h"
#include "store/dataset.h"

namespace salient {

/// Sets progress bars and log level; rank 0 logs for all.
void set_terminal(const ConsoleOptions& options, const Launch& launch);

/// "name = value" lines of all options but those that may suit each host.
template <class Options>
std::string common_configuration(const Options& options, std::span<const std::string_view> own_to_a_host) {
  std::string text;
  visit_fields(options, [&](std::string_view name, const auto& value, std::string_view) {
    if (std::ranges::find(own_to_a_host, name) != own_to_a_host.end()) return;
    text.append(name).append(" = ").append(to_text(value)).append("\n");
  });
  return text;
}

/// Collective. @throws RankError{kUsage} when ranks run different programs, or with different configurations.
void require_equal_programs(Communicator& comm, const char* program, const std::string& configuration);

/// Where this rank computes, and how it reaches the others.
struct Session {
  Launch launch{};
  ComputeDevice device;
  std::unique_ptr<Communicator> comm;
  std::string numa_nodes{};  ///< that it is pinned to, of pin_near_device()

  bool is_rank_0() const { return comm->rank() == 0; }

  /// Does what rank 0 does alone, such as writing files; when it fails there, every rank throws. Collective.
  template <class Work>
  void on_rank_0(Work&& work) const {
    together(*comm, [&] {
      if (is_rank_0()) std::forward<Work>(work)();
    });
  }
};

/// Borrows from the session.
inline RankPlace place_of(const Session& session) { return {*session.comm, session.launch, session.device}; }

/// Of a rank that computes on `device`.
CommunicatorOptions communicator_options(const CommOptions& comm, const MachineOptions& machine,
                                         const ComputeDevice& device);

/// Collective. @param control  host communication, for what must be agreed on before the device is known.
/// @throws Error{kNoDevice}; RankError{kNoDevice} when ranks compute on different kinds of devices; as
///         make_communicator().
Session open_session(const MachineOptions& machine, const CommOptions& comm, const Launch& launch,
                     Communicator& control);

/// Whether a device multiplies matrices so.
bool has_precision(const ComputeDevice& device, Precision precision);

/// How a device computes with a trained run's model: in the precision that is asked for, or else in the run's, or, as
/// the log then says, in fp32 where it does not multiply matrices so.
Numerics numerics_on(const ComputeDevice& device, const TrainOptions& trained_with,
                     std::optional<Precision> asked = std::nullopt);

/// @throws Error{kNoDevice} when a precision is asked for and this rank's device does not multiply matrices so.
void require_precision(const Session& session, std::optional<Precision> precision);

/// @throws Error{kNoDevice} when resident steps are asked for and this rank has no GPU.
void require_step(const Session& session, std::optional<StepKind> step);

/// The data set on every rank, and one line about it; without features.npy where features are to be partitioned and
/// the host has the rows of its parts alone. Plain or typed. Collective.
/// @throws as open_named_dataset(); RankError{kBadData} when ranks have different data.
Dataset open_dataset_together(const Session& session, const DataOptions& data, const MachineOptions& machine);

}  // namespace salient
