// python/bindings/bind_stream.cpp - batches on their way to Python, and memory that torch pins for them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "python/bindings/batch_stream.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"
#include "sampler/reference_sampler.h"
#include "sampler/sampling_rule.h"

namespace salient::python {
namespace {

/// Lets torch pin: its CUDA runtime is the one of the process, and a build without a CUDA toolkit has none.
class TorchPinner final : public PagePinner {
 public:
  /// @param pin, unpin  pin(address, bytes) and unpin(address)
  TorchPinner(nb::object pin, nb::object unpin) : pin_(std::move(pin)), unpin_(std::move(unpin)) {}
  ~TorchPinner() override {
    if (!nb::is_alive()) {
      (void)pin_.release();
      (void)unpin_.release();
      return;
    }
    const nb::gil_scoped_acquire hold;
    pin_.reset();
    unpin_.reset();
  }
  TorchPinner(const TorchPinner&) = delete;
  TorchPinner& operator=(const TorchPinner&) = delete;

  void pin(std::byte* memory, std::size_t bytes) override {
    const nb::gil_scoped_acquire hold;
    try {
      pin_(reinterpret_cast<std::uintptr_t>(memory), bytes);
    } catch (const nb::python_error& error) {
      fail(ErrorKind::kHostMemory,
           "cannot pin " + std::to_string(bytes >> 20) + " MiB of host memory: " + error.what());
    }
  }
  void unpin(std::byte* memory) noexcept override {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire hold;
    try {
      unpin_(reinterpret_cast<std::uintptr_t>(memory));
    } catch (const nb::python_error&) {  // the device has failed; its user has had that error
    }
  }

