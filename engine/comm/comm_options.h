// engine/comm/comm_options.h - how the ranks of a run exchange data, as a user may choose it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/enum_names.h"

namespace salient {

enum class CommBackend : std::uint8_t { kNccl, kMpi, kSelf };

constexpr auto names_of(CommBackend) {
  return std::to_array<EnumName<CommBackend>>(
      {{CommBackend::kNccl, "nccl"}, {CommBackend::kMpi, "mpi"}, {CommBackend::kSelf, "self"}});
}

/// What moves the feature rows of other ranks, where features are partitioned.
enum class RowBackend : std::uint8_t { kNccl, kMpi };

constexpr auto names_of(RowBackend) {
  return std::to_array<EnumName<RowBackend>>({{RowBackend::kNccl, "nccl"}, {RowBackend::kMpi, "mpi"}});
}

struct CommOptions {
  std::optional<CommBackend> backend{};  ///< none: what suits ranks and devices
  std::optional<RowBackend> rows{};      ///< none: as make_communicator() chooses
  int timeout_seconds = 300;             ///< for other ranks to answer

  bool operator==(const CommOptions&) const = default;
};

}  // namespace salient
