// models/time_encoder.h - how long ago an edge was, as features of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "models/batch_view.h"
#include "models/layers.h"

namespace salient {

/// cos(w g + b) of gaps g, HopView::edge_gap: parameters lin.weight [width, 1] and lin.bias [width], as those of PyG's
/// TimeEncoder in models/tgn.py, which gets the gap itself.
///
/// Initial values are functions of the width alone: frequencies from 0.1 to 3.16 per unit of g, in equal steps of their
/// logarithm, cosines and sines by turns. As g is a logarithm, they tell gaps of any unit apart (decision 61).
class TimeEncoder : public torch::nn::Module {
 public:
  explicit TimeEncoder(std::int64_t width);

  /// `hop` with the encoding behind what it has as features of edges.
  /// @throws Error{kInternal} for a hop with entries that carries no gaps
  HopView append_to(const HopView& hop) const;

 private:
  class Map;
  std::shared_ptr<Map> lin_;
};

}  // namespace salient