 private:
  nb::object pin_, unpin_;
};

std::vector<NodeId> ids_of(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& nodes) {
  return {nodes.data(), nodes.data() + nodes.size()};
}

/// The slab's prepared bytes; the array owns a share of the slab.
nb::ndarray<> memory_of(const StreamedBatch& self) {
  require(self.slab != nullptr, "a batch's memory is asked for before it is dropped");
  auto* const owner = new OwnedSlab(self.slab);
  const nb::capsule capsule(owner, [](void* slab) noexcept { delete static_cast<OwnedSlab*>(slab); });
  return array_of(self.slab->data(), {self.batch.layout.prepared_bytes}, capsule, nb::dtype<std::uint8_t>());
}

void bind_batch(nb::module_& module) {
  nb::class_<StreamedBatch> batch(module, "Batch");
  const auto field = [&](const char* name, auto read) { batch.def_prop_ro(name, read); };
  field("index", [](const StreamedBatch& self) { return self.batch.key.batch; });
  field("epoch", [](const StreamedBatch& self) { return self.batch.key.epoch; });
  field("num_nodes", [](const StreamedBatch& self) { return self.batch.layout.num_nodes; });
  field("num_seeds", [](const StreamedBatch& self) { return self.batch.layout.num_seeds; });
  field("num_bytes", [](const StreamedBatch& self) { return self.batch.layout.prepared_bytes; });
  field("y", [](const StreamedBatch& self) { return self.batch.layout.y; });
  field("nodes", [](const StreamedBatch& self) { return self.batch.layout.nodes; });
  field("num_pairs", [](const StreamedBatch& self) { return self.batch.layout.num_pairs; });
  field("pairs", [](const StreamedBatch& self) { return self.batch.layout.pairs; });
  field("links", [](const StreamedBatch& self) { return self.links; });
  field("x", [](const StreamedBatch& self) { return self.batch.layout.x; });
  field("x_rows", [](const StreamedBatch& self) { return self.batch.layout.x_rows; });
  field("x_missed", [](const StreamedBatch& self) { return self.batch.layout.x_missed; });
  field("x_begin", [](const StreamedBatch& self) { return self.batch.layout.x_begin; });
  field("x_columns", [](const StreamedBatch& self) { return self.batch.layout.x_columns; });
  field("num_values", [](const StreamedBatch& self) { return self.batch.layout.num_values; });
  field("hops", [](const StreamedBatch& self) {
    nb::list hops;
    for (std::size_t i = 0; i < self.batch.layout.hops.size(); ++i) {
      const HopLayout& hop = self.batch.layout.hops[i];
      hops.append(
          nb::make_tuple(hop.num_dst, hop.num_src, hop.num_edges, hop.indptr, hop.indices, self.first_new_edges[i]));
    }
    return hops;
  });
  field("entry_parts", [](const StreamedBatch& self) {
    nb::list hops;
    for (const HopLayout& hop : self.batch.layout.hops)
      hops.append(nb::make_tuple(hop.places, hop.edge_x, hop.weights));
    return hops;
  });
  bind_typed_parts(batch);
  batch.def("memory", &memory_of);
  batch.def("drop_memory", [](StreamedBatch& self) { self.slab.reset(); });
}

using Ids = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The Python tests' oracle: the slow sampler's nodes and, per hop from the outermost, (num_dst, num_src, indptr,
/// indices).
nb::tuple reference(const OpenDataset& dataset, const SamplingRule& rule, const Ids& seeds,
                    std::vector<std::uint32_t> key) {
  const std::vector<NodeId> nodes = ids_of(seeds);
  const Mfg mfg = reference_sample(dataset.data->graph, rule, nodes, {key.at(0), key.at(1), key.at(2)});
  nb::list hops;
  for (const MfgHop& hop : mfg.hops) hops.append(nb::make_tuple(hop.num_dst, hop.num_src, hop.indptr, hop.indices));
  return nb::make_tuple(mfg.nodes, hops);
}

/// @param ends      [2 n] source and destination of each link, nodes of the data set
/// @param rule      with kDegree of a graph with entries
/// @param relation  of all of them, of a typed graph, whose ends are nodes of its types
void set_links(StreamOptions& self, const Ids& ends, LinkRule rule, std::optional<std::uint16_t> relation) {
  self.link_ends = ids_of(ends);
  self.links = rule;
  if (relation) self.link_relations.assign(self.link_ends.size() / 2, *relation);
}

/// The words of an enum.
template <class Enum>
nb::object words_of() {
  std::vector<std::string> words;
  for (const auto& [value, name] : names_of(Enum{})) words.emplace_back(name);
  return nb::cast(words);
}

void bind_link_rule(nb::module_& module) {
  nb::class_<LinkRule>(module, "LinkRule")
      .def(
          "__init__",
          [](LinkRule* self, int negatives, const std::string& sampler, const std::string& corrupt, bool is_strict,
             const std::string& exclude) {
            const auto drawn = value_named<NegativeSampler>(sampler);
            const auto end = value_named<CorruptedEnd>(corrupt);
            const auto entries = value_named<ExcludedEntries>(exclude);
            if (!drawn || !end || !entries || negatives < 0 || negatives > kMaxNegatives)
              fail(ErrorKind::kUsage, "negatives, sampler, corrupt and exclude are no rule of links");
            new (self) LinkRule{.negatives = negatives,
                                .sampler = *drawn,
                                .corrupt = *end,
                                .is_strict = is_strict,
                                .exclude = *entries};
          },
          nb::arg("negatives"), nb::arg("sampler"), nb::arg("corrupt"), nb::arg("is_strict"), nb::arg("exclude"));
  module.attr("NEGATIVE_SAMPLERS") = words_of<NegativeSampler>();
  module.attr("CORRUPTED_ENDS") = words_of<CorruptedEnd>();
  module.attr("EXCLUDED_ENTRIES") = words_of<ExcludedEntries>();
  module.attr("MAX_NEGATIVES") = kMaxNegatives;
}

void bind_rule(nb::module_& module) {
  nb::class_<SamplingRule>(module, "SamplingRule")
      .def(
          "__init__",
          [](SamplingRule* self, std::vector<int> fanouts, const std::string& draw,
             std::vector<std::vector<int>> of_relations) {
            const std::optional<Draw> named = value_named<Draw>(draw);
            const SamplingRule rule{std::move(fanouts), named.value_or(Draw::kUniform), std::move(of_relations)};
            if (!named || !are_fanouts(rule.fanouts) || !are_relation_fanouts(rule))
              fail(ErrorKind::kUsage, "fanouts and draw are no sampling rule");
            new (self) SamplingRule(rule);
          },
          nb::arg("fanouts"), nb::arg("draw"), nb::arg("of_relations") = std::vector<std::vector<int>>())
      .def_ro("fanouts", &SamplingRule::fanouts)
      .def_prop_ro("draw", [](const SamplingRule& self) { return name_of(self.draw); });
  module.attr("DRAWS") = words_of<Draw>();
  module.attr("TIME_RULES") = words_of<TimeOrder>();
  module.attr("TIME_STRATEGIES") = words_of<TimeStrategy>();
  module.def("are_fanouts", [](const std::vector<int>& fanouts) { return are_fanouts(fanouts); });
  module.def("reference_sample", &reference, nb::arg("dataset"), nb::arg("rule"), nb::arg("seeds"), nb::arg("key"));
}

/// Python lets go of a stream with its lock held, which a worker that pins memory waits for.
struct PythonStream : BatchStream {
  using BatchStream::BatchStream;
  ~PythonStream() {
    const LockReleased others_run;
    stop();
  }
};

std::unique_ptr<PythonStream> make_stream(const OpenDataset& dataset, const GraphOnDevice* graph,
                                          const StreamOptions& options, nb::object pin, nb::object unpin) {
  std::unique_ptr<PagePinner> pinner;
  if (!pin.is_none()) pinner = std::make_unique<TorchPinner>(std::move(pin), std::move(unpin));
  const LockReleased others_run;
  return std::make_unique<PythonStream>(dataset.data, graph == nullptr ? nullptr : graph->graph, options,
                                        std::move(pinner));
}

void bind_order(nb::module_& module) {
  nb::class_<EpochOrder>(module, "EpochOrder")
      .def(nb::init<>())
      .def("set_nodes", [](EpochOrder& self, const Ids& nodes) { self.nodes = ids_of(nodes); })
      .def_rw("batch_size", &EpochOrder::batch_size)
      .def_rw("shuffle", &EpochOrder::is_shuffled)
      .def_rw("drop_last", &EpochOrder::drops_last)
      .def_rw("seed", &EpochOrder::seed)
      .def_rw("rank", &EpochOrder::rank)
      .def_rw("num_ranks", &EpochOrder::num_ranks)
      .def_prop_ro("num_batches", &EpochOrder::num_batches);
}

}  // namespace

void bind_stream(nb::module_& module) {
  bind_batch(module);
  bind_rule(module);
  bind_link_rule(module);
  bind_order(module);
  nb::class_<StreamOptions>(module, "StreamOptions")
      .def(nb::init<>())
      .def_rw("rule", &StreamOptions::rule)
      .def(
          "set_time",
          [](StreamOptions& self, const std::string& order, std::optional<std::int64_t> window,
             const std::string& strategy) {
            const auto named = value_named<TimeOrder>(order);
            const auto how = value_named<TimeStrategy>(strategy);
            if (!named || !how) fail(ErrorKind::kUsage, "order and strategy are no rule of times");
            self.time = TimeRule{.order = *named, .window = window, .strategy = *how};
          },
          nb::arg("order"), nb::arg("window").none(), nb::arg("strategy"))
      .def("set_node_times",
           [](StreamOptions& self, const Ids& times) {
             self.node_times.assign(times.data(), times.data() + times.size());
           })
      .def(
          "carry_edges",
          [](StreamOptions& self, bool features, bool weights) {
            self.entries = {.places = true, .features = features, .weights = weights};
          },
          nb::arg("features"), nb::arg("weights"))
      .def_rw("disjoint", &StreamOptions::disjoint)
      .def("set_links", &set_links, nb::arg("ends"), nb::arg("rule"), nb::arg("relation").none())
      .def("set_link_times",
           [](StreamOptions& self, const Ids& times) {
             self.link_times.assign(times.data(), times.data() + times.size());
           })
      .def_rw("num_workers", &StreamOptions::num_workers)
      .def_rw("num_ahead", &StreamOptions::num_ahead)
      .def("leave_features_on_device", [](StreamOptions& self) { self.features = Residency::kDevice; })
      .def(
          "leave_cached",
          [](StreamOptions& self, const CachedNodes& nodes) {
            self.features = Residency::kCached;
            self.cached = nodes.set;
          },
          nb::arg("nodes"));
  using Release = nb::call_guard<LockReleased>;
  nb::class_<PythonStream>(module, "BatchStream")
      .def("start", &PythonStream::start, Release(), nb::arg("order"), nb::arg("epoch"), nb::arg("first"))
      .def("next", &PythonStream::next, Release(), nb::arg("run"))
      .def("stop", nb::overload_cast<std::uint64_t>(&PythonStream::stop), Release(), nb::arg("run"))
      .def("stop_all", nb::overload_cast<>(&PythonStream::stop), Release());
  module.def("make_stream", &make_stream, nb::arg("dataset"), nb::arg("graph").none(), nb::arg("options"),
             nb::arg("pin").none(), nb::arg("unpin").none());
}

}  // namespace salient::python
