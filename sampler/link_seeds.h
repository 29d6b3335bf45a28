// sampler/link_seeds.h - from the links of a batch to the nodes that are sampled for them, and the pairs to be scored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "sampler/draws.h"
#include "sampler/exclusions.h"
#include "sampler/id_map.h"
#include "sampler/link_relations.h"
#include "sampler/link_rule.h"
#include "sampler/negative_draws.h"

namespace salient {

/// The pairs that stand for what is no link: functions of (key, link, number of the negative), and with kInBatch of the
/// links of the batch, so that they are the same for any number of ranks and threads, and however links are dealt to
/// them. Copies share what they have in memory, of kDegree 4 bytes a node. Of a typed graph an end is replaced by nodes
/// of its type.
class LinkNegatives {
 public:
  /// @param graph      borrowed; of at least two nodes, of kDegree with entries
  /// @param ends       [n, 2] of all links, borrowed; read by kInBatch alone
  /// @param given      of kGiven, not empty
  /// @param relations  of a typed graph; with kInBatch all links have ends of the same two types
  LinkNegatives(CsrGraph graph, const LinkRule& rule, std::span<const NodeId> ends = {}, const GivenEnds& given = {},
                LinkRelations relations = {});

  /// Negative j of link number i: its corrupted end is draw j of Draws(key, kNegativeDraws, i), with kJoint of
  /// Draws(key, kNegativeDraws, 0xFFFFFFFF). One that breaks a rule is draw j + K a instead, a = 1 .. 15, and then
  /// kept: with is_strict an entry of the graph, in this direction, or a node with itself; with kInBatch the link
  /// itself. Of kGiven the draw is the number of one of the link's destinations, or of a pair, whichever end is to be
  /// corrupted.
  ///
  /// @param j      below rule.negatives
  /// @param batch  [B] numbers of the links of all ranks; read by kInBatch alone, which needs one
  /// Cost: one Philox block for four neighbouring j; of kDegree a binary search over the nodes.
  NodePair of(BatchKey key, std::uint32_t i, NodePair link, int j, std::span<const NodeId> batch = {}) const;

  /// Calls add(EntryKey) for what a batch that predicts a link must not see of it: the link, its reverses, and of a
  /// relation of one node type the link the other way round.
  template <class Add>
  void exclude(NodeId number, const Add& add) const;

  /// The relation of a link; 0 of a plain graph.
  std::uint16_t relation(NodeId number) const {
    return graph_.slots == nullptr ? std::uint16_t{0} : relations_.of_links[number];
  }
  CsrGraph graph() const { return graph_; }
  const LinkRule& rule() const { return rule_; }
  /// Of all links. @param number  of one
  NodePair link(NodeId number) const { return {ends_[2 * std::size_t{number}], ends_[2 * std::size_t{number} + 1]}; }

 private:
  /// The nodes that an end may be: of a typed graph those of its type.
  struct Candidates {
    NodeId first;
    std::uint32_t count;
  };
  Candidates candidates(std::uint32_t i, bool is_source) const;
  NodeId drawn(Draws& draws, std::uint32_t draw, std::uint32_t i, bool is_source, std::span<const NodeId> batch) const;
  bool is_entry(const NodePair& pair, std::uint32_t i) const;
  bool is_refused(const NodePair& pair, const NodePair& link, std::uint32_t i) const;
  NodePair given(Draws& draws, std::uint32_t draw, std::uint32_t i, const NodePair& link) const;

  CsrGraph graph_;
  LinkRule rule_;
  std::span<const NodeId> ends_;
  GivenEnds given_;
  LinkRelations relations_;
  std::shared_ptr<const std::vector<std::uint32_t>>
      begin_of_;  // [V] of kDegree: the share of nodes before, of its type, of 2^32 - 1
};

template <class Add>
void LinkNegatives::exclude(NodeId number, const Add& add) const {
  const auto [source, destination] = link(number);
  if (graph_.slots == nullptr) {
    add(entry_key(destination, source));
    add(entry_key(source, destination));
    return;
  }
  const LinkedRelation& of = relations_.all[relations_.of_links[number]];
  const auto add_slot = [&](std::size_t type, NodeId node, std::uint32_t slot, NodeId neighbor) {
    add(entry_key(static_cast<std::uint32_t>(graph_.slots->row_of(type, node, slot)), neighbor));
  };
  add_slot(of.dst, destination, of.slot, source);
  if (of.reverse_slot) add_slot(of.src, source, *of.reverse_slot, destination);
  if (of.src != of.dst) return;
  add_slot(of.dst, source, of.slot, destination);
  if (of.reverse_slot) add_slot(of.src, destination, *of.reverse_slot, source);
}

/// Who finds the places of what a batch does not see.
enum class FindsPlaces : std::uint8_t {
  kHost,    ///< LinkSeeds::excluded()
  kDevice,  ///< from LinkSeeds::excluded_keys()
};

/// One worker's scratch memory: it keeps it from batch to batch.
class LinkSeeds {
 public:
  /// @param negatives  with the ends of all links; what they borrow outlives it
  /// @param times      [n] of all links, borrowed: the ends of a link and of its negatives are seen at its time, by
  ///                   which nothing is excluded; empty: they have none
  explicit LinkSeeds(LinkNegatives negatives, std::span<const std::int64_t> times = {},
                     FindsPlaces places = FindsPlaces::kHost);

  /// @param links  [B] numbers of this rank's links    @param batch  those of all ranks, `links` among them
  void make(std::span<const NodeId> links, std::span<const NodeId> batch, BatchKey key);

  /// The distinct ends of the links and of their negatives, in the order of first sight; with times a node is there
  /// once for each time.
  std::span<const NodeId> seeds() const { return seeds_; }

  /// [seeds().size()] when each is seen, in memory that stays from make() to make(); without times 0.
  const std::vector<std::int64_t>& seed_times() const { return seed_times_; }

  /// [B (1 + K), 2] numbers of source and destination in seeds(): the links, then the K negatives of the first link,
  /// those of the second, ... Of a typed graph [B (1 + K), 3], with the relation behind them.
  std::span<const LocalId> pairs() const { return pairs_; }
  std::size_t num_pairs() const { return pairs_.size() / (negatives_.graph().slots == nullptr ? 2 : 3); }

  /// What the batch of all ranks does not see: valid until the next make().
  const Exclusions& excluded() const { return excluded_; }
  /// The same with FindsPlaces::kDevice, in any order, in memory that stays from make() to make().
  const std::vector<EntryKey>& excluded_keys() const { return excluded_keys_; }

 private:
  void add_pair(NodeId link, const NodePair& pair);

  LinkNegatives negatives_;
  std::span<const std::int64_t> times_;
  FindsPlaces places_;
  KeyMap<std::uint64_t> map_;       // number of the time << 32 | node
  KeyMap<std::uint64_t> time_map_;  // by their bits
  std::vector<NodeId> seeds_;       // by number, as the next
  std::vector<std::int64_t> seed_times_;
  std::vector<LocalId> pairs_;
  Exclusions excluded_;
  std::vector<EntryKey> excluded_keys_;
};

}  // namespace salient
