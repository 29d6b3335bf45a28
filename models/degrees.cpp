// models/degrees.cpp - see degrees.h.
#include "models/degrees.h"

#include "core/error.h"

namespace salient {

RowCounts row_counts(const HopView& hop) {
  require(hop.degrees.defined() && hop.degrees.size(0) >= hop.num_src && hop.degrees.size(1) == 2,
          "a batch for this model carries degrees");
  const at::Tensor counts = hop.degrees.narrow(0, 0, hop.num_src).to(at::kFloat);
  return {counts.select(1, 0), counts.select(1, 1)};
}

at::Tensor column_of_destinations(const HopView& hop, const at::Tensor& values) {
  return values.narrow(0, 0, hop.num_dst).unsqueeze(1);
}

}  // namespace salient
