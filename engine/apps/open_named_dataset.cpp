// engine/apps/open_named_dataset.cpp - see open_named_dataset.h.
#include "engine/apps/open_named_dataset.h"

#include <cstdint>
#include <memory>

#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/core/number_text.h"
#include "engine/core/shared_memory.h"
#include "loaders/dataset_name.h"
#include "loaders/dataset_sharing.h"
#include "loaders/synthetic.h"

namespace salient {
namespace {

/// A generated graph that does not fit is refused, before the system ends the program for it.
SyntheticOptions options_that_fit(const std::string& dataset) {
  SyntheticOptions options = parse_synthetic_name(dataset);
  const auto needed = static_cast<std::int64_t>(synthetic_bytes(options));
  const std::int64_t available = available_host_bytes();
  if (available > 0 && needed > available)
    fail(ErrorKind::kHostMemory, "--dataset " + dataset + ": needs " + gigabytes_needed(needed) + " of memory, and " +
                                     gigabytes(available) + " are free; take a smaller scale");
  return options;
}

}  // namespace

Dataset open_named_dataset(const std::string& dataset, const std::string& data_root) {
  if (is_synthetic_name(dataset)) return make_synthetic_dataset(options_that_fit(dataset));
  return open_dataset(dataset_folder(dataset, data_root));
}

Dataset open_named_dataset(const std::string& dataset, const std::string& data_root, Communicator& comm,
                           const Launch& launch) {
  Dataset opened;
  if (!is_synthetic_name(dataset) || launch.size == launch.num_hosts) {
    together(comm, [&] { opened = open_named_dataset(dataset, data_root); });
    return opened;
  }
  const std::string description = made_once_per_host(comm, launch, [&] {
    const auto memory = std::make_shared<SharedMemory>();
    opened = make_synthetic_dataset(options_that_fit(dataset), /*num_threads=*/0, memory);
    return describe_shared(opened, *memory);
  });
  together(comm, [&] {
    if (launch.local_rank != 0) opened = map_described(description);
  });
  return opened;
}

}  // namespace salient
