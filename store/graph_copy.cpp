// store/graph_copy.cpp - see graph_copy.h.
#include "store/graph_copy.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/console/progress.h"
#include "store/shared_arrays.h"

namespace salient {
namespace {

/// The first thread to write a page decides on which NUMA node it is, so neighbouring pieces go to different threads.
template <class T>
void copy_array(std::span<const T> from, UnsetHugeVector<T>& to, Progress& progress) {
  to.resize(from.size());
  constexpr std::size_t kPieceItems = kHugePageBytes / sizeof(T);
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, from.size(), kPieceItems),
                            [&](const oneapi::tbb::blocked_range<std::size_t>& range) {
                              std::ranges::copy(from.subspan(range.begin(), range.size()),
                                                to.begin() + static_cast<std::ptrdiff_t>(range.begin()));
                              progress.add(range.size() * sizeof(T));
                            });
}

}  // namespace

std::shared_ptr<const CsrArrays> copy_graph(const CsrGraph& graph, HostMemory* memory) {
  auto arrays = std::make_shared<CsrArrays>(memory);
  Progress progress("graph into 2 MiB pages", static_cast<std::uint64_t>(graph.num_bytes()) + graph.entries.num_bytes(),
                    "bytes");
  copy_array(graph.indptr, arrays->indptr, progress);
  copy_array(graph.indices, arrays->indices, progress);
  copy_array(graph.entries.weights, arrays->weights, progress);
  copy_array(graph.entries.times, arrays->times, progress);
  return arrays;
}

std::string describe_graph(const CsrGraph& graph, const SharedMemory& memory) {
  const SharedArrays::Json text = {{"indptr", SharedArrays::describe(graph.indptr, memory)},
                                   {"indices", SharedArrays::describe(graph.indices, memory)},
                                   {"weights", SharedArrays::describe(graph.entries.weights, memory)},
                                   {"times", SharedArrays::describe(graph.entries.times, memory)}};
  return text.dump();
}

void map_graph(const std::string& description, Dataset& dataset) {
  const auto text = SharedArrays::Json::parse(description);
  const auto arrays = std::make_shared<SharedArrays>();
  dataset.graph.indptr = arrays->map<EdgeOffset>(text["indptr"]);
  dataset.graph.indices = arrays->map<NodeId>(text["indices"]);
  dataset.graph.entries = {arrays->map<float>(text["weights"]), arrays->map<std::int64_t>(text["times"])};
  dataset.storage = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
      std::move(dataset.storage), arrays);
}

}  // namespace salient
