// engine/links/link_steps.cpp - see link_steps.h.
#include "engine/links/link_steps.h"

#include <cmath>
#include <utility>

#include "engine/links/batch_queries.h"
#include "engine/links/candidate_softmax.h"
#include "engine/links/row_groups.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

constexpr std::uint32_t kNegativeDraws = 0xFFFFFFFE;  // a hop that no sampler uses

/// Adds to the gradient of a row what its penalty is: `weight` |z| z of each number, complex ones where there are two
/// halves.
void add_n3_gradient(std::int64_t hidden, std::int64_t halves, const float* row, float weight, float* gradient) {
  for (std::int64_t k = 0; k < hidden; ++k) {
    const float re = row[k], im = halves == 2 ? row[hidden + k] : 0;
    const float scaled = weight * std::sqrt(re * re + im * im);
    gradient[k] += scaled * re;
    if (halves == 2) gradient[hidden + k] += scaled * im;
  }
}

}  // namespace

LinkState initial_state(const EmbeddingShape& shape, const LinkOptions& options) {
  const RowOptimiser optimiser{.rule = options.optimiser};
  LinkState state{.embeddings = initial_embeddings(shape, options.seed)};
  state.node_moments = optimiser.moments_of(state.embeddings.nodes);
  state.relation_moments = optimiser.moments_of(state.embeddings.relations);
  return state;
}

/// One batch in work.
class LinkSteps::Batch {
 public:
  Batch(const LinkOptions& options, LinkState& state)
      : options_(options), state_(state), shape_(state.embeddings.shape), queries_(shape_, options.dropout) {}

  double run(BatchKey key, std::vector<LinkQuery> queries, std::span<const NodeId> links) {
    queries_.start(state_.embeddings, key, std::move(queries), links);
    const SoftmaxProblem problem{.kind = pair_score_of(shape_.decoder),
                                 .width = shape_.node_width(),
                                 .candidates = state_.embeddings.nodes.data(),
                                 .num_candidates = shape_.num_nodes,
                                 .queries = queries_.rows(),
                                 .targets = queries_.targets(),
                                 .label_smoothing = static_cast<float>(options_.label_smoothing)};
    double loss = 0;
    if (has_all()) {
      node_gradients_.resize(state_.embeddings.nodes.size());
      loss = full_softmax(problem, queries_.gradients(), node_gradients_.data());
    } else {
      draw_negatives(key);
      loss = sampled_softmax(problem, negatives_, weights_.data(), queries_.gradients());
    }
    if (!std::isfinite(loss)) return loss;
    const float* const relation_gradients = queries_.spread_gradients();
    const RowGroups groups = group_by_row(rows_of_items());
    if (!has_all()) node_gradients_.assign(groups.rows.size() * node_width(), 0.F);
    add_node_gradients(groups, problem);
    const RowGroups relations = group_relations(relation_gradients);
    const RowOptimiser optimiser{options_.optimiser, static_cast<float>(options_.lr),
                                 static_cast<float>(options_.weight_decay)};
    optimiser.step(state_.embeddings.nodes, shape_.node_width(), {groups.rows, has_all()}, node_gradients_.data(),
                   state_.node_moments);
    optimiser.step(state_.embeddings.relations, shape_.relation_width(), {relations.rows, has_all()},
                   relation_gradients_.data(), state_.relation_moments);
    return loss;
  }

 private:
  bool has_all() const { return options_.negatives == 0; }
  std::size_t node_width() const { return static_cast<std::size_t>(shape_.node_width()); }
  std::size_t num_negatives() const { return static_cast<std::size_t>(options_.negatives); }

  void draw_negatives(BatchKey key) {
    negatives_.resize(queries_.size() * num_negatives());
    weights_.resize(queries_.size() * (1 + num_negatives()));
    for_each_item(static_cast<std::int64_t>(queries_.size()), 8, [&](std::int64_t item) {
      const auto q = static_cast<std::size_t>(item);
      Draws draws(key, kNegativeDraws, queries_.draw_of(q));
      for (std::size_t j = 0; j < num_negatives(); ++j)
        negatives_[q * num_negatives() + j] =
            draws.below(static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(shape_.num_nodes));
    });
  }

