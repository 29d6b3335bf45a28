// engine/infer/resident_predictions_absent.cpp - resident_predictions.h in a build without CUDA.
#include "core/error.h"
#include "engine/infer/resident_predictions.h"

namespace salient {

std::int64_t resident_predictions_bytes(const ResidentSpec&, const Dataset&) { return 0; }

std::unique_ptr<Predictions> make_resident_predictions(const ResidentSpec&, const Dataset&, const ResidentView&,
                                                       const ComputeDevice&, const Model&) {
  fail(ErrorKind::kNoDevice, "predictions on the GPU: this is a build without CUDA", Topic::kDevice);
}

}  // namespace salient
