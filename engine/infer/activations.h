// engine/infer/activations.h - the result of one layer for all nodes that the next one needs, computed by all ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/enum_names.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/device/compute_device.h"
#include "engine/infer/row_blocks.h"
#include "store/row_table.h"

namespace salient {

/// From fast to slow.
enum class ActivationStorage : std::uint8_t {
  kDevice,  ///< GPU memory, the whole matrix on every rank
  kMemory,  ///< host memory, once per host
  kFile     ///< a mapped scratch file without a name, once per host; the page cache holds as much as memory is free
};

constexpr auto names_of(ActivationStorage) {
  return std::to_array<EnumName<ActivationStorage>>({{ActivationStorage::kDevice, "device"},
                                                     {ActivationStorage::kMemory, "memory"},
                                                     {ActivationStorage::kFile, "file"}});
}

std::string to_text(ActivationStorage storage);

enum class ActivationDtype : std::uint8_t { kF32, kF16 };

constexpr auto names_of(ActivationDtype) {
  return std::to_array<EnumName<ActivationDtype>>({{ActivationDtype::kF32, "f32"}, {ActivationDtype::kF16, "f16"}});
}

/// As the loaders call it.
constexpr FeatureType feature_type_of(ActivationDtype type) {
  return type == ActivationDtype::kF16 ? FeatureType::kF16 : FeatureType::kF32;
}

/// [rows, width] of ActivationDtype. Block b is computed, and written here, by rank b % size.
class Activations {
 public:
  Activations() = default;
  virtual ~Activations() = default;
  Activations(const Activations&) = delete;
  Activations& operator=(const Activations&) = delete;

  /// Stores a block that this rank computed. @param rows  [n, width] f32 on the compute device
  /// @throws Error{kUsage} for a value beyond the range of f16, where that is the type.
  virtual void put(std::size_t first, const at::Tensor& rows) = 0;

  /// Makes every row readable on every rank and stream. Collective; waits for the device.
  virtual void complete(std::span<const RowBlock> blocks) = 0;

  /// Rows [first, first + count) in f32 on the compute device; of f32 on a CPU a view of host memory.
  virtual at::Tensor rows(std::size_t first, std::size_t count) const = 0;

  /// All rows, in device memory for kDevice, else in host memory.
  virtual RowTable table() const = 0;

  /// After complete(): the table is in a file that memory does not hold, as LoaderOptions::has_paged_rows says.
  virtual bool has_paged_table() const { return false; }
};

struct ActivationSpec {
  std::size_t rows = 0, width = 0;
  ActivationStorage storage = ActivationStorage::kMemory;
  ActivationDtype type = ActivationDtype::kF32;  ///< of kDevice no other
  std::filesystem::path scratch{};               ///< folder for kFile
};

/// Collective. @param launch  of run_ranks(): the ranks of a host share one matrix, except for kDevice.
/// @throws RankError{kHostMemory, kIo}, Error{kDeviceMemory} when there is no room.
std::unique_ptr<Activations> make_activations(const ActivationSpec& spec, const ComputeDevice& device,
                                              Communicator& comm, const Launch& launch);

}  // namespace salient
