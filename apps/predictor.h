// apps/predictor.h - a trained run as a function: node ids in, logits or values out. For programs of one's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/new_nodes.h"
#include "core/device_kind.h"
#include "engine/plan/step_kind.h"
#include "store/dataset.h"
#include "store/open_store.h"

namespace salient {

/// Empty and 0 mean: as in the run, or what suits the machine.
struct PredictorOptions {
  std::string dataset{};                              ///< another one than the run's; fit_to_run() says which do
  FeatureMatch match_features = FeatureMatch::kName;  ///< how its columns are found
  std::string data_root{};                            ///< where data sets that have only a name are
  GraphKind graphs = GraphKind::kPlain;               ///< kAny: a typed one, too; its nodes have the graph's ids
  bool predicts_links = false;                        ///< the run's, whose rows of nodes are then what logits() gives
  std::string checkpoint = "best";                    ///< or "latest" | "epoch-NNNN"
  std::vector<int> fanouts{};          ///< neighbours kept per node and hop, the nodes' own hop first; -1 = all
  std::optional<DeviceKind> device{};  ///< none = a GPU where there is one
  std::optional<StepKind> step{};      ///< of known nodes; none = resident where model, fanouts, GPU memory allow it
  int workers = 0;                     ///< threads that prepare batches
  int threads = 0;                     ///< of the dense layers on a CPU
  std::int64_t max_new_edges = 0;      ///< sampled for new nodes in one call
};

/// What a predictor applies, and how.
struct PredictorFacts {
  std::string model{};  ///< "sage"
  int num_layers = 0;
  std::vector<int> fanouts{};  ///< as in PredictorOptions
  std::string checkpoint{};    ///< "epoch-0012"
  std::string precision{};     ///< "bf16"
  DeviceKind device = DeviceKind::kCpu;
  std::vector<int> layer_widths{};  ///< [num_layers] columns of what each layer passes on
  int last_hidden = 0;              ///< the last layer, from 1, whose result is not the logits; 0 = there is none
  bool draws_by_time = false;       ///< nodes are asked for at a time
};

/// Holds the data set, the model and the threads' memory from one call to the next; where batches are resident, graph
/// and features in GPU memory, too. Nodes that the data set lacks are eager always: their rows and edges come with the
/// call, and a resident batch reads only those in GPU memory.
///
/// Determinism: as salient-infer with the run's seed: batches are counted anew in each call.
/// Threads:     one call at a time, on any thread.
class Predictor {
 public:
  /// @param run  directory of a run of salient-train
  /// @throws Error{kNoInput, kBadData} for a run or data set that is missing or damaged, or that is not what the
  ///         run was trained on, unless options name it; Error{kNoDevice};
  ///         Error{kUsage} for fanouts that the model has no layers for, and for resident batches where they cannot be.
  explicit Predictor(const std::filesystem::path& run, const PredictorOptions& options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  PredictorFacts facts() const;
  const Dataset& dataset() const;                            ///< in the run's classes and columns
  int num_classes() const { return dataset().num_classes; }  ///< or labels of a node, or targets

  /// [nodes.size(), num_classes()] float32, row by row in the order of `nodes`; before the softmax. Of
  /// regression the values of the targets.
  /// @param nodes  distinct; of a typed graph of the target type
  /// @param time   of a run that draws by time: when the nodes are asked for; none: each at its own time
  /// @throws Error{kUsage} for a node that the data set has not, or that is of another type; for a time that the run
  ///         does not ask for, and without one where it does and the nodes have none of their own
  std::vector<float> logits(std::span<const NodeId> nodes, std::optional<std::int64_t> time = {});

  /// The same of nodes that the data set lacks, [nodes.num_predicted(), num_classes()].
  /// Features are used as f32, also where the data set has f16 or fp8. A node of a type without features has the mean
  /// of the rows that were learned for those of its type.
  /// @throws Error{kUsage} for nodes that break the rules of NewNodes, or have more edges than max_new_edges.
  std::vector<float> logits(const NewNodes& nodes) { return logits(std::span(&nodes, 1)); }

  /// The same of lists that do not know of each other, as one batch: their rows one behind the other.
  std::vector<float> logits(std::span<const NewNodes> lists);

  /// The same with embeddings: each row the logits, then what layer `layer` passes on, facts().layer_widths[layer - 1]
  /// columns, as salient-infer --embeddings writes it. Batches are eager, also where others are resident.
  /// @param layer  from 1; 0 = as logits()   @throws as logits(); Error{kUsage} for a layer that the model has not.
  std::vector<float> logits_and_embeddings(std::span<const NodeId> nodes, int layer,
                                           std::optional<std::int64_t> time = {});
  std::vector<float> logits_and_embeddings(std::span<const NewNodes> lists, int layer);

  /// Of a run that predicts links: the columns of logits(), and the scores of pairs of such rows.
  /// @param rows   [n, row_width()]    @param pairs  [P, 2] numbers of rows: sources and destinations
  /// Threads: as the others; the parameters go to the host, and logits() is not called again.
  int row_width() const;
  std::vector<float> pair_scores(std::span<const float> rows, std::span<const std::int64_t> pairs);

  /// Nodes of a batch. With lists up to this length, a node's neighbourhood does not depend on the others in its list.
  std::size_t batch_size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
