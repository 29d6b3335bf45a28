// tests/models/resident/peer_sums_gpu_test.cpp - updates of several ranks that sum their gradients in each other's
// memory leave the bits of one update with the sum. The ranks are streams of one GPU here, which has room for all of
// their blocks at once.
#include "models/resident/peer_sums.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "models/resident/step_header.h"
#include "models/resident/weights.h"

namespace salient {
namespace {

constexpr AdamRates kRates{.lr = 0, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
constexpr ActivationType kType = ActivationType::kBf16;

at::TensorOptions on_device(at::ScalarType type) { return at::TensorOptions(at::kCUDA).dtype(type); }

struct LayerSize {
  std::int64_t in, out;
  int num_gradients;

  std::int64_t num_packed() const { return padded(out) * 2 * padded(in); }
};
using Layers = std::vector<LayerSize>;
const Layers kSmall{{37, 30, 3}, {16, 100, 1}, {100, 7, 1}};           // padded and not, several gradients
const Layers kOther{{24, 40, 2}, {40, 40, 1}};                         // has other places in the same memory
const Layers kOfPapers{{128, 256, 48}, {256, 256, 1}, {256, 172, 1}};  // more values than threads

std::int64_t num_values(const Layers& layers) {
  std::int64_t count = 0;
  for (const LayerSize& layer : layers) count += layer.num_packed();
  return count;
}

/// Weights, moments and packed weights of a rank, the same on all of them at first, and gradients of its own.
class Rank {
 public:
  explicit Rank(const Layers& layers) : layers_(layers) {
    at::manual_seed(5);
    std::int64_t size = 0;
    for (const LayerSize& layer : layers_) size += 2 * layer.in * layer.out;
    flat_ = at::randn({4, size}).to(at::kCUDA);  // parameters, gradients, moments
    flat_.narrow(0, 2, 2).zero_();
    counts_ = at::zeros({2}, on_device(at::kInt));
    header_ = at::empty({static_cast<std::int64_t>(sizeof(StepHeader))}, on_device(at::kByte));
    for (const LayerSize& layer : layers_) {
      packed_.push_back(at::zeros({layer.num_packed()}, on_device(at::kBFloat16)));
      gradients_.push_back(at::zeros({layer.num_gradients, layer.num_packed()}, on_device(at::kFloat)));
    }
  }

  void draw_gradients() {
    for (at::Tensor& gradient : gradients_) gradient.normal_();
  }
  /// The sum over `ranks`, in their order, each rank's own parts first.
  void take_sums(const std::vector<std::unique_ptr<Rank>>& ranks) {
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      gradients_[i].zero_();
      for (const auto& rank : ranks) {
        at::Tensor own = rank->gradients_[i][0].clone();
        for (std::int64_t part = 1; part < gradients_[i].size(0); ++part) own += rank->gradients_[i][part];
        gradients_[i][0] += own;
      }
    }
  }

  void update(double lr, const std::optional<PeerSums>& peers, cudaStream_t stream) {
    const StepHeader header{.learning_rate = lr};
    cuda_check(cudaMemcpyAsync(header_.data_ptr(), &header, sizeof header, cudaMemcpyHostToDevice, stream));
    ParameterUpdate update{state(), kRates, peers};
    const auto* const on_device = static_cast<const StepHeader*>(header_.const_data_ptr());
    update_weights(layers_of(), kType, update, on_device, stream);
  }

  void expect_equal(const Rank& other) const {
    EXPECT_TRUE(at::equal(flat_[0], other.flat_[0]));
    EXPECT_TRUE(at::equal(flat_.narrow(0, 2, 2), other.flat_.narrow(0, 2, 2)));
    EXPECT_TRUE(at::equal(counts_, other.counts_));
    for (std::size_t i = 0; i < packed_.size(); ++i) EXPECT_TRUE(at::equal(packed_[i], other.packed_[i])) << i;
  }
  const at::Tensor parameters() const { return flat_[0]; }

 private:
  AdamState state() const {
    return {.parameters = flat_[0].data_ptr<float>(),
            .gradients = flat_[1].data_ptr<float>(),
            .exp_avg = flat_[2].data_ptr<float>(),
            .exp_avg_sq = flat_[3].data_ptr<float>(),
            .step = reinterpret_cast<float*>(counts_.data_ptr<int>()),
            .num_finished_blocks = reinterpret_cast<std::uint32_t*>(counts_.data_ptr<int>() + 1),
            .size = flat_.size(1)};
  }
  std::vector<PackedWeights> layers_of() const {
    std::vector<PackedWeights> layers;
    std::int64_t first_value = 0;
    const float* at = flat_[0].const_data_ptr<float>();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const auto& [in, out, num_gradients] = layers_[i];
      layers.push_back({.weights = {at, at + in * out, nullptr, nullptr, in, out},
                        .packed = packed_[i].data_ptr(),
                        .packed_gradient = gradients_[i].const_data_ptr<float>(),
                        .num_gradients = num_gradients,
                        .first_value = first_value});
      at += 2 * in * out, first_value += layers_[i].num_packed();
    }
    return layers;
  }

  const Layers layers_;
  at::Tensor flat_, counts_, header_;
  std::vector<at::Tensor> packed_, gradients_;
};

/// Memory of ranks, for all sizes of layers here.
class Memory {
 public:
  explicit Memory(int num_ranks)
      : bytes_(at::zeros({num_ranks, static_cast<std::int64_t>(PeerSums::bytes(num_ranks, num_values(kOfPapers)))},
                         on_device(at::kByte))) {
    for (int r = 0; r < num_ranks; ++r) of_ranks_.push_back(static_cast<std::byte*>(bytes_[r].data_ptr()));
    is_given_up_[0] = 0;
  }
  PeerSums of_rank(int rank, const Layers& layers) const {
    return PeerSums::in(of_ranks_, rank, num_values(layers), is_given_up_.get());
  }
  void give_up() const { is_given_up_[0] = 1; }

