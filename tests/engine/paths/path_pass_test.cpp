// tests/engine/paths/path_pass_test.cpp - passes and losses against a dense form in f64, gradients against differences.
#include "engine/paths/path_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "engine/paths/path_inputs.h"
#include "engine/paths/path_loss.h"
#include "engine/paths/relational_sum.h"

namespace salient {
namespace {

using Doubles = std::vector<double>;

/// Links of 7 nodes and 2 relations, whose reverses are 2 and 3; node 6 has none.
struct Links {
  std::vector<NodeId> ends{};
  std::vector<std::uint16_t> relations{};
  std::vector<std::optional<std::uint32_t>> reverses{2, 3, std::nullopt, std::nullopt};

  Links() {
    std::mt19937 random(3);
    std::set<std::tuple<NodeId, NodeId, int>> seen;
    for (int i = 0; i < 14; ++i) {
      const auto source = static_cast<NodeId>(random() % 6), destination = static_cast<NodeId>(random() % 6);
      const auto relation = static_cast<std::uint16_t>(random() % 2);
      if (!seen.insert({source, destination, relation}).second) continue;
      ends.insert(ends.end(), {source, destination});
      relations.push_back(relation);
    }
  }
  LinkTable table() const { return {ends, relations}; }
  PathGraph graph() const { return make_path_graph(table(), 7, reverses); }
};

/// The form as its paper says it, link by link, one number after the other.
class DenseForm {
 public:
  DenseForm(const PathShape& shape, const LinkTable& links) : shape_(shape), places_(shape), links_(links) {}

  Doubles scores(const Doubles& p, const PathQuestion& question) const {
    const auto d = static_cast<std::size_t>(shape_.hidden);
    const double* const query = p.data() + places_.query + question.relation * d;
    std::vector<Doubles> rows(7, Doubles(d));
    rows[question.head].assign(query, query + d);
    for (const PathLayerPlaces& at : places_.layers) rows = next(p, at, rows, query, question.head);
    Doubles scores(7);
    for (std::size_t v = 0; v < 7; ++v) {
      scores[v] = p[places_.score_bias];
      for (std::size_t j = 0; j < 2 * d; ++j) {
        double hidden = p[places_.hidden_bias + j];
        for (std::size_t k = 0; k < d; ++k)
          hidden += p[places_.hidden + j * 2 * d + k] * rows[v][k] + p[places_.hidden + j * 2 * d + d + k] * query[k];
        scores[v] += p[places_.score + j] * std::max(0.0, hidden);
      }
    }
    return scores;
  }

 private:
  double relation_number(const Doubles& p, const PathLayerPlaces& at, const double* query, std::size_t row) const {
    double value = p[at.relations_bias + row];
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape_.hidden); ++k)
      value += p[at.relations + row * static_cast<std::size_t>(shape_.hidden) + k] * query[k];
    return value;
  }

  std::vector<Doubles> next(const Doubles& p, const PathLayerPlaces& at, const std::vector<Doubles>& rows,
                            const double* query, NodeId head) const {
    const auto d = static_cast<std::size_t>(shape_.hidden);
    std::vector<Doubles> sums(7, Doubles(d)), result = rows;
    Doubles counts(7, 1);
    for (std::size_t k = 0; k < d; ++k) sums[head][k] = query[k];
    for (std::size_t i = 0; i < links_.size(); ++i)
      for (const bool back : {false, true}) {
        const NodeId from = back ? links_.destination(i) : links_.source(i);
        const NodeId to = back ? links_.source(i) : links_.destination(i);
        const std::size_t relation = links_.relations[i] + (back ? 2U : 0U);
        ++counts[to];
        for (std::size_t k = 0; k < d; ++k)
          sums[to][k] += rows[from][k] * relation_number(p, at, query, relation * d + k);
      }
    for (std::size_t v = 0; v < 7; ++v) {
      Doubles inner(d);
      double mean = 0, variance = 0;
      for (std::size_t j = 0; j < d; ++j) {
        inner[j] = p[at.linear_bias + j];
        for (std::size_t k = 0; k < d; ++k)
          inner[j] += p[at.linear + j * 2 * d + k] * rows[v][k] +
                      p[at.linear + j * 2 * d + d + k] * sums[v][k] / (shape_.sum == PathSum::kMean ? counts[v] : 1);
        mean += inner[j] / static_cast<double>(d);
      }
      for (const double value : inner) variance += (value - mean) * (value - mean) / static_cast<double>(d);
      for (std::size_t j = 0; j < d; ++j)
        result[v][j] +=
            std::max(0.0, (inner[j] - mean) / std::sqrt(variance + 1e-5) * p[at.norm + j] + p[at.norm_bias + j]);
    }
    return result;
  }

