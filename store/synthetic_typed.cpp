// store/synthetic_typed.cpp - see synthetic_typed.h.
#include "store/synthetic_typed.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <utility>

#include "core/arena_of.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/value_text.h"
#include "store/csr_rows.h"
#include "store/synthetic_nodes.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::uint64_t>;
using End = SyntheticRelation::End;
constexpr std::string_view kPrefix = "synthetic:";
constexpr std::uint32_t kRelationKey = 0x52454C00;

/// Counts are the originals'; IGBH's are those of the four relations that its 5.8 G edges are.
std::array<SyntheticTypedOptions, 2> originals() {
  return {
      {{.name = "mag",
        .types = {{"paper", 736'389, 128}, {"author", 1'134'649}, {"institution", 8'740}, {"field_of_study", 59'965}},
        .edges = {{1, 2, "affiliated_with", 1'043'998, 0, 30'000},
                  {1, 0, "writes", 7'145'660, 1'000, 0},
                  {0, 0, "cites", 5'416'271, 0, 5'000},
                  {0, 3, "has_topic", 7'505'078, 0, 100'000}},
        .num_classes = 349,
        .split = {629'571, 64'879, 41'939},
        .homophily = 0.5,
        .label_fidelity = 0.6},
       {.name = "igbh",
        .types = {{"paper", 269'346'174, 1024},
                  {"author", 277'220'883, 1024},
                  {"institute", 26'918, 1024},
                  {"fos", 712'960, 1024}},
        .edges = {{0, 0, "cites", 3'996'442'004, 0, 100'000},
                  {0, 1, "written_by", 716'761'549, 0, 5'000},
                  {0, 3, "topic", 1'050'280'600, 0, 3'000'000},
                  {1, 2, "affiliated_to", 48'521'486, 0, 1'000'000}},
        .num_classes = 2983,
        .split = {94'605'581, 788'379, 788'379},
        .feature_type = FeatureType::kFp8}}};
}

SyntheticOptions nodes_of(const SyntheticTypedOptions& options, std::size_t t) {
  const SyntheticTypedOptions::Type& type = options.types[t];
  SyntheticOptions nodes{.name = type.name,
                         .num_nodes = type.count,
                         .feature_dim = type.feature_dim,
                         .feature_type = options.feature_type,
                         .num_classes = options.num_classes,
                         .split = {0, 0, 0},
                         .homophily = options.homophily,
                         .label_fidelity = options.label_fidelity,
                         .feature_signal = options.feature_signal,
                         .seed = options.seed + 0x01000000U * static_cast<std::uint32_t>(t + 1)};
  if (static_cast<int>(t) == options.target_type) nodes.split = options.split;
  return nodes;
}

/// The arrays behind a generated Dataset.
struct GeneratedTypes {
  explicit GeneratedTypes(std::shared_ptr<HostMemory> source)
      : memory(std::move(source)),
        graph(memory.get()),
        labels(UnsetHugePageAllocator<std::int32_t>(memory.get())),
        split{nodes(), nodes(), nodes()} {}
  using Nodes = UnsetHugeVector<NodeId>;
  Nodes nodes() const { return Nodes(UnsetHugePageAllocator<NodeId>(memory.get())); }
  UnsetHugeVector<std::byte> rows() const {
    return UnsetHugeVector<std::byte>(UnsetHugePageAllocator<std::byte>(memory.get()));
  }

  std::shared_ptr<HostMemory> memory;  // of all arrays; null = this process' own
  CsrArrays graph;
  std::vector<UnsetHugeVector<std::byte>> features{};  // by type
  UnsetHugeVector<std::int32_t> labels;
  std::array<Nodes, 3> split;
};

/// Generates rows of slots: those of relation r are of the ends of its edges, forward or reverse.
class TypedGraphMaker {
 public:
  TypedGraphMaker(const SyntheticTypedOptions& options, const GraphSchema& schema, const SlotTable& slots)
      : slots_(slots), num_forward_(options.edges.size()) {
    for (std::size_t t = 0; t < options.types.size(); ++t) communities_.emplace_back(nodes_of(options, t));
    for (std::size_t r = 0; r < num_forward_; ++r) {
      const SyntheticTypedOptions::Edges& edges = options.edges[r];
      const auto law = [&](int type, std::uint64_t max) {
        const auto nodes = static_cast<double>(options.types[static_cast<std::size_t>(type)].count);
        return DegreeLaw{static_cast<double>(edges.count) / nodes, max};
      };
      const PhiloxKey key{{options.seed, kRelationKey + (static_cast<std::uint32_t>(r) << 16)}};
      relations_.emplace_back(of(edges.src), law(edges.src, edges.max_out), of(edges.dst), law(edges.dst, edges.max_in),
                              options.homophily, key);
    }
    for (const Relation& relation : schema.relations) source_type_.push_back(static_cast<std::size_t>(relation.src));
  }

  void make(CsrArrays& graph) const {
    graph.indptr.resize(slots_.num_rows() + 1);
    graph.indptr[0] = 0;
    for_each_row([&](std::uint64_t row, const SyntheticRelation& relation, End end, NodeId rank, std::size_t) {
      graph.indptr[row + 1] = static_cast<EdgeOffset>(relation.degree_of(end, rank));
    });
    for (std::uint64_t row = 0; row < slots_.num_rows(); ++row) graph.indptr[row + 1] += graph.indptr[row];
    graph.indices.resize(static_cast<std::size_t>(graph.indptr.back()));
    UnsetHugeVector<NodeId> filled(slots_.num_rows());
    Progress progress("drawing and sorting edges", 2 * graph.indices.size(), "entries");
    for_each_row([&](std::uint64_t row, const SyntheticRelation& relation, End end, NodeId rank, std::size_t source) {
      NodeId* const begin = graph.indices.data() + graph.indptr[row];
      NodeId* const past = relation.row(end, rank, begin);
      for (NodeId* entry = begin; entry < past; ++entry) *entry += static_cast<NodeId>(slots_.node_begin[source]);
      const NodeId self = slots_.node_of_row(slots_.type_of_row(row), row);
      filled[row] = static_cast<NodeId>(std::remove(begin, past, self) - begin);
      progress.add(filled[row]);
    });
    tidy_rows(graph, filled, 0, progress);
  }

 private:
  const Communities& of(int type) const { return communities_[static_cast<std::size_t>(type)]; }

  /// Calls visit(row, relation, end, rank, source type) for every slot of every node, on the threads of the arena.
  template <class Visit>
  void for_each_row(Visit visit) const {
    for (std::size_t t = 0; t < slots_.num_types(); ++t)
      oneapi::tbb::parallel_for(Range(0, slots_.num_nodes_of(t), 256), [&](const Range& range) {
        for (std::uint64_t v = range.begin(); v < range.end(); ++v)
          for (std::uint32_t slot = 0; slot < slots_.num_slots[t]; ++slot) {
            const std::size_t r = slots_.relation_of(t, slot);
            const bool is_forward = r < num_forward_;
            visit(slots_.row_of(t, static_cast<NodeId>(slots_.node_begin[t] + v), slot),
                  relations_[is_forward ? r : r - num_forward_], is_forward ? End::kDestination : End::kSource,
                  static_cast<NodeId>(communities_[t].rank_of(static_cast<NodeId>(v))), source_type_[r]);
          }
      });
  }

  const SlotTable& slots_;
  std::size_t num_forward_;
  std::vector<Communities> communities_{};  // by type
  std::vector<SyntheticRelation> relations_{};
  std::vector<std::size_t> source_type_{};  // by relation
};

void count_entries(const CsrGraph& graph, const SlotTable& slots, GraphSchema& schema) {
  for (std::size_t t = 0; t < slots.num_types(); ++t)
    for (std::uint32_t slot = 0; slot < slots.num_slots[t]; ++slot) {
      std::uint64_t entries = 0;
      for (std::uint64_t row = slots.slot_begin[t] + slot; row < slots.slot_begin[t + 1]; row += slots.num_slots[t])
        entries += graph.degree(row);
      schema.relations[slots.relation_of(t, slot)].num_entries = entries;
    }
}

void write_nodes(const SyntheticTypedOptions& options, const SlotTable& slots, GeneratedTypes& made) {
  for (std::size_t t = 0; t < options.types.size(); ++t) {
    const SyntheticOptions of_type = nodes_of(options, t);
    const SyntheticNodes nodes(of_type);
    const std::size_t row_bytes = static_cast<std::size_t>(of_type.feature_dim) * size_of(of_type.feature_type);
    UnsetHugeVector<std::byte>& rows = made.features.emplace_back(made.rows());
    rows.resize(of_type.num_nodes * row_bytes);
    if (row_bytes > 0) {
      Progress progress("generating features of " + of_type.name, of_type.num_nodes, "rows");
      oneapi::tbb::parallel_for(Range(0, of_type.num_nodes, 1024), [&](const Range& range) {
        nodes.write_features(range.begin(), range.size(), rows.data() + range.begin() * row_bytes);
        progress.add(range.size());
      });
    }
    if (static_cast<int>(t) != options.target_type) continue;
    const std::array<std::vector<NodeId>, 3> split = nodes.split();
    made.labels.assign(of_type.num_nodes, -1);
    for (std::size_t part = 0; part < split.size(); ++part) {
      made.split[part].assign(split[part].begin(), split[part].end());
      for (NodeId& node : made.split[part]) {
        made.labels[node] = nodes.label_of(node);
        node += static_cast<NodeId>(slots.node_begin[t]);
      }
    }
  }
}

}  // namespace

GraphSchema schema_of(const SyntheticTypedOptions& options) {
  GraphSchema schema{.target_type = options.target_type};
  for (const SyntheticTypedOptions::Type& type : options.types) {
    FeatureShape shape{.dim = type.feature_dim, .type = options.feature_type};
    if (shape.dim > 0 && shape.type == FeatureType::kFp8) shape.fp8_scale = kSyntheticFp8Scale;
    schema.node_types.push_back({type.name, type.count, shape});
  }
  for (const SyntheticTypedOptions::Edges& edges : options.edges)
    schema.relations.push_back({.src = edges.src, .dst = edges.dst, .name = edges.name});
  for (std::size_t r = 0; r < options.edges.size(); ++r) {
    const SyntheticTypedOptions::Edges& edges = options.edges[r];
    schema.relations.push_back(
        {.src = edges.dst, .dst = edges.src, .name = "rev_" + edges.name, .reverse_of = static_cast<int>(r)});
  }
  number_slots(schema);
  return schema;
}

SyntheticTypedOptions synthetic_typed_like(std::string_view name, double scale) {
  const auto all = originals();
  const auto found = std::ranges::find(all, name, &SyntheticTypedOptions::name);
  if (found == all.end() || !(scale > 0 && scale <= 1))
    fail(ErrorKind::kUsage,
         "synthetic:NAME[:SCALE] of a typed graph takes mag or igbh, and a scale above 0 and at most 1");
  SyntheticTypedOptions options = *found;
  options.name = "synthetic-" + options.name;
  if (scale == 1) return options;
  options.name += "-" + to_text(scale);
  const auto shrink = [scale](std::uint64_t& count) {
    count = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(count) * scale));
  };
  for (SyntheticTypedOptions::Type& type : options.types) shrink(type.count);
  for (SyntheticTypedOptions::Edges& edges : options.edges) {
    shrink(edges.count);
    const auto cap = [&](std::uint64_t& max, int of) {
      if (max > 0) max = std::clamp<std::uint64_t>(options.types[static_cast<std::size_t>(of)].count / 8, 1, max);
    };
    cap(edges.max_out, edges.dst);
    cap(edges.max_in, edges.src);
  }
  for (std::uint64_t& count : options.split) shrink(count);
  std::uint64_t left = options.types[static_cast<std::size_t>(options.target_type)].count;
  for (std::uint64_t& count : options.split) left -= count = std::min(count, left);
  return options;
}

bool is_synthetic_typed_name(std::string_view dataset) {
  if (!dataset.starts_with(kPrefix)) return false;
  const std::string_view name = dataset.substr(kPrefix.size());
  const auto all = originals();
  return std::ranges::find(all, name.substr(0, name.find(':')), &SyntheticTypedOptions::name) != all.end();
}

SyntheticTypedOptions parse_synthetic_typed_name(std::string_view dataset) {
  require(is_synthetic_typed_name(dataset), "the name of a synthetic typed graph starts with synthetic:mag or :igbh");
  const std::string_view rest = dataset.substr(kPrefix.size());
  const std::size_t colon = rest.find(':');
  double scale = 1;
  if (colon != std::string_view::npos && !from_text(rest.substr(colon + 1), scale)) scale = 0;
  return synthetic_typed_like(rest.substr(0, colon), scale);
}

std::uint64_t synthetic_bytes(const SyntheticTypedOptions& options) {
  std::uint64_t bytes = slot_table_of(schema_of(options)).num_rows() * sizeof(EdgeOffset);
  for (const SyntheticTypedOptions::Type& type : options.types)
    bytes += type.count * static_cast<std::uint64_t>(type.feature_dim) * size_of(options.feature_type);
  for (const SyntheticTypedOptions::Edges& edges : options.edges) bytes += 2 * edges.count * sizeof(NodeId);
  return bytes + options.types[static_cast<std::size_t>(options.target_type)].count * sizeof(std::int32_t);
}

Dataset make_synthetic_dataset(const SyntheticTypedOptions& options, int num_threads,
                               std::shared_ptr<HostMemory> memory) {
  Dataset dataset;
  dataset.name = options.name;
  dataset.source_kind = "synthetic";
  dataset.num_classes = options.num_classes;
  dataset.types = schema_of(options);
  const SlotTable slots = slot_table_of(dataset.types);
  const auto made = std::make_shared<GeneratedTypes>(std::move(memory));
  arena_of(num_threads).execute([&] {
    write_nodes(options, slots, *made);
    TypedGraphMaker(options, dataset.types, slots).make(made->graph);
  });
  dataset.graph = made->graph.view();
  count_entries(dataset.graph, slots, dataset.types);
  if (const std::string rule = broken_rule(dataset.types); !rule.empty()) fail(ErrorKind::kUsage, rule);
  for (std::size_t t = 0; t < options.types.size(); ++t) {
    const FeatureShape& shape = dataset.types.node_types[t].features;
    FeatureTable table;
    if (shape.dim > 0)
      table.rows = {made->features[t].data(), options.types[t].count, shape.row_bytes(), shape.fp8_scale};
    dataset.type_features.push_back(table);
  }
  dataset.set_feature_shape(dataset.types.target().features);
  const std::string identity = options.name + " " + std::to_string(options.seed);
  dataset.fingerprint = to_hex(digest_of(std::as_bytes(std::span(identity))).xxh3);
  dataset.labels = made->labels;
  dataset.train = made->split[0];
  dataset.valid = made->split[1];
  dataset.test = made->split[2];
  dataset.storage = made;
  complete(dataset);
  return dataset;
}

}  // namespace salient
