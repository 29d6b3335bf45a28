// engine/infer/resident_exact_absent.cpp - resident_exact.h in a build without CUDA.
#include "core/error.h"
#include "engine/infer/resident_exact.h"

namespace salient {

std::int64_t resident_exact_bytes(const ResidentSpec&, const Dataset&) { return 0; }

InferenceCounts resident_exact_inference(const ModelOnRanks&, const Dataset&, const ResidentView&, const ResidentSpec&,
                                         const ResidentExactRequest&, const OnRound&) {
  fail(ErrorKind::kNoDevice, "exact inference on the GPU: this is a build without CUDA", Topic::kDevice);
}

}  // namespace salient