  const PathShape shape_;
  const PathPlaces places_;
  const LinkTable links_;
};

constexpr PathQuestion kQuestions[] = {{2, 1}, {6, 0}, {0, 3}};

PathShape small_shape(PathSum sum) { return {.hidden = 8, .layers = 2, .num_relations = 4, .sum = sum}; }

/// Norms that are neither 1 nor 0.
PathParameters some_parameters(PathSum sum) {
  PathParameters parameters(small_shape(sum), 5);
  for (const PathLayerPlaces& at : parameters.places.layers)
    for (std::size_t k = 0; k < 8; ++k) {
      parameters.values[at.norm + k] = 0.7F + 0.1F * static_cast<float>(k);
      parameters.values[at.norm_bias + k] = 0.3F - 0.1F * static_cast<float>(k);
    }
  return parameters;
}

TEST(RelationalSum, IsTheSumOfItsEntries) {
  const Links links;
  const PathGraph graph = links.graph();
  for (const std::int64_t width : {8, 32, 56}) {
    const auto size = static_cast<std::size_t>(width);
    std::vector<float> x(7 * size), relations(4 * size), out(7 * size, -1), wanted(7 * size);
    std::mt19937 random(1);
    for (std::vector<float>* some : {&x, &relations})
      for (float& value : *some) value = static_cast<float>(random() % 17) - 8;  // sums of whole numbers are exact
    relational_sum(graph, width, x.data(), relations.data(), out.data());
    for (std::size_t v = 0; v < 7; ++v)
      for (const auto& [node, relation] : graph.row(v))
        for (std::size_t k = 0; k < size; ++k)
          wanted[v * size + k] += x[node * size + k] * relations[relation * size + k];
    EXPECT_EQ(out, wanted) << width;
  }
}

TEST(PathGraph, HasBothDirectionsAndLeavesLinksOut) {
  const Links links;
  const PathGraph graph = links.graph();
  ASSERT_EQ(graph.entries.size(), 2 * links.relations.size());
  const NodeId left_out[] = {1, 4};
  const PathGraph rest = without_links(graph, left_out);
  EXPECT_EQ(rest.entries.size(), graph.entries.size() - 4);
  EXPECT_EQ(std::ranges::count(rest.link_of, 1U), 0);
  for (std::size_t v = 0; v < 7; ++v)
    for (const auto& [node, relation] : rest.row(v))
      EXPECT_EQ(std::ranges::count(rest.row(node), PathEntry{static_cast<NodeId>(v), rest.reverse_of[relation]}),
                std::ranges::count(rest.row(v), PathEntry{node, relation}));
}

TEST(PathPass, ScoresAreThoseOfTheDenseForm) {
  const Links links;
  const PathGraph graph = links.graph();
  for (const PathSum sum : {PathSum::kSum, PathSum::kMean}) {
    const PathParameters parameters = some_parameters(sum);
    const DenseForm dense(parameters.shape, links.table());
    const Doubles values(parameters.values.begin(), parameters.values.end());
    score_questions(parameters, graph, kQuestions, [&](std::size_t q, std::span<const float> scores) {
      const Doubles wanted = dense.scores(values, kQuestions[q]);
      for (std::size_t v = 0; v < 7; ++v) EXPECT_NEAR(scores[v], wanted[v], 1e-5) << name_of(sum) << q << v;
    });
  }
}

/// Of a weighted sum of all scores, every parameter by differences of the dense form.
TEST(PathPass, GradientsAreDifferencesOfTheDenseForm) {
  const Links links;
  const PathGraph graph = links.graph();
  for (const PathSum sum : {PathSum::kSum, PathSum::kMean}) {
    const PathParameters parameters = some_parameters(sum);
    const PathPlaces& places = parameters.places;
    const DenseForm dense(parameters.shape, links.table());
    const auto loss_of = [&](const Doubles& values) {
      double loss = 0;
      for (std::size_t q = 0; q < 3; ++q) {
        const Doubles scores = dense.scores(values, kQuestions[q]);
        for (std::size_t v = 0; v < 7; ++v) loss += scores[v] * (0.1 * static_cast<double>(v * (q + 1)) - 0.4);
      }
      return loss;
    };
    const PathInputs inputs(parameters, kQuestions);
    std::vector<float> gradients(places.size), queries(3 * 8), relations(3 * inputs.relations_size());
    PathPass pass(parameters);
    for (std::size_t q = 0; q < 3; ++q) {
      (void)pass.forward(graph, inputs.of(q));
      std::vector<float> by_score(7);
      for (std::size_t v = 0; v < 7; ++v) by_score[v] = 0.1F * static_cast<float>(v * (q + 1)) - 0.4F;
      pass.backward(graph, inputs.of(q), by_score,
                    {gradients.data(), queries.data() + q * 8, relations.data() + q * inputs.relations_size()});
    }
    inputs.spread_gradients(queries.data(), relations.data(), gradients);
    Doubles values(parameters.values.begin(), parameters.values.end());
    std::size_t num_moving = 0;
    for (std::size_t i = 0; i < places.size; ++i) {
      const double kept = values[i], step = 1e-6;
      values[i] = kept + step;
      const double above = loss_of(values);
      values[i] = kept - step;
      const double wanted = (above - loss_of(values)) / (2 * step);
      values[i] = kept;
      num_moving += std::abs(wanted) > 1e-4;
      EXPECT_NEAR(gradients[i], wanted, 2e-5 + 2e-5 * std::abs(wanted)) << name_of(sum) << " parameter " << i;
    }
    EXPECT_GT(num_moving, places.size / 2);
  }
}

