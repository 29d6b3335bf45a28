// tests/support/summed_data.h - what the ranks of failing_rank sum up, in host memory or on a GPU, and send each other.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct CUstream_st;

namespace salient {

inline constexpr std::size_t kMailBytes = 100000;

class SummedData {
 public:
  SummedData() = default;
  virtual ~SummedData() = default;
  SummedData(const SummedData&) = delete;
  SummedData& operator=(const SummedData&) = delete;

  virtual std::span<float> get() = 0;
  virtual CUstream_st* stream() = 0;
  virtual void wait() = 0;

  /// [bytes to send | bytes to receive] in host memory, pinned where the sums are on a GPU.
  virtual std::span<std::byte> mail() = 0;

  /// More work than the queue of a GPU takes: behind an exchange that does not end, launches block.
  virtual void flood() = 0;
};

class SummedHostData final : public SummedData {
 public:
  std::span<float> get() override { return data_; }
  CUstream_st* stream() override { return nullptr; }
  void wait() override {}
  std::span<std::byte> mail() override { return mail_; }
  void flood() override {}

 private:
  std::vector<float> data_ = std::vector<float>(100000);
  std::vector<std::byte> mail_ = std::vector<std::byte>(kMailBytes);
};

/// Makes GPU number `index` the current one. @return  false with fewer than `num_gpus` GPUs and in a build without CUDA
bool take_gpu(int index, int num_gpus);

/// On the current GPU. To call after take_gpu().
std::unique_ptr<SummedData> make_summed_gpu_data();

}  // namespace salient
