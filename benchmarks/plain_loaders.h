// benchmarks/plain_loaders.h - the batch preparation that SALIENT's paper starts from, and the steps on its way:
// what the product's loader is compared with.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/textbook_sampler.h"
#include "loaders/batch.h"
#include "loaders/batch_source.h"
#include "store/dataset.h"

namespace salient {

struct PlainLoaderOptions {
  std::vector<int> fanouts{};
  Degrees degrees = Degrees::kOfNoNode;
  int num_workers = 1;
  bool to_device = false;
  std::uint64_t seed = 1;  ///< of the textbook sampler's draws
};

/// The plain loop, as PyG's loaders do it: workers sample, and the result is copied once on its way to the consumer, as
/// between processes; the consumer then slices the features on all cores into pinned memory, copies the batch, and
/// waits for the copy, which waits for the step before.
///
/// @param textbook  sample with a TextbookSampler over it; null = with the product's sampler. Outlives the source.
/// @param dataset   outlives the source.
std::unique_ptr<BatchSource> make_plain_loader(const Dataset& dataset, const PlainLoaderOptions& options,
                                               const TextbookGraph* textbook);

/// The product's workers fill pinned slabs in shared memory, but the consumer copies them one by one, as above.
std::unique_ptr<BatchSource> make_unpipelined_loader(const Dataset& dataset, const PlainLoaderOptions& options);

}  // namespace salient