void expect_gradients(const std::function<double(std::span<const float>, std::span<float>)>& loss) {
  std::vector<float> scores{0.5F, -1.25F, 2, 0.125F, -0.75F}, gradients(5), unused(5);
  (void)loss(scores, gradients);
  for (std::size_t v = 0; v < scores.size(); ++v) {
    const float kept = scores[v], step = 1.0F / 1024;
    scores[v] = kept + step;
    const double above = loss(scores, unused);
    scores[v] = kept - step;
    EXPECT_NEAR(gradients[v], 3 * (above - loss(scores, unused)) / (2 * double{step}), 1e-4) << v;  // f32 powers
    scores[v] = kept;
  }
}

TEST(PathLoss, SoftmaxLeavesOtherAnswersOut) {
  const NodeId known[] = {1, 2};
  expect_gradients([&](std::span<const float> scores, std::span<float> gradients) {
    return path_softmax_loss(scores, 1, known, 3, gradients);
  });
  const std::vector<float> scores{0, 1, 9, 0};
  std::vector<float> gradients(4);
  EXPECT_NEAR(path_softmax_loss(scores, 1, known, 1, gradients), std::log(1 + 2 * std::exp(-1.0)), 1e-6);
  EXPECT_EQ(gradients[2], 0);
}

TEST(PathLoss, NegativesWeighByTheirScores) {
  const NodeId negatives[] = {0, 3, 3};
  expect_gradients([&](std::span<const float> scores, std::span<float> gradients) {
    return path_bce_loss(scores, 1, negatives, 0, 3, gradients);
  });
  const std::vector<float> scores{4, 1, 0};
  const NodeId two[] = {0, 2};
  std::vector<float> gradients(3);
  const double share = 1 / (1 + std::exp(-8.0));  // of score 4 beside 0 at a temperature of 1/2
  const double wanted =
      (std::log1p(std::exp(-1.0)) + share * std::log1p(std::exp(4.0)) + (1 - share) * std::log(2.0)) / 2;
  EXPECT_NEAR(path_bce_loss(scores, 1, two, 0.5, 1, gradients), wanted, 1e-6);
  EXPECT_NEAR(gradients[0], share / (1 + std::exp(-4.0)) / 2, 1e-6);
}

TEST(PathLoss, ATinyTemperatureLeavesNumbers) {
  const std::vector<float> scores{4, 1, 0};
  const NodeId negatives[] = {0, 2};
  std::vector<float> gradients(3);
  EXPECT_TRUE(std::isfinite(path_bce_loss(scores, 1, negatives, 1e-320, 1, gradients)));
}

TEST(PathLoss, NoNegativeIsAnAnswer) {
  std::vector<NodeId> known(1000);
  std::iota(known.begin(), known.end(), NodeId{0});
  known.erase(known.begin() + 970);
  known.erase(known.begin() + 20);
  std::map<NodeId, int> found;
  for (std::uint32_t item = 0; item < 200; ++item)
    for (const NodeId node : path_negatives(Draws({.seed = 1}, 9, item), 8, 1000, known)) ++found[node];
  EXPECT_EQ(found.size(), 2U);
  EXPECT_GT(found[20], 650);
  EXPECT_GT(found[970], 650);
  known.insert(known.begin() + 20, 20);
  known.insert(known.begin() + 970, 970);
  EXPECT_TRUE(path_negatives(Draws({.seed = 1}, 9, 0), 8, 1000, known).empty());
}

}  // namespace
}  // namespace salient
