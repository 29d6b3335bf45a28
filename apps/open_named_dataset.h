// apps/open_named_dataset.h - what --dataset means: a directory, a name below --data-root, or generated data.
#pragma once

#include <cstdint>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "store/dataset.h"
#include "store/open_store.h"
#include "store/synthetic.h"

namespace salient {

/// "synthetic:..." is generated in memory, see parse_synthetic_name() and parse_synthetic_typed_name(); a path, or a
/// folder that exists, is opened; anything else is a name below `data_root`.
///
/// @throws as open_dataset(); Error{kUsage} for an unknown synthetic name.
Dataset open_named_dataset(const std::string& dataset, const std::string& data_root,
                           FeatureFile needed = FeatureFile::kNeeded, GraphKind kind = GraphKind::kPlain);

/// The same on every rank. Generated data is in memory once per host: its first rank makes it, the others map it.
/// Collective. @throws RankError on all ranks when it fails on one.
Dataset open_named_dataset(const std::string& dataset, const std::string& data_root, Communicator& comm,
                           const Launch& launch, FeatureFile needed = FeatureFile::kNeeded,
                           GraphKind kind = GraphKind::kPlain);

/// Likewise of a data set that no name has.
Dataset open_generated_dataset(const SyntheticOptions& options, Communicator& comm, const Launch& launch);

/// Moves the graph of a store into 2 MiB pages, once per host, if it is large (256 MB) and fits into `spare_bytes`:
/// sampling on the host is then faster by a third and more. Collective; the first rank of each host decides.
///
/// @param spare_bytes  host memory that nothing else needs; 0 = leave the graph in its file mapping.
void use_huge_pages(Dataset& dataset, std::int64_t spare_bytes, Communicator& comm, const Launch& launch);

}  // namespace salient
