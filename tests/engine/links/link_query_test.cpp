// tests/engine/links/link_query_test.cpp - a query's row scores links as the decoders' definitions do; its gradients.
#include "engine/links/link_query.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

namespace salient {
namespace {

constexpr DecoderKind kDecoders[] = {DecoderKind::kDistmult, DecoderKind::kComplex, DecoderKind::kRotate};
constexpr std::int64_t kHidden = 5;

using Row = std::vector<float>;

Row random_row(std::int64_t width, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Row row(static_cast<std::size_t>(width));
  for (float& value : row) value = normal(random);
  return row;
}

/// The decoder's definition, from head to tail, but for a margin.
double score_of(DecoderKind kind, const Row& head, const Row& relation, const Row& tail) {
  double score = 0;
  const auto complex_at = [](const Row& row, std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    return std::complex<double>(row[at], row[at + kHidden]);
  };
  for (std::int64_t k = 0; k < kHidden; ++k) {
    const auto at = static_cast<std::size_t>(k);
    switch (kind) {
      case DecoderKind::kDistmult: score += double{head[at]} * relation[at] * tail[at]; break;
      case DecoderKind::kComplex:
        score += (complex_at(head, k) * complex_at(relation, k) * std::conj(complex_at(tail, k))).real();
        break;
      case DecoderKind::kRotate:
        score += std::norm(complex_at(head, k) * std::polar(1.0, double{relation[at]}) - complex_at(tail, k));
        break;
      case DecoderKind::kDot:
      case DecoderKind::kMlp: break;
    }
  }
  return kind == DecoderKind::kRotate ? -std::sqrt(score) : score;
}

struct QueryCase {
  explicit QueryCase(DecoderKind kind) : shape{.decoder = kind, .hidden = kHidden, .num_nodes = 2, .num_relations = 1} {
    std::mt19937 random(7);
    node = random_row(shape.node_width(), random);
    other = random_row(shape.node_width(), random);
    relation = random_row(shape.relation_width(), random);
  }
  float score(bool is_turned) const {
    Row query(node.size());
    make_query({shape, is_turned, node.data(), relation.data()}, query.data());
    return pair_score(pair_score_of(shape.decoder), query.data(), other.data(), shape.node_width());
  }

  EmbeddingShape shape;
  Row node{}, other{}, relation{};
};

TEST(LinkQuery, ScoresAsTheDecoderDoesFromBothSides) {
  for (const DecoderKind kind : kDecoders) {
    const QueryCase given(kind);
    EXPECT_NEAR(given.score(false), score_of(kind, given.node, given.relation, given.other), 1e-5) << name_of(kind);
    EXPECT_NEAR(given.score(true), score_of(kind, given.other, given.relation, given.node), 1e-5) << name_of(kind);
  }
}

TEST(LinkQuery, GradientsAreThoseOfDifferences) {
  for (const DecoderKind kind : kDecoders)
    for (const bool is_turned : {false, true}) {
      QueryCase given(kind);
      std::mt19937 random(3);
      const Row gradient = random_row(given.shape.node_width(), random);
      const auto weighted = [&] {  // the sum of the query's numbers, weighted
        Row query(given.node.size());
        make_query({given.shape, is_turned, given.node.data(), given.relation.data()}, query.data());
        double sum = 0;
        for (std::size_t k = 0; k < query.size(); ++k) sum += double{gradient[k]} * query[k];
        return sum;
      };
      Row to_node(given.node.size()), to_relation(given.relation.size());
      query_gradients({given.shape, is_turned, given.node.data(), given.relation.data()}, gradient.data(),
                      to_node.data(), to_relation.data());
      for (const auto& [values, found] : {std::pair{&given.node, &to_node}, {&given.relation, &to_relation}})
        for (std::size_t k = 0; k < values->size(); ++k) {
          const float before = (*values)[k];
          (*values)[k] = before + 1e-2F;
          const double above = weighted();
          (*values)[k] = before - 1e-2F;
          const double below = weighted();
          (*values)[k] = before;
          EXPECT_NEAR((*found)[k], (above - below) / 2e-2, 2e-3) << name_of(kind) << ", number " << k;
        }
    }
}

TEST(LinkQuery, HeadsAreAskedForByTheReverseWhereThereIsOne) {
  const std::vector<NodeId> ends{3, 5};
  const std::vector<std::uint16_t> relations{1};
  const LinkTable links{ends, relations};
  GraphSchema schema{.node_types = {{.name = "e", .count = 9}},
                     .relations = {{.name = "a"}, {.name = "b"}, {.name = "rev_b", .reverse_of = 1}}};
  EXPECT_EQ(link_query(links, 0, LinkSide::kTail, reverses_of(schema)), (LinkQuery{3, 5, 1, false}));
  EXPECT_EQ(link_query(links, 0, LinkSide::kHead, reverses_of(schema)), (LinkQuery{5, 3, 2, false}));
  schema.relations.pop_back();
  EXPECT_EQ(link_query(links, 0, LinkSide::kHead, reverses_of(schema)), (LinkQuery{5, 3, 1, true}));
}

}  // namespace
}  // namespace salient
