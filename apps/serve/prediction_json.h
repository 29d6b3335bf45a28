// apps/serve/prediction_json.h - logits as the JSON that answers a request.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/serve/predict_request.h"
#include "store/label_table.h"
#include "store/node_ids.h"

namespace salient::serve {

/// What is known of nodes and classes.
struct Names {
  Task task = Task::kMultiClass;
  NodeIds ids{};                       ///< none: nodes have numbers alone
  std::vector<std::string> classes{};  ///< likewise; or of labels, or targets
  std::size_t num_outputs = 0;         ///< logits or values at the begin of a row, the rest an embedding; 0 = all
};

/// {"predictions": [{"node": 17, "id": "..", "class": 3, "name": ".."}, ...]}, of several labels a node "labels": [0,
/// 5] and "names": [..] instead of "class" and "name", of regression "values": {"price": 12.5} of each target by its
/// name, or a list where they have none; where asked for, "probabilities": of each class by the softmax, of labels by
/// the sigmoid, as a list or by name, and "top": [{"class": 3, "name": "..", "probability": 0.9}, ...], the most
/// probable first, of labels "label" instead of "class", and "embedding": [0.5, -1], what request.layer passes on.
///
/// @param request  of which `nodes` or the number of new nodes is read
/// @param rows     one for each: logits, and if there is a layer its result
/// @throws Error{kBadData} for a row with a value that is not a finite number
std::string predictions_json(const PredictRequest& request, std::span<const float> rows, const Names& names);

/// {"error": what}
std::string error_json(const std::string& what);

}  // namespace salient::serve
