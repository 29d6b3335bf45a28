// loaders/device_graph.cpp - see device_graph.h.
#include "loaders/device_graph.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/console/progress.h"
#include "core/cuda/cuda.h"
#include "core/error.h"
#include "core/host/huge_vector.h"
#include "core/host/machine.h"
#include "loaders/device_upload.h"
#include "loaders/graph_tiers.h"
#include "sampler/device_sampler.h"

namespace salient {
namespace {

template <class T>
DeviceArray<T> upload_array(const char* what, std::span<const T> values) {
  auto array = make_device_array<T>(values.size(), "the graph", Topic::kDeviceGraph);
  upload(what, reinterpret_cast<const std::byte*>(values.data()), values.size_bytes(),
         reinterpret_cast<std::byte*>(array.get()));
  return array;
}

/// The same of values that write(first, count, out) writes, on many threads at a time.
template <class T, class Write>
DeviceArray<T> upload_written(const char* what, std::size_t count, const Write& write) {
  auto array = make_device_array<T>(count, "the graph", Topic::kDeviceGraph);
  upload(
      what, count, sizeof(T),
      [&](std::size_t first, std::size_t n, std::byte* out) { write(first, n, reinterpret_cast<T*>(out)); },
      reinterpret_cast<std::byte*>(array.get()));
  return array;
}

/// Host memory in 2 MiB pages, pinned after all cores have filled it, which is faster than to allocate it pinned.
class ColdEntries {
 public:
  explicit ColdEntries(const GraphTiers& tiers) {
    const std::size_t count = tiers.num_cold(), bytes = count * sizeof(NodeId);
    if (count == 0) return;
    const std::int64_t available = available_host_bytes();
    if (available > 0 && static_cast<std::int64_t>(bytes) > available)
      fail(ErrorKind::kHostMemory,
           "the rows of the graph that are not in GPU memory take " +
               gigabytes_needed(static_cast<std::int64_t>(bytes)) + " of host memory, available are " +
               gigabytes(available),
           Topic::kDeviceGraph);
    constexpr std::size_t kPiece = kHugePageBytes / sizeof(NodeId);
    entries_.resize(std::max(count, kPiece));  // in pages of its own: what is pinned shares none
    Progress progress("graph to pinned memory", bytes, "bytes");
    oneapi::tbb::parallel_for(std::size_t{0}, (count + kPiece - 1) / kPiece, [&](std::size_t p) {
      const std::size_t first = p * kPiece, size = std::min(kPiece, count - first);
      tiers.copy(tiers.num_hot() + first, size, entries_.data() + first);
      progress.add(size * sizeof(NodeId));
    });
    const cudaError_t status =
        cudaHostRegister(entries_.data(), entries_.size() * sizeof(NodeId), cudaHostRegisterMapped);
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();
    fail(ErrorKind::kHostMemory,
         "cannot pin " + gigabytes(static_cast<std::int64_t>(bytes)) + " of host memory for the graph (" +
             cudaGetErrorString(status) + ")",
         Topic::kDeviceGraph);
  }
  ~ColdEntries() {
    if (!entries_.empty()) (void)cudaHostUnregister(entries_.data());
  }
  ColdEntries(const ColdEntries&) = delete;
  ColdEntries& operator=(const ColdEntries&) = delete;

  /// Their address on the device; null without any.
  const NodeId* on_device() const {
    void* address = nullptr;
    if (!entries_.empty())
      cuda_check(cudaHostGetDevicePointer(&address, const_cast<NodeId*>(entries_.data()), /*flags=*/0));
    return static_cast<const NodeId*>(address);
  }

 private:
  UnsetHugeVector<NodeId> entries_{};
};

/// From one array to the other, in entries.
EdgeOffset distance(const NodeId* from, const NodeId* to) {
  const std::int64_t bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)) -
                             static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from));
  require(bytes % static_cast<std::int64_t>(sizeof(NodeId)) == 0, "arrays are aligned");
  return bytes / static_cast<std::int64_t>(sizeof(NodeId));
}

}  // namespace

struct DeviceGraph::Arrays {
  DeviceArray<EdgeOffset> indptr{};
  DeviceArray<NodeId> indices{};
  std::size_t num_nodes = 0;
  DeviceArray<EdgeOffset> begins{};  // null of a whole graph
  std::unique_ptr<ColdEntries> cold{};
  const SlotTable* slots = nullptr;  // the host's, of a typed graph
  DeviceArray<float> weights{};      // null of a graph without, as is the next
  DeviceArray<std::int64_t> times{};
  bool ascends = true;

  /// A graph without entries has whatever they could have.
  void take_values(const CsrGraph& host) {
    const auto& [of_weights, of_times] = host.entries;
    const std::size_t num_entries = host.indices.size();
    if (of_weights.size() == num_entries) weights = upload_array("weights of edges to the GPU", of_weights);
    if (of_times.size() == num_entries) times = upload_array("times of edges to the GPU", of_times);
    ascends = of_times.empty();
  }
  DeviceValuedCsr csr() const {
    return {{indptr.get(), indices.get(), num_nodes, begins.get()}, weights.get(), times.get(), ascends};
  }
};

DeviceGraph::DeviceGraph(CsrGraph host)
    : arrays_(new Arrays{.indptr = upload_array("row bounds to the GPU", host.indptr),
                         .indices = upload_array("graph to the GPU", host.indices),
                         .num_nodes = host.num_nodes(),
                         .slots = host.slots}) {
  arrays_->take_values(host);
}

DeviceGraph::DeviceGraph(CsrGraph host, const GraphTiers& tiers) : arrays_(new Arrays{}) {
  Arrays& to = *arrays_;
  require(host.slots == nullptr, "a graph in tiers is a plain one");
  to.num_nodes = host.num_nodes();
  to.take_values(host);
  to.cold = std::make_unique<ColdEntries>(tiers);
  to.indptr = upload_array("row bounds to the GPU", host.indptr);
  to.indices =
      upload_written<NodeId>("graph to the GPU", tiers.num_hot(),
                             [&](std::size_t first, std::size_t n, NodeId* out) { tiers.copy(first, n, out); });
  const EdgeOffset first_cold = distance(to.indices.get(), to.cold->on_device());
  to.begins = upload_written<EdgeOffset>("begins of rows to the GPU", to.num_nodes,
                                         [&](std::size_t first, std::size_t n, EdgeOffset* out) {
                                           for (std::size_t i = 0; i < n; ++i)
                                             out[i] = tiers.begin_of(first + i, first_cold);
                                         });
}
DeviceGraph::~DeviceGraph() = default;

DeviceCsr DeviceGraph::csr() const {
  require(arrays_->ascends, "rows of the graph ascend by neighbour");
  return arrays_->csr();
}

std::unique_ptr<BatchSampler> DeviceGraph::make_sampler(SamplingRule rule, const std::optional<TimeRule>& time,
                                                        std::span<const std::int64_t> node_times) const {
  std::optional<SeedTimes> times;
  if (time) times = {*time, node_times};
  return std::make_unique<DeviceSampler>(arrays_->csr(), std::move(rule), arrays_->slots, times);
}

}  // namespace salient
