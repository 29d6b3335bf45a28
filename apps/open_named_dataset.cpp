// apps/open_named_dataset.cpp - see open_named_dataset.h.
#include "apps/open_named_dataset.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <variant>

#include "apps/missing_dataset.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/host/shared_memory.h"
#include "core/number_text.h"
#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"
#include "store/checksums.h"
#include "store/dataset_name.h"
#include "store/dataset_sharing.h"
#include "store/graph_copy.h"
#include "store/synthetic.h"
#include "store/synthetic_typed.h"

namespace salient {
namespace {

/// Bytes of a store whose checksums are compared whenever it is opened: what takes less than 0.1 s.
constexpr std::uint64_t kAlwaysChecked = 256 << 20;

/// A generated graph that does not fit is refused, before the system ends the program for it.
void require_fits(const std::string& name, std::uint64_t bytes) {
  const auto needed = static_cast<std::int64_t>(bytes);
  const std::int64_t available = available_host_bytes();
  if (available > 0 && needed > available)
    fail(ErrorKind::kHostMemory, name + ": needs " + gigabytes_needed(needed) + " of memory, and " +
                                     gigabytes(available) + " are free; take a smaller scale");
}

Dataset generate(const SyntheticOptions& options, std::shared_ptr<HostMemory> memory) {
  require_fits(options.name, synthetic_peak_bytes(options, /*num_threads=*/0));
  return make_synthetic_dataset(options, /*num_threads=*/0, std::move(memory));
}

Dataset generate(const SyntheticTypedOptions& options, std::shared_ptr<HostMemory> memory) {
  require_fits(options.name, synthetic_bytes(options));
  return make_synthetic_dataset(options, /*num_threads=*/0, std::move(memory));
}

using GeneratedOptions = std::variant<SyntheticOptions, SyntheticTypedOptions>;

/// What the name `dataset` says. @throws Error{kUsage} for an unknown one, {kBadData} for a kind that may not be
GeneratedOptions parse_generated(const std::string& dataset, GraphKind kind) {
  if (!is_synthetic_typed_name(dataset)) return parse_synthetic_name(dataset);
  SyntheticTypedOptions options = parse_synthetic_typed_name(dataset);
  require_kind(kind, schema_of(options), dataset);
  return options;
}

/// Made by the first rank of each host, and mapped by its others. Collective.
Dataset generate_once_per_host(const GeneratedOptions& options, Communicator& comm, const Launch& launch) {
  Dataset opened;
  const std::string description = made_once_per_host(comm, launch, [&] {
    const auto memory = std::make_shared<SharedMemory>();
    opened = std::visit([&](const auto& known) { return generate(known, memory); }, options);
    return describe_shared(opened, *memory);
  });
  together(comm, [&] {
    if (launch.local_rank != 0) opened = map_described(description);
  });
  return opened;
}

/// What a data set rests on when its graph was copied; the copy goes first.
struct MovedGraph {
  std::shared_ptr<const void> store;
  std::shared_ptr<SharedMemory> memory;  // null = this process' own
  std::shared_ptr<const CsrArrays> graph;
};

}  // namespace

Dataset open_named_dataset(const std::string& dataset, const std::string& data_root, FeatureFile needed,
                           GraphKind kind) {
  if (is_synthetic_name(dataset))
    return std::visit([](const auto& options) { return generate(options, nullptr); }, parse_generated(dataset, kind));
  const std::filesystem::path folder = dataset_folder(dataset, data_root);
  return open_or_advise(folder, [&] {
    Dataset opened = open_store(folder, /*num_threads=*/0, needed, kind).dataset;
    check_checksums_of_short_store(folder, kAlwaysChecked, needed);
    return opened;
  });
}

Dataset open_named_dataset(const std::string& dataset, const std::string& data_root, Communicator& comm,
                           const Launch& launch, FeatureFile needed, GraphKind kind) {
  Dataset opened;
  if (is_synthetic_name(dataset) && launch.size > launch.num_hosts) {
    GeneratedOptions options;
    together(comm, [&] { options = parse_generated(dataset, kind); });
    return generate_once_per_host(options, comm, launch);
  }
  together(comm, [&] { opened = open_named_dataset(dataset, data_root, needed, kind); });
  return opened;
}

Dataset open_generated_dataset(const SyntheticOptions& options, Communicator& comm, const Launch& launch) {
  return generate_once_per_host(options, comm, launch);
}

void use_huge_pages(Dataset& dataset, std::int64_t spare_bytes, Communicator& comm, const Launch& launch) {
  constexpr std::int64_t kLarge = 256 << 20;
  const std::int64_t bytes = dataset.graph.num_bytes() + static_cast<std::int64_t>(dataset.graph.entries.num_bytes());
  const bool is_stored = !dataset.directory.empty();
  const std::string description = made_once_per_host(comm, launch, [&]() -> std::string {
    if (!is_stored || bytes < kLarge || bytes > spare_bytes) return "";
    const auto memory = launch.ranks_on_host > 1 ? std::make_shared<SharedMemory>() : nullptr;
    auto copy = copy_graph(dataset.graph, memory.get());
    const SlotTable* const slots = dataset.graph.slots;
    dataset.graph = copy->view();
    dataset.graph.slots = slots;
    dataset.storage = std::make_shared<MovedGraph>(MovedGraph{std::move(dataset.storage), memory, std::move(copy)});
    return memory ? describe_graph(dataset.graph, *memory) : "";
  });
  together(comm, [&] {
    if (launch.local_rank != 0 && !description.empty()) map_graph(description, dataset);
  });
}

}  // namespace salient