  /// The node of each query, then the targets, then the negatives.
  std::vector<std::uint32_t> rows_of_items() const {
    std::vector<std::uint32_t> rows;
    rows.reserve(2 * queries_.size() + negatives_.size());
    for (const LinkQuery& query : queries_.queries()) rows.push_back(query.node);
    rows.insert(rows.end(), queries_.targets().begin(), queries_.targets().end());
    rows.insert(rows.end(), negatives_.begin(), negatives_.end());
    return rows;
  }

  /// @param num_rows  how often a row is one of a link's
  float n3_weight(std::size_t num_rows) const {
    return static_cast<float>(3 * options_.n3 * static_cast<double>(num_rows) / static_cast<double>(queries_.size()));
  }

  void add_node_gradients(const RowGroups& groups, const SoftmaxProblem& problem) {
    const std::size_t count = queries_.size(), width = node_width(), per_query = num_negatives();
    for_each_item(std::ssize(groups.rows), 16, [&](std::int64_t group) {
      const auto g = static_cast<std::size_t>(group);
      const float* const own = state_.embeddings.node(groups.rows[g]);
      float* const gradient = node_gradients_.data() + (has_all() ? groups.rows[g] : g) * width;
      std::size_t num_rows = 0;
      for (const std::uint32_t item : groups.items_of(g)) {
        num_rows += item < 2 * count;
        if (item < count) {
          for (std::size_t k = 0; k < width; ++k) gradient[k] += queries_.gradients()[item * width + k];
        } else if (!has_all()) {
          const bool is_target = item < 2 * count;
          const std::size_t q = is_target ? item - count : (item - 2 * count) / per_query;
          const std::size_t j = is_target ? 0 : 1 + (item - 2 * count) % per_query;
          add_candidate_gradient(problem.kind, problem.width, weights_[q * (1 + per_query) + j],
                                 queries_.rows() + q * width, own, gradient);
        }
      }
      if (options_.n3 > 0 && num_rows > 0)
        add_n3_gradient(shape_.hidden, node_halves(shape_.decoder), own, n3_weight(num_rows), gradient);
    });
  }

  /// Sums the gradients of each relation's row, and adds its penalty. @return the relations of the batch
  RowGroups group_relations(const float* gradients) {
    std::vector<std::uint32_t> relation_of;
    for (const LinkQuery& query : queries_.queries()) relation_of.push_back(query.relation);
    RowGroups groups = group_by_row(relation_of);
    const auto width = static_cast<std::size_t>(shape_.relation_width());
    relation_gradients_.assign(has_all() ? state_.embeddings.relations.size() : groups.rows.size() * width, 0.F);
    for_each_item(std::ssize(groups.rows), 1, [&](std::int64_t group) {
      const auto g = static_cast<std::size_t>(group);
      float* const gradient = relation_gradients_.data() + (has_all() ? groups.rows[g] : g) * width;
      for (const std::uint32_t item : groups.items_of(g))
        for (std::size_t k = 0; k < width; ++k) gradient[k] += gradients[item * width + k];
      if (options_.n3 > 0 && shape_.decoder != DecoderKind::kRotate)  // angles have no size
        add_n3_gradient(shape_.hidden, relation_halves(shape_.decoder), state_.embeddings.relation(groups.rows[g]),
                        n3_weight(groups.items_of(g).size()), gradient);
    });
    return groups;
  }

  const LinkOptions& options_;
  LinkState& state_;
  const EmbeddingShape shape_;
  BatchQueries queries_;
  std::vector<NodeId> negatives_{};  ///< [queries, K]
  std::vector<float> weights_{};     ///< [queries, 1 + K]
  std::vector<float> node_gradients_{}, relation_gradients_{};
};

LinkSteps::LinkSteps(const LinkTable& links, std::span<const std::optional<std::uint32_t>> reverses,
                     const LinkOptions& options, LinkState& state)
    : links_(links),
      reverses_(reverses),
      options_(options),
      state_(state),
      memory_(std::make_unique<Batch>(options, state)) {}
LinkSteps::~LinkSteps() = default;

double LinkSteps::step(BatchKey key, std::span<const NodeId> batch) {
  std::vector<LinkQuery> queries;
  for (const NodeId link : batch)
    for (const LinkSide side : kLinkSides) queries.push_back(link_query(links_, link, side, reverses_));
  return memory_->run(key, std::move(queries), batch);
}

}  // namespace salient
