// tests/support/summed_data_cuda.cpp - see summed_data.h.
#include "core/cuda/cuda.h"
#include "tests/support/summed_data.h"

namespace salient {
namespace {

constexpr std::size_t kLength = 100000;

class SummedGpuData final : public SummedData {
 public:
  std::span<float> get() override { return {data_.get(), kLength}; }
  CUstream_st* stream() override { return stream_.get(); }
  void wait() override { stream_.wait(); }
  std::span<std::byte> mail() override { return {mail_.get(), kMailBytes}; }
  void flood() override {
    for (int i = 0; i < 5000; ++i) cuda_check(cudaMemsetAsync(data_.get(), 0, 4, stream_.get()));
  }

 private:
  DeviceArray<float> data_ = make_device_array<float>(kLength);
  PinnedArray<std::byte> mail_ = make_pinned_array<std::byte>(kMailBytes);
  CudaStream stream_{};
};

}  // namespace

bool take_gpu(int index, int num_gpus) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < num_gpus) return false;
  cuda_check(cudaSetDevice(index));
  return true;
}

std::unique_ptr<SummedData> make_summed_gpu_data() { return std::make_unique<SummedGpuData>(); }

}  // namespace salient
