// store/synthetic_relation.h - the edges of one relation of a generated typed graph, both ways, without storing any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/philox.h"
#include "store/index_permutation.h"
#include "store/stub_owners.h"
#include "store/synthetic_graph.h"

namespace salient {

/// How many edges the nodes of one end of a relation have.
struct DegreeLaw {
  double mean = 1;
  std::uint64_t max = 0;  ///< density ~ d^-3 up to here; 0: any number up to twice the mean, equally likely
};

/// Degrees of ranks under a law. @param salt  the draws of two tables with different ones are independent
class DegreeTable {
 public:
  DegreeTable(const DegreeLaw& law, PhiloxKey key, std::uint32_t salt);
  std::uint64_t degree_of(NodeId rank) const;

 private:
  DegreeLaw law_;
  PhiloxKey key_;
  std::uint32_t salt_;
  double spread_ = 0;  ///< of the power law: its mean, rounded down and capped, is that of the law
};

/// A bipartite graph drawn from the configuration model: nodes of both ends have stubs by their laws, and permutations
/// join the stubs of one end to those of the other. A share stays inside the node's community, of which both ends have
/// the same number. Stubs that the other end lacks join nothing. Permutations are computable both ways, so that each
/// row, of a destination or of a source, is generated on its own.
///
/// Memory: 12 bytes for each node of both ends, none per edge. Threads: any number may ask at the same time.
class SyntheticRelation {
 public:
  enum class End : std::uint8_t { kSource, kDestination };

  /// @param sources, destinations  as many communities each; outlive this
  SyntheticRelation(const Communities& sources, const DegreeLaw& of_sources, const Communities& destinations,
                    const DegreeLaw& of_destinations, double homophily, PhiloxKey key);

  /// Stubs of a rank of that end: no fewer than row() gives.
  std::uint64_t degree_of(End end, NodeId rank) const { return side(end).owners.degree_of(rank); }

  /// Writes the nodes, numbered from 0 in their type, that a rank of that end is joined to, repeats included.
  /// @param out  [degree_of(end, rank)]    @return  past the last
  NodeId* row(End end, NodeId rank, NodeId* out) const;

 private:
  struct Side {
    const Communities* communities;
    StubOwners owners;
    std::vector<std::uint64_t> bounds{};         ///< [C + 1] stubs of each community
    std::vector<IndexPermutation> shuffles{};    ///< [C] of a community's stubs: the first ones stay inside
    std::vector<std::uint64_t> outside_begin{};  ///< [C + 1] numbers of the others
    IndexPermutation outside{};                  ///< of those
  };
  const Side& side(End end) const { return sides_[static_cast<std::size_t>(end)]; }
  static Side draw_side(const Communities& communities, const DegreeLaw& law, PhiloxKey key, std::uint32_t salt);
  void share_out(double homophily, PhiloxKey key);
  std::uint64_t partner_of(const Side& from, const Side& to, std::size_t c, std::uint64_t stub) const;

  std::vector<Side> sides_;                  ///< by End
  std::vector<std::uint64_t> num_inside_{};  ///< [C]
  std::uint64_t num_outside_ = 0;            ///< that are joined
};

}  // namespace salient
