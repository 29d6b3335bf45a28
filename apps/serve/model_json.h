// apps/serve/model_json.h - what a server predicts with, as the JSON of GET /v1/model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/dataset.h"
#include "store/node_ids.h"

namespace salient::serve {

struct ModelFacts {
  std::string program{};     ///< "salient-serve 0.2.0"
  std::string run{};         ///< its directory
  std::string checkpoint{};  ///< "epoch-0012"
  std::string model{};       ///< "sage"
  int num_layers = 0;
  std::vector<int> layer_widths{};  ///< of what each layer passes on
  int last_hidden = 0;              ///< as in PredictorFacts
  std::vector<int> fanouts{};
  std::string precision{};
  std::string device{};       ///< "cpu" or "cuda"
  std::size_t max_nodes = 0;  ///< of a request
};

/// Classes and features in the order of their numbers and columns, with their names if they have some; how nodes are
/// named; what the model is and how it is applied.
/// @param dataset  in the run's classes and columns
std::string model_json(const ModelFacts& facts, const Dataset& dataset, const NodeIds& ids);

}  // namespace salient::serve
