// examples/own_model/own_model.cpp - a model of one's own, made of LibTorch's layers, trained on SALIENT's batches.
//
//   own_model [STORE]     a folder that salient-prepare wrote; else a small generated graph
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>

#include <salient/core/error.h>
#include <salient/loaders/batch_loader.h>
#include <salient/models/batch_view.h>
#include <salient/sampler/seed_order.h>
#include <salient/store/dataset.h>
#include <salient/store/synthetic.h>

namespace {

/// Two layers: a node's own features and the mean of its sampled neighbours', each through a linear map.
struct Net : torch::nn::Module {
  Net(int in, int hidden, int out)
      : own1(register_module("own1", torch::nn::Linear(in, hidden))),
        mean1(register_module("mean1", torch::nn::Linear(in, hidden))),
        own2(register_module("own2", torch::nn::Linear(hidden, out))),
        mean2(register_module("mean2", torch::nn::Linear(hidden, out))) {}

  static at::Tensor mean_of_neighbours(const at::Tensor& x, const salient::HopView& hop) {
    const at::Tensor counts = hop.indptr.diff();
    const at::Tensor rows = torch::arange(hop.num_dst).repeat_interleave(counts);
    const at::Tensor sums = torch::zeros({hop.num_dst, x.size(1)}).index_add(0, rows, x.index_select(0, hop.indices));
    return sums / counts.clamp_min(1).unsqueeze(1);
  }

  at::Tensor forward(const at::Tensor& x, const std::vector<salient::HopView>& hops) {
    const at::Tensor h = (own1(x.narrow(0, 0, hops[0].num_dst)) + mean1(mean_of_neighbours(x, hops[0]))).relu();
    return own2(h.narrow(0, 0, hops[1].num_dst)) + mean2(mean_of_neighbours(h, hops[1]));
  }

  torch::nn::Linear own1, mean1, own2, mean2;
};

/// The batches of `nodes`, which outlive them.
std::vector<salient::BatchRequest> requests_of(std::span<const salient::NodeId> nodes, std::uint32_t epoch) {
  constexpr std::size_t kBatchSize = 256;
  std::vector<salient::BatchRequest> requests;
  for (std::size_t b = 0; b < salient::num_global_batches(nodes.size(), kBatchSize); ++b) {
    const salient::SeedRange share = salient::rank_share(nodes.size(), kBatchSize, b, 0, 1);
    requests.push_back(
        {{.seed = 1, .epoch = epoch, .batch = static_cast<std::uint32_t>(b)}, nodes.subspan(share.begin, share.count)});
  }
  return requests;
}

void run(const salient::Dataset& dataset) {
  salient::BatchLoader loader(dataset, {.rule = {.fanouts = {10, 5}}, .num_workers = 2});
  Net net(dataset.feature_dim, 64, dataset.num_classes);
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(0.01));
  std::vector<salient::NodeId> order(dataset.train.begin(), dataset.train.end());
  for (std::uint32_t epoch = 1; epoch <= 5; ++epoch) {
    salient::shuffle_seeds(order, /*seed=*/1, epoch);
    loader.start(requests_of(order, epoch));
    while (const salient::Batch* const batch = loader.next()) {  // valid until the next call
      const salient::BatchView view = salient::view_of(*batch);
      const at::Tensor x = view.x.to_dense().to(torch::kFloat);
      const at::Tensor loss = torch::cross_entropy_loss(net.forward(x, view.hops), view.y.to(torch::kLong));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  const torch::NoGradGuard no_gradients;
  std::int64_t right = 0;
  loader.start(requests_of(dataset.test, 0));
  while (const salient::Batch* const batch = loader.next()) {
    const salient::BatchView view = salient::view_of(*batch);
    const at::Tensor best = net.forward(view.x.to_dense().to(torch::kFloat), view.hops).argmax(1);
    right += best.eq(view.y).sum().item<std::int64_t>();
  }
  std::printf("test accuracy %.4f\n", static_cast<double>(right) / static_cast<double>(dataset.test.size()));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    torch::manual_seed(1);
    run(argc > 1 ? salient::open_dataset(argv[1])
                 : salient::make_synthetic_dataset(salient::parse_synthetic_name("synthetic:arxiv:0.02")));
    return 0;
  } catch (...) {
    return salient::report_current_exception("own_model");
  }
}
