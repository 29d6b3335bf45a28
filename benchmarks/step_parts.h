// benchmarks/step_parts.h - the parts of a resident step: which kernels they are, and what they must move and compute.
//
// Bytes and operations are those that the batch's sampled tree needs, counted from its sizes: rows and gradients once
// for each kernel that reads or writes them, so caches may serve some. Products of fixed sizes compute more rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/bench_report.h"
#include "benchmarks/gpu_ceilings.h"
#include "benchmarks/step_kernels.h"
#include "engine/report/metrics.h"
#include "engine/train/train_options.h"
#include "store/dataset.h"

namespace salient {

/// Of one step, on average.
struct StepPart {
  std::string name;
  double launches = 0, seconds = 0;  ///< of its kernels, which may run beside others
  double bytes = 0;                  ///< read and written
  double operations = 0;             ///< of products: multiplications and additions
};

/// Of a resident step of `options.model`, in `options.precision`, with batches as those of an epoch were on average. A
/// kernel that belongs to none is a part of its own, without bytes and operations. The longest first.
std::vector<StepPart> resident_step_parts(const TrainOptions& options, const Dataset& dataset,
                                          const EpochMetrics& epoch, const std::vector<StepKernel>& kernels);

/// Adds a note for each part: "1.0 launches  314.0 us  sums over rows of a layer: 82.0 MB, 2.61 TB/s, 0.62 of a copy",
/// and of products their operations beside torch's.
void note_parts(BenchReport& report, const std::string& row, const std::vector<StepPart>& parts,
                const std::optional<GpuCeilings>& ceilings);

}  // namespace salient
