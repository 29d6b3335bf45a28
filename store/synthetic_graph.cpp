// store/synthetic_graph.cpp - see synthetic_graph.h.
#include "store/synthetic_graph.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

#include "store/csr_rows.h"
#include "store/stub_owners.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t kGrain = 4096;

PhiloxKey key_of(const SyntheticOptions& options) { return {{options.seed, 0x53594E54}}; }

/// Stubs [first, first + permutation.size()) are joined among each other.
struct PairingPool {
  std::uint64_t first = 0;
  IndexPermutation permutation{};

  std::uint64_t partner_of(std::uint64_t stub) const {
    const std::uint64_t place = permutation(stub - first) ^ 1;
    return place < permutation.size() ? first + permutation.inverse(place) : kNoStub;  // the last of an odd number
  }
};

}  // namespace

struct SyntheticGraph::Stubs {
  StubOwners inside, outside;             ///< two numberings: ends that stay in the community, ends that leave it
  std::vector<PairingPool> inside_pools;  ///< [num_classes]
  PairingPool outside_pool;

  static Stubs draw(const SyntheticOptions& options, const Communities& communities);
  std::uint64_t degree_of(std::uint64_t rank) const { return inside.degree_of(rank) + outside.degree_of(rank); }
};

/// Degrees: 1 + a Lomax variable of shape 2, which only takes a square root, so that every machine gets the same bits.
SyntheticGraph::Stubs SyntheticGraph::Stubs::draw(const SyntheticOptions& options, const Communities& communities) {
  const PhiloxKey key = key_of(options);
  UnsetHugeVector<std::uint64_t> inside(options.num_nodes + 1), outside(options.num_nodes + 1);
  const double spread = std::max(options.mean_degree - 0.5, 0.0);
  const auto cap = static_cast<double>(options.max_degree);
  oneapi::tbb::parallel_for(Range(0, options.num_nodes, kGrain), [&](const Range& range) {
    for (std::uint64_t r = range.begin(); r < range.end(); ++r) {
      const PhiloxBlock draw =
          philox4x32(key, {{static_cast<std::uint32_t>(r), 0, 0, static_cast<std::uint32_t>(SyntheticDraw::kDegree)}});
      const double u = (draw.word[0] + 0.5) * 0x1p-32;
      const double degree = std::min(1 + std::floor(spread * (1 / std::sqrt(u) - 1)), cap);
      const double stays = std::floor(degree * options.homophily + draw.word[1] * 0x1p-32);
      inside[r + 1] = static_cast<std::uint64_t>(stays);
      outside[r + 1] = static_cast<std::uint64_t>(degree - stays);
    }
  });
  inside[0] = outside[0] = 0;
  for (std::uint64_t r = 0; r < options.num_nodes; ++r) {
    inside[r + 1] += inside[r];
    outside[r + 1] += outside[r];
  }
  const auto tag = static_cast<std::uint32_t>(SyntheticDraw::kPairing);
  std::vector<PairingPool> inside_pools;
  for (int c = 0; c < options.num_classes; ++c) {
    const std::uint64_t first = inside[communities.first_rank(c)], end = inside[communities.first_rank(c + 1)];
    inside_pools.push_back(
        {first, IndexPermutation(end - first, {{key.word[0], key.word[1] + 1 + static_cast<std::uint32_t>(c)}}, tag)});
  }
  const PairingPool outside_pool{0, IndexPermutation(outside.back(), key, tag)};
  return {StubOwners(std::move(inside)), StubOwners(std::move(outside)), std::move(inside_pools), outside_pool};
}

namespace {

/// Appends the nodes at the other ends of rank `self`'s stubs to `out`; returns its end.
NodeId* join(const StubOwners& owners, const PairingPool& pool, NodeId self, const Communities& communities,
             NodeId* out) {
  owners.visit_partners(
      owners.begin_of(self), owners.end_of(self), [&](std::uint64_t stub) { return pool.partner_of(stub); },
      [&](NodeId rank) {
        if (rank != self) *out++ = communities.node_of(rank);
      });
  return out;
}

}  // namespace

Communities::Communities(const SyntheticOptions& options)
    : rank_(options.num_nodes, key_of(options), static_cast<std::uint32_t>(SyntheticDraw::kRank)) {
  double total = 0, sum = 0;
  for (int c = 0; c < options.num_classes; ++c) total += 1.0 / (c + 3);
  bounds_.push_back(0);
  for (int c = 0; c < options.num_classes; ++c) {
    sum += 1.0 / (c + 3);
    bounds_.push_back(static_cast<std::uint64_t>(sum / total * static_cast<double>(options.num_nodes)));
  }
  bounds_.back() = options.num_nodes;
}

int Communities::community_of(std::uint64_t rank) const {
  return static_cast<int>(std::ranges::upper_bound(bounds_, rank) - bounds_.begin()) - 1;
}

SyntheticGraph::SyntheticGraph(const SyntheticOptions& options, const Communities& communities)
    : options_(options), communities_(communities), stubs_(new Stubs(Stubs::draw(options, communities))) {}

SyntheticGraph::~SyntheticGraph() = default;

CsrArrays SyntheticGraph::rows(std::uint64_t first, std::uint64_t end, Progress& progress, HostMemory* memory) const {
  const Stubs& stubs = *stubs_;
  const std::uint64_t num_rows = end - first;
  const auto rank_of = [&](std::uint64_t row) { return communities_.rank_of(static_cast<NodeId>(first + row)); };
  CsrArrays graph(memory);
  graph.indptr.resize(num_rows + 1);
  graph.indptr[0] = 0;
  oneapi::tbb::parallel_for(Range(0, num_rows, kGrain), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v)
      graph.indptr[v + 1] = static_cast<EdgeOffset>(stubs.degree_of(rank_of(v)));
  });
  for (std::uint64_t v = 0; v < num_rows; ++v) graph.indptr[v + 1] += graph.indptr[v];
  graph.indices.resize(static_cast<std::size_t>(graph.indptr.back()));

  UnsetHugeVector<NodeId> filled(num_rows);
  oneapi::tbb::parallel_for(Range(0, num_rows, 256), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
      const auto rank = static_cast<NodeId>(rank_of(v));
      const PairingPool& pool = stubs.inside_pools[static_cast<std::size_t>(communities_.community_of(rank))];
      NodeId* const row = graph.indices.data() + graph.indptr[v];
      NodeId* past = join(stubs.inside, pool, rank, communities_, row);
      past = join(stubs.outside, stubs.outside_pool, rank, communities_, past);
      filled[v] = static_cast<NodeId>(past - row);
    }
    progress.add(static_cast<std::uint64_t>(graph.indptr[range.end()] - graph.indptr[range.begin()]));
  });
  tidy_rows(graph, filled, static_cast<NodeId>(first), progress);
  return graph;
}

CsrArrays make_synthetic_graph(const SyntheticOptions& options, const Communities& communities, HostMemory* memory) {
  const SyntheticGraph graph(options, communities);
  const auto entries = static_cast<std::uint64_t>(static_cast<double>(options.num_nodes) * options.mean_degree);
  Progress progress("drawing and sorting edges", 2 * entries, "entries");
  return graph.rows(0, options.num_nodes, progress, memory);
}

}  // namespace salient
