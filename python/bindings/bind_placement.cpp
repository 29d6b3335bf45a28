// python/bindings/bind_placement.cpp - where a loader's feature rows and graph go: the policy of the programs
// (engine/device/data_plan.h), and which rows a cache has.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "engine/device/batch_need.h"
#include "engine/device/data_plan.h"
#include "loaders/batch_loader.h"
#include "loaders/cached_nodes.h"
#include "python/bindings/batch_stream.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"

namespace salient::python {
namespace {

using Ids = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// What a loader will sample, and the GPU memory that it may take.
struct PlacementRequest {
  std::vector<NodeId> seeds{};  ///< of nodes: those of the order; of links: their ends, distinct
  std::size_t batch_size = 1;
  std::uint32_t seed = 0;
  std::string features{}, sampler{};  ///< "auto", or a Residency, a GraphResidency
  std::int64_t free_bytes = 0;        ///< GPU memory, what the data set has there already included
  std::int64_t reserved_bytes = 0;    ///< of it for the user's model
  std::int64_t cache_bytes = 0;       ///< 0: what is left
};

BatchProbe probe_of(const StreamOptions& options, const PlacementRequest& request) {
  return {.rule = options.rule,
          .time = options.time,
          .seeds = request.seeds,
          .batch_size = request.batch_size,
          .entries = options.entries,
          .seed = request.seed};
}

/// Draws of batches of links are not expected: their caches have the nodes with the longest rows.
SamplingPlan sampling_of(const StreamOptions& options, const PlacementRequest& request) {
  SamplingPlan plan = sampling_plan(probe_of(options, request));
  plan.excludes_links = options.links.has_value();
  if (plan.excludes_links) plan.seeds = {};
  return plan;
}

template <class Place>
std::optional<Place> place_named(const std::string& word) {
  if (word == "auto") return std::nullopt;
  const std::optional<Place> place = value_named<Place>(word);
  if (!place) fail(ErrorKind::kUsage, "no place: " + word);
  return place;
}

/// (features, sampler, rows of a cache)
std::tuple<std::string, std::string, std::size_t> plan_placement(const OpenDataset& dataset,
                                                                 const StreamOptions& options,
                                                                 const PlacementRequest& request) {
  const LockReleased others_run;
  const ResidencyRequest wanted{.features = place_named<Residency>(request.features),
                                .graph = place_named<GraphResidency>(request.sampler),
                                .cache_bytes = request.cache_bytes};
  const auto nothing = [](const MfgShape&) { return std::int64_t{0}; };
  const LoaderNeed need{.what = "batches",
                        .num_slots = default_slots(options.num_workers),
                        .num_workers = options.num_workers,
                        .batch = probe_batches(*dataset.data, probe_of(options, request), nothing)};
  const RunNeeds needs{.loaders = {need},
                       .others = {{"the model", 0, request.reserved_bytes}},
                       .sampling = sampling_of(options, request)};
  const FreeMemory free{.host_bytes = std::numeric_limits<std::int64_t>::max(), .device_bytes = request.free_bytes};
  DataPlan plan = plan_residency(wanted, *dataset.data, needs, free);
  if (plan.residency.graph_entries && !wanted.graph) {  // Python's loaders have whole graphs on a GPU
    ResidencyRequest on_host = wanted;
    on_host.graph = GraphResidency::kHost;
    plan = plan_residency(on_host, *dataset.data, needs, free);
  }
  return {std::string(name_of(plan.residency.features)), std::string(name_of(plan.residency.graph)),
          plan.residency.cached_rows};
}

std::shared_ptr<CachedNodes> choose_cached_nodes(const OpenDataset& dataset, const StreamOptions& options,
                                                 const PlacementRequest& request, std::size_t count) {
  const LockReleased others_run;
  auto nodes = std::make_shared<CachedNodes>();
  nodes->ids = nodes_to_cache(dataset.data->graph, CachePolicy::kVip, sampling_of(options, request), count);
  nodes->set = std::make_shared<const NodeSet>(dataset.data->num_nodes(), nodes->ids);
  return nodes;
}

}  // namespace

void bind_placement(nb::module_& module) {
  nb::class_<CachedNodes>(module, "CachedNodes").def_prop_ro("ids", [](nb::pointer_and_handle<CachedNodes> self) {
    const std::vector<NodeId>& ids = self.p->ids;
    return array_of(ids.data(), {ids.size()}, self.h, nb::dtype<std::int32_t>());
  });
  nb::class_<PlacementRequest>(module, "PlacementRequest")
      .def(nb::init<>())
      .def("set_seeds", [](PlacementRequest& self,
                           const Ids& seeds) { self.seeds.assign(seeds.data(), seeds.data() + seeds.size()); })
      .def_rw("batch_size", &PlacementRequest::batch_size)
      .def_rw("seed", &PlacementRequest::seed)
      .def_rw("features", &PlacementRequest::features)
      .def_rw("sampler", &PlacementRequest::sampler)
      .def_rw("free_bytes", &PlacementRequest::free_bytes)
      .def_rw("reserved_bytes", &PlacementRequest::reserved_bytes)
      .def_rw("cache_bytes", &PlacementRequest::cache_bytes);
  module.def("plan_placement", &plan_placement, nb::arg("dataset"), nb::arg("options"), nb::arg("request"));
  module.def("choose_cached_nodes", &choose_cached_nodes, nb::arg("dataset"), nb::arg("options"), nb::arg("request"),
             nb::arg("count"));
}

}  // namespace salient::python
