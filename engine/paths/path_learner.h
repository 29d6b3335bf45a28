// engine/paths/path_learner.h - a path-based model as what a trainer of links trains.
#pragma once

#include <optional>
#include <vector>

#include "engine/links/link_learner.h"
#include "engine/links/link_options.h"
#include "engine/paths/path_graph.h"
#include "engine/paths/path_inputs.h"
#include "engine/paths/path_options.h"
#include "engine/rank/known_links.h"
#include "store/dataset.h"

namespace salient {

/// What shapes the parameters by a data set's relations.
PathShape path_shape_of(const Dataset& dataset, const LinkOptions& options, const PathOptions& paths);

/// The graph that questions are asked of: the training links. @throws Error{kUsage} for one without reverses
PathGraph path_graph_of(const Dataset& dataset);

/// A step leaves the links of its batch, and their reverses, out of the graph.
class PathLearner final : public LinkLearner {
 public:
  /// As a run begins. @param dataset  has_links, typed; borrowed, as the options   @throws as path_graph_of()
  PathLearner(const Dataset& dataset, const LinkOptions& options, const PathOptions& paths);

  const PathParameters& parameters() const { return parameters_; }

  double step(BatchKey key, std::span<const NodeId> batch) override;
  LinkRanks ranks(std::size_t split) override;
  FileDigest write_model(const std::filesystem::path& path) const override;
  FileDigest write_moments(const std::filesystem::path& path) const override;
  void read_model(const std::filesystem::path& path) override;
  void read_moments(const std::filesystem::path& path, std::int64_t steps) override;

 private:
  /// A side of a link that a batch asks for.
  struct Item {
    LinkSide side;
    NodeId link, target;
    std::span<const NodeId> known;  ///< answers of training
  };
  double loss_of(BatchKey key, const Item& item, std::span<const float> scores, float weight,
                 std::span<float> gradients) const;
  std::vector<NodeId> negatives_of(BatchKey key, const Item& item) const;
  void add_local_gradients(std::size_t num_questions);

  const Dataset& dataset_;
  const LinkOptions& options_;
  const PathOptions& paths_;
  const std::vector<std::optional<std::uint32_t>> reverses_;
  const PathGraph graph_;
  const KnownLinks known_, trained_on_;  ///< of all splits, of training
  PathParameters parameters_;
  RowMoments moments_;
  std::vector<float> gradients_{};                                                   ///< as parameters_.values
  std::vector<float> local_gradients_{}, query_gradients_{}, relation_gradients_{};  ///< of each question
};

}  // namespace salient
