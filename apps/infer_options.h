// apps/infer_options.h - everything that salient-infer depends on, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/named_files.h"
#include "apps/selected_nodes.h"
#include "core/console/console_options.h"
#include "engine/comm/comm_options.h"
#include "engine/device/machine_options.h"
#include "engine/infer/activations.h"
#include "engine/infer/prediction_writer.h"
#include "engine/rank/known_links.h"
#include "engine/train/train_options.h"
#include "store/data_schema.h"

namespace salient {

/// Predictions from sampled neighbours. What is empty, 0 or -1 is the run's own.
struct SampledOptions {
  std::vector<int> fanout{};
  FanoutsOf fanout_of{};  ///< of relations of a typed graph
  std::optional<Draw> draw{};
  std::optional<SeenEdges> seen{};  ///< as TimeOptions; likewise the next two
  std::optional<TimeWindow> window{};
  std::optional<TimeStrategy> strategy{};
  std::optional<AskedTime> asked{};  ///< when the nodes are asked for; none: each at its own time
  int batch_size = 0;                ///< nodes per rank and batch
  std::int64_t seed = -1;            ///< of the sampled neighbourhoods
  std::optional<StepKind> step{};    ///< of a batch; none: resident where model, fanouts and data allow it

  /// @throws as with_fanouts_of()
  SamplingRule rule(const GraphSchema& types) const {
    return with_fanouts_of({fanout, draw.value_or(Draw::kUniform)}, fanout_of, types);
  }

  TimeOptions time() const {
    return {.seen = seen.value_or(SeenEdges::kAll),
            .window = window.value_or(TimeWindow{}),
            .strategy = strategy.value_or(TimeStrategy::kUniform)};
  }

  bool operator==(const SampledOptions&) const = default;
};

/// Predictions from all neighbours, layer by layer.
struct LayerwiseOptions {
  std::optional<ActivationStorage> activations{};     ///< where layers' results are kept; none: where there is room
  std::optional<ActivationDtype> activation_dtype{};  ///< none: f32 where that has room, else f16
  double memory_gb = 0;   ///< host memory for them before a file is taken; 0 = four fifths of what is free
  std::string scratch{};  ///< folder for that file; empty = beside the results
  int block_mb = 128;     ///< rows that are gathered at a time

  bool operator==(const LayerwiseOptions&) const = default;
};

/// What is written.
struct ResultOptions {
  std::string directory{};  ///< empty = a new one inside the run
  bool force = false;       ///< replace earlier results
  PredictionFormat format = PredictionFormat::kNpy;
  int top_k = 1;               ///< classes per node
  bool probabilities = false;  ///< of every class
  int embeddings = 0;          ///< the layer whose result is written too, from 1; 0 = none

  bool operator==(const ResultOptions&) const = default;
};

/// Nodes that the data set lacks: one file each, or of a typed graph one for each type and relation.
struct AddedNodes {
  NamedFiles nodes{}, edges{};

  bool operator==(const AddedNodes&) const = default;
};

/// Triples that are no links, of a knowledge graph.
struct NegativeFiles {
  std::string valid{}, test{};

  bool are_there() const { return !valid.empty() || !test.empty(); }
  bool operator==(const NegativeFiles&) const = default;
};

struct InferOptions {
  std::string run{};                ///< directory of a run of salient-train
  std::string checkpoint = "best";  ///< or "latest", "epoch-NNNN"
  NodeSelection nodes{};
  std::string links{};                    ///< instead: a file of links by ids, which a run of links scores
  std::string link_time_column{};         ///< of that file: name or number of the column of their times
  NegativeFiles negatives{};              ///< instead: what the data set's triples are told from
  std::string relation{};                 ///< of the nodes' likeliest links, in a knowledge graph
  LinkSide side = LinkSide::kTail;        ///< which end of these is to be found
  AddedNodes added{};                     ///< instead of nodes of the data set; their id column is that of `nodes`
  DataOptions data{.dataset{}, .root{}};  ///< empty: the run's
  FeatureMatch match_features = FeatureMatch::kName;
  bool exact = false;  ///< by LayerwiseOptions, not SampledOptions
  SampledOptions sampled{};
  LayerwiseOptions layerwise{};
  std::optional<Precision> precision{};  ///< of the model; none: the run's
  ResultOptions results{};
  MachineOptions machine{};
  CommOptions comm{};
  ConsoleOptions console{};
};

}  // namespace salient
