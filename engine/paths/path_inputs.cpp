// engine/paths/path_inputs.cpp - see path_inputs.h.
#include "engine/paths/path_inputs.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "engine/rank/for_each_item.h"
#include "engine/rank/ordered_product.h"

namespace salient {
namespace {

constexpr std::size_t kScoredAtATime = 64;

}  // namespace

PathInputs::PathInputs(const PathParameters& parameters, std::span<const PathQuestion> questions)
    : parameters_(parameters),
      questions_(questions),
      relations_size_(static_cast<std::size_t>(parameters.shape.layers * parameters.shape.relation_width())) {
  const std::int64_t d = parameters.shape.hidden, wide = parameters.shape.relation_width();
  const auto row_size = static_cast<std::int64_t>(relations_size_);
  queries_.resize(size() * static_cast<std::size_t>(d));
  relations_.resize(size() * relations_size_);
  const float* const values = parameters.values.data();
  for (std::size_t q = 0; q < size(); ++q) {
    std::copy_n(values + parameters.places.query + questions[q].relation * static_cast<std::size_t>(d), d,
                queries_.data() + q * static_cast<std::size_t>(d));
    for (std::size_t l = 0; l < parameters.places.layers.size(); ++l)
      std::copy_n(values + parameters.places.layers[l].relations_bias, wide,
                  relations_.data() + q * relations_size_ + l * static_cast<std::size_t>(wide));
  }
  for (std::size_t l = 0; l < parameters.places.layers.size(); ++l)
    ordered_product({std::ssize(questions), wide, d}, {queries_.data(), d, 1},
                    {values + parameters.places.layers[l].relations, 1, d},
                    relations_.data() + static_cast<std::int64_t>(l) * wide, row_size, true);
}

PathInput PathInputs::of(std::size_t q) const {
  return {questions_[q].head, queries_.data() + q * static_cast<std::size_t>(parameters_.shape.hidden),
          relations_.data() + q * relations_size_};
}

void PathInputs::spread_gradients(float* queries, const float* relations, std::span<float> gradients) const {
  const std::int64_t d = parameters_.shape.hidden, wide = parameters_.shape.relation_width();
  const auto row_size = static_cast<std::int64_t>(relations_size_), count = std::ssize(questions_);
  for (std::size_t l = 0; l < parameters_.places.layers.size(); ++l) {
    const PathLayerPlaces& place = parameters_.places.layers[l];
    const float* const of_layer = relations + static_cast<std::int64_t>(l) * wide;
    ordered_product({wide, d, count}, {of_layer, 1, row_size}, {queries_.data(), d, 1},
                    gradients.data() + place.relations, d, true);
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t k = 0; k < wide; ++k)
        gradients[place.relations_bias + static_cast<std::size_t>(k)] += of_layer[q * row_size + k];
    ordered_product({count, d, wide}, {of_layer, row_size, 1}, {parameters_.values.data() + place.relations, d, 1},
                    queries, d, true);
  }
  for (std::size_t q = 0; q < size(); ++q) {
    const std::size_t row = parameters_.places.query + questions_[q].relation * static_cast<std::size_t>(d);
    for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k)
      gradients[row + k] += queries[q * static_cast<std::size_t>(d) + k];
  }
}

void for_each_pass(const PathParameters& parameters, std::size_t num_questions,
                   const std::function<void(std::size_t q, PathPass& pass)>& use) {
  oneapi::tbb::enumerable_thread_specific<PathPass> passes([&] { return PathPass(parameters); });
  for_each_item(static_cast<std::int64_t>(num_questions), 1, [&](std::int64_t q) {
    // a thread that waits for a product's other half must not begin another question with the same pass
    oneapi::tbb::this_task_arena::isolate([&] { use(static_cast<std::size_t>(q), passes.local()); });
  });
}

void score_questions(const PathParameters& parameters, const PathGraph& graph, std::span<const PathQuestion> questions,
                     const std::function<void(std::size_t q, std::span<const float> scores)>& use) {
  for (std::size_t first = 0; first < questions.size(); first += kScoredAtATime) {
    const auto some = questions.subspan(first, std::min(kScoredAtATime, questions.size() - first));
    const PathInputs inputs(parameters, some);
    for_each_pass(parameters, some.size(),
                  [&](std::size_t q, PathPass& pass) { use(first + q, pass.forward(graph, inputs.of(q))); });
  }
}

}  // namespace salient
