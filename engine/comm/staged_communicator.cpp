// engine/comm/staged_communicator.cpp - see staged_communicator.h.
#include "engine/comm/staged_communicator.h"

#include <utility>

#include "core/cuda/cuda.h"
#include "core/cuda/pinned_buffer.h"

namespace salient {
namespace {

class StagedCommunicator final : public Communicator {
 public:
  explicit StagedCommunicator(std::unique_ptr<Communicator> host) : host_(std::move(host)) {}

  std::string_view name() const override { return "mpi"; }
  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }

  void all_reduce_sum(std::span<float> data, CUstream_st* stream) override {
    through_host(data, stream, [this](std::span<float> staged) { host_->all_reduce_sum(staged, nullptr); });
  }
  void broadcast(std::span<float> data, CUstream_st* stream) override {
    through_host(data, stream, [this](std::span<float> staged) { host_->broadcast(staged, nullptr); });
  }

  void all_reduce_sum(std::span<double> values) override { host_->all_reduce_sum(values); }
  void broadcast(std::string& bytes) override { host_->broadcast(bytes); }
  std::vector<std::string> gather(std::string_view bytes) override { return host_->gather(bytes); }
  void barrier() override { host_->barrier(); }
  std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                     std::span<const std::span<std::byte>> in) override {
    return host_->transfer(out, in);
  }
  void wait_until(const std::function<bool()>& is_done) override { host_->wait_until(is_done); }
  std::uint32_t exchange_flags(std::uint32_t flags) override { return host_->exchange_flags(flags); }
  void give_up(const std::string& why, Topic topic) override { host_->give_up(why, topic); }

 private:
  template <class Exchange>
  void through_host(std::span<float> data, CUstream_st* stream, Exchange&& exchange) {
    const std::span<float> staged(staged_.reserve(data.size()), data.size());
    cuda_check(cudaMemcpyAsync(staged.data(), data.data(), data.size_bytes(), cudaMemcpyDeviceToHost, stream));
    cuda_check(cudaStreamSynchronize(stream));
    exchange(staged);
    cuda_check(cudaMemcpyAsync(data.data(), staged.data(), data.size_bytes(), cudaMemcpyHostToDevice, stream));
    cuda_check(cudaStreamSynchronize(stream));  // the next call overwrites the staged copy
  }

  std::unique_ptr<Communicator> host_;
  PinnedBuffer<float> staged_;
};

}  // namespace

std::unique_ptr<Communicator> make_staged_communicator(std::unique_ptr<Communicator> host) {
  return std::make_unique<StagedCommunicator>(std::move(host));
}

}  // namespace salient
