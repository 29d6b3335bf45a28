// engine/paths/path_inputs.h - the rows of some questions, and passes over the graph by them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "engine/paths/path_pass.h"

namespace salient {

/// Rows of queries and of relations as each query sees them: products of the parameters. Borrows the parameters.
/// Memory: layers * R * d floats a question. Runs on the caller's oneTBB arena; equal bits in whatever block.
class PathInputs {
 public:
  PathInputs(const PathParameters& parameters, std::span<const PathQuestion> questions);

  std::size_t size() const { return questions_.size(); }
  std::size_t relations_size() const { return relations_size_; }  ///< layers * R * d
  PathInput of(std::size_t q) const;

  /// Adds what the gradients of these rows are to the parameters', in the order of the questions.
  /// @param queries  [size, d], which change   @param relations  [size, layers, R, d]
  void spread_gradients(float* queries, const float* relations, std::span<float> gradients) const;

 private:
  const PathParameters& parameters_;
  const std::span<const PathQuestion> questions_;
  const std::size_t relations_size_;
  std::vector<float> queries_{};    ///< [size, d]
  std::vector<float> relations_{};  ///< [size, layers, R, d]
};

/// Calls use(question, pass) for all, each on one thread at a time with a pass of its own, from several threads.
void for_each_pass(const PathParameters& parameters, std::size_t num_questions,
                   const std::function<void(std::size_t q, PathPass& pass)>& use);

/// Calls use(q, scores [nodes]) for each question, from several threads.
/// Memory: of 64 questions their rows, and a pass a thread
void score_questions(const PathParameters& parameters, const PathGraph& graph, std::span<const PathQuestion> questions,
                     const std::function<void(std::size_t q, std::span<const float> scores)>& use);

}  // namespace salient
