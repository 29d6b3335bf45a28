// benchmarks/step_parts.h - the parts of a step: which kernels they are, and what a resident one must move and compute.
//
// Bytes and operations are those that the batch's sampled tree needs, counted from its sizes: rows and gradients once
// for each kernel that reads or writes them, so caches may serve some. Products of fixed sizes compute more rows.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/bench_report.h"
#include "benchmarks/step_kernels.h"
#include "engine/device/compute_device.h"
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

/// Of a step of `options.model`, the longest first. Of a resident step with batches as those of an epoch were on
/// average; a kernel that belongs to no part, as all of an eager step, is one of its own without bytes and operations.
std::vector<StepPart> step_parts(const TrainOptions& options, const Dataset& dataset, const EpochMetrics& epoch,
                                 const std::vector<StepKernel>& kernels);

/// Adds a note for each part: "1.0 launches  314.0 us  sums over rows of a layer: 82.0 MB, 2.61 TB/s, 0.62 of a copy",
/// and of products their operations beside torch's.
/// @param device  is measured where parts have bytes or operations
void note_parts(BenchReport& report, const std::string& row, const std::vector<StepPart>& parts,
                const ComputeDevice& device, Precision precision);

}  // namespace salient