 private:
  const at::Tensor bytes_;
  const PinnedArray<std::uint32_t> is_given_up_ = make_pinned_array<std::uint32_t>(1);
  std::vector<std::byte*> of_ranks_;
};

/// Some steps of all ranks, beside one that has the sum of their gradients.
void train(const Memory& memory, int num_ranks, const Layers& layers) {
  Rank alone(layers);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < num_ranks; ++r) ranks.push_back(std::make_unique<Rank>(layers));
  const std::vector<CudaStream> streams(static_cast<std::size_t>(num_ranks));
  for (int step = 0; step < 20; ++step) {
    for (const auto& rank : ranks) rank->draw_gradients();
    alone.take_sums(ranks);
    cuda_check(cudaDeviceSynchronize());
    const double lr = 0.003 / (1 + step);
    for (int i = 0; i < num_ranks; ++i) {  // another rank is first each time
      const int rank = (i + step) % num_ranks;
      const auto index = static_cast<std::size_t>(rank);
      ranks[index]->update(lr, memory.of_rank(rank, layers), streams[index].get());
    }
    for (const CudaStream& stream : streams) stream.wait();
    alone.update(lr, std::nullopt, streams[0].get());
    streams[0].wait();
    for (const auto& rank : ranks) rank->expect_equal(alone);
  }
  EXPECT_TRUE(at::isfinite(alone.parameters()).all().item<bool>());
}

class PeerSumsTest : public testing::TestWithParam<int> {};

TEST_P(PeerSumsTest, EveryRankHasTheBitsOfOneUpdateWithTheSum) {
  const Memory memory(GetParam());
  train(memory, GetParam(), kSmall);
  train(memory, GetParam(), kOther);  // the memory is left as it is
  train(memory, GetParam(), kSmall);
}

TEST_P(PeerSumsTest, ARankWhosePeersAreGoneEndsAndHasNoNumbers) {
  const Memory memory(GetParam());
  Rank rank(kSmall);
  rank.draw_gradients();
  cuda_check(cudaDeviceSynchronize());
  const CudaStream stream;
  rank.update(0.003, memory.of_rank(0, kSmall), stream.get());
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
  memory.give_up();
  stream.wait();
  EXPECT_TRUE(at::isnan(rank.parameters()).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Ranks, PeerSumsTest, testing::Values(2, 3, 4));

/// Parameters, gradients and moments of a rank that updates them as they are (parameter_update.h).
struct FlatRank {
  at::Tensor flat, counts = at::zeros({2}, on_device(at::kInt)),
                   header = at::empty({static_cast<std::int64_t>(sizeof(StepHeader))}, on_device(at::kByte));

  void update(double lr, const std::optional<PeerSums>& peers, cudaStream_t stream) {
    const StepHeader with_rate{.learning_rate = lr};
    cuda_check(cudaMemcpyAsync(header.data_ptr(), &with_rate, sizeof with_rate, cudaMemcpyHostToDevice, stream));
    const AdamState state{.parameters = flat[0].data_ptr<float>(),
                          .gradients = flat[1].data_ptr<float>(),
                          .exp_avg = flat[2].data_ptr<float>(),
                          .exp_avg_sq = flat[3].data_ptr<float>(),
                          .step = reinterpret_cast<float*>(counts.data_ptr<int>()),
                          .num_finished_blocks = reinterpret_cast<std::uint32_t*>(counts.data_ptr<int>() + 1),
                          .size = flat.size(1)};
    update_parameters({state, kRates, peers}, static_cast<const StepHeader*>(header.const_data_ptr()), stream);
  }
};

TEST_P(PeerSumsTest, UpdatesOfParametersAsTheyAreHaveTheBitsOfOneWithTheSum) {
  const auto num_ranks = static_cast<std::size_t>(GetParam());
  const Memory memory(GetParam());
  at::manual_seed(6);
  const at::Tensor begin = at::randn({4, num_values(kSmall) - 3}).to(at::kCUDA).abs();
  std::vector<FlatRank> ranks(num_ranks);
  for (FlatRank& rank : ranks) rank.flat = begin.clone();
  FlatRank alone{begin.clone()};
  const std::vector<CudaStream> streams(num_ranks);
  for (int step = 0; step < 20; ++step) {
    alone.flat[1].zero_();
    for (FlatRank& rank : ranks) alone.flat[1] += rank.flat[1].normal_();
    cuda_check(cudaDeviceSynchronize());
    const double lr = 0.003 / (1 + step);
    for (std::size_t i = 0; i < num_ranks; ++i) {
      const std::size_t rank = (i + static_cast<std::size_t>(step)) % num_ranks;
      ranks[rank].update(lr, memory.of_rank(static_cast<int>(rank), kSmall), streams[rank].get());
    }
    for (const CudaStream& stream : streams) stream.wait();
    alone.update(lr, std::nullopt, streams[0].get());
    streams[0].wait();
    for (const FlatRank& rank : ranks) {
      EXPECT_TRUE(at::equal(rank.flat[0], alone.flat[0])) << step;
      EXPECT_TRUE(at::equal(rank.flat.narrow(0, 2, 2), alone.flat.narrow(0, 2, 2))) << step;
      EXPECT_TRUE(at::equal(rank.counts, alone.counts)) << step;
    }
  }
}

TEST(PeerSumsOfOneRank, HaveTheBitsOfAnUpdateWithout) { train(Memory(1), 1, kOfPapers); }

}  // namespace
}  // namespace salient
