// tests/support/summed_data_absent.cpp - replaces summed_data_cuda.cpp in a build without CUDA.
#include "tests/support/summed_data.h"

namespace salient {

bool take_gpu(int, int) { return false; }
std::unique_ptr<SummedData> make_summed_gpu_data() { return nullptr; }

}  // namespace salient
