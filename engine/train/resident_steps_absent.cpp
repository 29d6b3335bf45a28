// engine/train/resident_steps_absent.cpp - resident_steps.h in a build without CUDA.
#include "core/error.h"
#include "engine/train/resident_steps.h"

namespace salient {

std::int64_t resident_steps_bytes(const RunPlan&, const Dataset&, int) { return 0; }

std::unique_ptr<GradientSteps> make_resident_steps(const StepParts&) {
  fail(ErrorKind::kNoDevice, "resident steps: this is a build without CUDA", Topic::kDevice);
}

}  // namespace salient
