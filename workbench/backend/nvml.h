// workbench/backend/nvml.h - the energy that a GPU has used, by NVIDIA's management library, found at run time.
#pragma once

#include <functional>
#include <optional>

namespace salient::workbench {

/// Reads a GPU's counter of energy, which moves some ten times a second.
class EnergyMeter {
 public:
  /// @param ordinal  of the CUDA driver   @return  nothing where there is no libnvidia-ml.so.1, or no such counter
  static std::optional<EnergyMeter> find(int ordinal);

  /// Joules since the driver was loaded; nothing where it cannot be read now.
  std::optional<double> read() const;

 private:
  using Read = int(void* device, unsigned long long* millijoules);
  EnergyMeter(Read* function, void* device) : function_(function), device_(device) {}

  Read* function_;
  void* device_;
};

/// Joules of one run, of as many as take about `seconds`: between two steps of the counter, of the whole board. 0
/// without a meter.
/// @param run  runs so often, and waits for the end
double joules_of_run(int ordinal, double seconds, const std::function<void(int)>& run);

/// The same by any counter, which may fail at times.
double joules_of_run(const std::function<std::optional<double>()>& read, double seconds,
                     const std::function<void(int)>& run);

}  // namespace salient::workbench
