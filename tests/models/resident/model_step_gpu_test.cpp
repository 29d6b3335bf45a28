// tests/models/resident/model_step_gpu_test.cpp - resident steps against the models of models/ on the host, over the
// reference's batch. Those are tested against PyG: tests/models/golden.
#include "models/resident/model_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/model.h"
#include "sampler/node_degree.h"
#include "tests/models/resident/sage_problem.h"
#include "tests/support/near_table.h"

namespace salient {
namespace {

using test::distance;
constexpr auto kMaxSeeds = static_cast<std::uint32_t>(test::kSageMaxSeeds);
constexpr auto kF32 = ActivationType::kF32, kBf16 = ActivationType::kBf16;

struct Case {
  const char* name;
  ModelKind kind;
  std::vector<int> fanouts;
  int in_dim, hidden_dim, num_classes;
  FeatureType features = FeatureType::kF16;
  ActivationType activations = kF32;
  bool may_use_tf32 = false;
  double dropout = 0.5, label_smoothing = 0;
  Draw draw = Draw::kUniform;
  bool has_size_choice = true;
  bool is_other_sum = false;  // gcn by rows, gin scaled
};

SumKind sum_of(const Case& c) {
  if (c.kind == ModelKind::kGcn) return c.is_other_sum ? SumKind::kRowMean : SumKind::kSymmetric;
  if (c.kind == ModelKind::kGin) return c.is_other_sum ? SumKind::kScaled : SumKind::kPlain;
  return SumKind::kMean;
}

template <class T>
at::Tensor i32(const std::vector<T>& values) {
  const at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kInt);
  std::copy(values.begin(), values.end(), tensor.data_ptr<std::int32_t>());
  return tensor;
}

class Problem {
 public:
  explicit Problem(const Case& c) : case_(c) {
    at::manual_seed(3);
    const test::StoredFeatures features(test::kSageNodes, c.in_dim, c.features);
    x_ = features.values;
    unit_ = features.unit;
    y_ = at::randint(-1, c.num_classes, {test::kSageNodes}, at::kInt);
    model_ = make_model({.kind = c.kind,
                         .in_dim = c.in_dim,
                         .hidden_dim = c.hidden_dim,
                         .num_classes = c.num_classes,
                         .num_layers = static_cast<int>(c.fanouts.size()),
                         .dropout = c.dropout,
                         .gcn_norm = sum_of(c) == SumKind::kRowMean ? GcnNorm::kRow : GcnNorm::kSymmetric,
                         .gin_sum = sum_of(c) == SumKind::kScaled ? GinSum::kScaled : GinSum::kPlain});
    for (const auto& item : model_->named_parameters()) {
      if (item.value().dim() == 1) item.value().detach().add_(at::randn_like(item.value().detach()) * 0.2);
      parameters_[item.key()] = item.value().detach().to(at::kCUDA);
      gradients_[item.key()] = at::full_like(parameters_[item.key()], NAN);
    }
    for (const auto& item : model_->named_buffers())
      buffers_[item.key()] = item.value().to(at::kCUDA, item.value().scalar_type(), false, true);
    x_device_.emplace(features.stored, stream_);
    y_device_ = y_.to(at::kCUDA);
    sums_ = at::full({20, 2}, NAN, at::TensorOptions(at::kCUDA).dtype(at::kDouble));
    seeds_.resize(test::kSageNodes);
    std::iota(seeds_.begin(), seeds_.end(), 0U);
    cuda_check(cudaDeviceSynchronize());
  }

  ModelStepShape shape() const {
    return {.model = case_.kind,
            .sum = sum_of(case_),
            .rule = {case_.fanouts, case_.draw},
            .max_seeds = kMaxSeeds,
            .in_dim = case_.in_dim,
            .hidden_dim = case_.hidden_dim,
            .num_classes = case_.num_classes,
            .dropout = case_.dropout,
            .label_smoothing = case_.label_smoothing,
            .activations = case_.activations,
            .may_use_tf32 = case_.may_use_tf32,
            .has_size_choice = case_.has_size_choice,
            .num_nodes = test::kSageNodes};
  }
  ModelStepData data() const {
    ModelStepData data{{{indptr_on_device_.get(), indices_on_device_.get(), test::kSageNodes},
                        {x_device_->data(), case_.features, case_.in_dim, unit_, x_device_->near()}},
                       y_device_.const_data_ptr<std::int32_t>(),
                       {},
                       sums_.data_ptr<double>()};
    for (const auto& [name, value] : parameters_)
      data.tensors[name] = {value.data_ptr(), gradients_.at(name).data_ptr<float>()};
    for (const auto& [name, value] : buffers_) data.tensors[name] = {value.data_ptr(), nullptr};
    return data;
  }

  std::span<const NodeId> seeds() const { return seeds_; }
  at::Tensor sums() const { return sums_.cpu(); }
  Model& model() { return *model_; }
  const std::map<std::string, at::Tensor>& gradients() const { return gradients_; }
  const std::map<std::string, at::Tensor>& buffers() const { return buffers_; }

  struct Expected {
    double loss, correct;
  };
  /// Entries that seeds keep without replacement.
  std::int64_t entries_of(std::span<const NodeId> seeds, std::size_t fanout) const {
    std::size_t sum = 0;
    for (const NodeId seed : seeds) sum += std::min(fanout, graph_.view().row(seed).size());
    return static_cast<std::int64_t>(sum);
  }

  /// Leaves gradients and running statistics in model().
  Expected train_on_the_host(const StepHeader& h) {
    const Mfg mfg = reference_sample(graph_.view(), {case_.fanouts, case_.draw},
                                     std::span(seeds_).subspan(h.first_seed, h.num_seeds), {h.seed, h.epoch, h.batch});
    BatchView batch;
    batch.nodes = i32(mfg.nodes);
    batch.x = x_.index_select(0, batch.nodes.to(at::kLong));
    for (const MfgHop& hop : mfg.hops) {
      std::vector<NodeDegree> degrees(static_cast<std::size_t>(hop.num_src));
      read_degrees(graph_.view(), std::span(mfg.nodes).first(degrees.size()), degrees.data());
      const at::Tensor pairs = at::empty({hop.num_src, 2}, at::kInt);
      std::copy(degrees.begin(), degrees.end(), reinterpret_cast<NodeDegree*>(pairs.data_ptr<std::int32_t>()));
      batch.hops.push_back({hop.num_dst, hop.num_src, i32(hop.indptr), i32(hop.indices), pairs});
    }
    model_->zero_grad();
    const at::Tensor logits = model_->forward(batch, {.seed = h.seed, .step = h.global_step, .nodes = batch.nodes});
    const at::Tensor labels = y_.narrow(0, h.first_seed, h.num_seeds).to(at::kLong), known = labels.ge(0);
    const at::Tensor log_p = at::log_softmax(logits.to(at::kDouble), 1);
    const at::Tensor likelihood = -log_p.gather(1, labels.clamp_min(0).unsqueeze(1)).squeeze(1);
    const double s = case_.label_smoothing;
    const at::Tensor loss = ((likelihood * (1 - s) - log_p.mean(1) * s) * known).sum();
    (loss * static_cast<double>(h.gradient_scale)).backward();
    return {loss.item<double>(), (logits.argmax(1).eq(labels) * known).sum().item<double>()};
  }

 private:
  const Case& case_;
  const test::OwnedGraph graph_ = test::sorted(test::graph_with_gaps());
  std::vector<EdgeOffset> indptr_{graph_.indptr.begin(), graph_.indptr.end()};
  std::vector<NodeId> indices_{graph_.indices.begin(), graph_.indices.end()};
  CudaStream stream_;
  test::OnDevice<EdgeOffset> indptr_on_device_{indptr_, stream_};
  test::OnDevice<NodeId> indices_on_device_{indices_, stream_};
  std::shared_ptr<Model> model_;
  at::Tensor x_, y_, y_device_, sums_;
  std::optional<test::NearTable> x_device_;
  float unit_ = 1;
  std::map<std::string, at::Tensor> parameters_, gradients_, buffers_;
  std::vector<NodeId> seeds_;
};

/// Of the distance from the host's gradients, relative to their norm; see sage_step_gpu_test.cpp. Batch norms divide by
/// deviations, which makes gradients more sensitive. Of one seed's gradient a single unit that rounding moves over the
/// edge of a ReLU is a tenth.
double bound_of(const Case& c, const StepHeader& header) {
  const bool has_norm = c.kind == ModelKind::kGin || c.kind == ModelKind::kSageRi;
  const double flips = header.num_seeds == 1 ? 6 : 1;
  const double width = c.hidden_dim > 1024 ? 2 : 1;  // logits are sums of as many rounded products
  if (c.activations == kBf16) return flips * width * (has_norm ? 0.3 : 0.15);
  if (c.may_use_tf32) return flips * (has_norm ? 0.15 : 0.05);
  return has_norm ? 1e-3 : 5e-5;
}

/// Full and short batches, one seed with neighbours and one without, and a full one again behind the short ones.
std::vector<StepHeader> batches() {
  return {{7, 2, 0, 11, 0, kMaxSeeds, 1.0F / kMaxSeeds},
          {7, 2, 3, 14, 100, 17, 0.25F},
          {7, 2, 5, 16, 1, 1, 1.0F},
          {7, 2, 6, 16, 14, 1, 1.0F},
          {9, 4, 7, 1000, 2000, kMaxSeeds, 1.0F}};
}

class ResidentModelStep : public testing::TestWithParam<Case> {};

TEST_P(ResidentModelStep, TrainsAsTheModelOnTheHost) {
  const Case& c = GetParam();
  Problem problem(c);
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  for (const StepHeader& header : batches()) {
    step.run(header, {}, stream.get());
    stream.wait();
    const Problem::Expected expected = problem.train_on_the_host(header);
    const at::Tensor sums = problem.sums()[header.batch];
    const double bound = bound_of(c, header);
    EXPECT_NEAR(sums[0].item<double>(), expected.loss, bound * std::max(1.0, expected.loss)) << header.batch;
    EXPECT_NEAR(sums[1].item<double>(), expected.correct, bound > 1e-2 ? 6 : 0) << header.batch;
    // of a sure prediction gradients have the factor p - 1, whose rounding is that of 1, not of the difference
    const double rounding = 2e-7 / std::max(expected.loss, 1e-9);
    // a gradient that is zero but for rounding is compared with the largest of all
    double largest = 0;
    for (const auto& item : problem.model().named_parameters())
      largest = std::max(largest, item.value().grad().norm().item<double>());
    for (const auto& item : problem.model().named_parameters()) {
      const at::Tensor wanted = item.value().grad().to(at::kDouble);
      const double difference =
          (problem.gradients().at(item.key()).cpu().to(at::kDouble) - wanted).norm().item<double>();
      EXPECT_LT(difference, (bound + rounding) * std::max(wanted.norm().item<double>(), 1e-2 * largest) + 1e-9)
          << header.batch << " " << item.key();
    }
    for (const auto& item : problem.model().named_buffers())
      EXPECT_LT(distance(problem.buffers().at(item.key()), item.value().to(at::kDouble)), std::max(bound, 1e-4) / 2)
          << header.batch << " " << item.key();
  }
}

TEST_P(ResidentModelStep, OfNoSeedsHasZeroGradients) {
  Problem problem(GetParam());
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  step.run({1, 1, 2, 0, 10, kMaxSeeds, 1.0F}, {}, stream.get());  // leaves rows behind the next batch's end
  std::map<std::string, at::Tensor> before;
  stream.wait();
  for (const auto& [name, value] : problem.buffers()) before[name] = value.clone();
  step.run({1, 1, 0, 0, 0, 0, 1.0F}, {}, stream.get());
  stream.wait();
  for (const auto& [name, gradient] : problem.gradients()) EXPECT_EQ(gradient.abs().max().item<float>(), 0) << name;
  for (const auto& [name, value] : problem.buffers()) EXPECT_TRUE(at::equal(value, before.at(name))) << name;
  EXPECT_EQ(problem.sums()[0][0].item<double>(), 0);
}

TEST_P(ResidentModelStep, RepeatsItsBits) {
  Problem problem(GetParam());
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  step.start_epoch(problem.seeds());
  std::map<std::string, at::Tensor> first;
  for (int round = 0; round < 3; ++round) {
    step.run({1, 1, 2, 0, 64, kMaxSeeds, 1.0F}, {}, stream.get());
    stream.wait();
    for (const auto& [name, gradient] : problem.gradients()) {
      if (round == 0) first[name] = gradient.clone();
      EXPECT_TRUE(at::equal(first[name], gradient)) << name;
    }
  }
}

TEST(ResidentModelStep, CountsWhatItSampledInTheEpoch) {
  const Case c{"counts", ModelKind::kGcn, {4, 3}, 16, 8, 3};
  Problem problem(c);
  ModelStep step(problem.shape(), problem.data());
  const CudaStream stream;
  for (const std::uint32_t epoch : {1U, 2U}) {
    step.start_epoch(problem.seeds());
    step.run({1, epoch, 0, 0, 100, 20, 1.0F}, {}, stream.get());
    step.run({1, epoch, 1, 1, 120, 0, 1.0F}, {}, stream.get());
    step.run({1, epoch, 2, 2, 120, 17, 1.0F}, {}, stream.get());
    for (int reading = 0; reading < 2; ++reading) {  // the second one is as the first
      const SageCounts counts = step.counts(stream.get());
      ASSERT_EQ(counts.hop_edges.size(), 2U);
      EXPECT_EQ(counts.hop_edges[0], problem.entries_of(problem.seeds().subspan(100, 37), 4)) << epoch;
      EXPECT_EQ(counts.hop_nodes[0], 37 + counts.hop_edges[0]) << "the seeds, and the first hop's children";
      EXPECT_EQ(counts.hop_nodes[1], counts.hop_nodes[0] + counts.hop_edges[1]);
      EXPECT_GT(counts.hop_edges[1], 0);
      EXPECT_LE(counts.hop_edges[1], counts.hop_nodes[0] * 3);
    }
  }
}

/// Sizes that take other ways through the kernels than those of every model below.
std::vector<Case> cases_of_sizes() {
  constexpr FeatureType f16 = FeatureType::kF16;
  constexpr Draw without = Draw::kUniform;
  return {{"gcn_draws_of_one_pass", ModelKind::kGcn, {4, 3}, 16, 128, 5, f16, kBf16, false, 0.5, 0, without, false},
          {"gcn_draws_of_two_passes", ModelKind::kGcn, {4, 3}, 16, 264, 5, f16, kF32, false, 0.5, 0, without, false},
          {"gat_draws_of_two_passes", ModelKind::kGat, {4, 3}, 16, 264, 5, f16, kF32, false, 0.5, 0, without, false},
          {"ri_draws_of_two_passes", ModelKind::kSageRi, {4, 3}, 16, 264, 5, f16, kF32, false, 0.5, 0, without, false},
          {"v2_teams_of_four", ModelKind::kGatv2, {7, 9}, 16, 520, 5},
          {"v2_teams_of_eight", ModelKind::kGatv2, {4, 3}, 16, 2048, 5},
          {"v2_teams_of_eight_bf16", ModelKind::kGatv2, {4, 3}, 16, 1032, 47, FeatureType::kF16, kBf16},
          {"gin_few_rows_of_many_columns", ModelKind::kGin, {7}, 16, 2048, 5},
          {"gcn_last_fanout_of_sixteen_lanes", ModelKind::kGcn, {5, 12}, 45, 32, 6},
          {"gcn_many_nodes_before_the_last_hop",
           ModelKind::kGcn,
           {20, 20, 20},
           16,
           32,
           6,
           FeatureType::kF16,
           kF32,
           false,
           0.5,
           0,
           Draw::kWithReplacement}};
}

std::vector<Case> cases() {
  std::vector<Case> all = cases_of_sizes();
  static const std::pair<ModelKind, std::array<const char*, 10>> kNames[] = {
      {ModelKind::kGcn,
       {"gcn", "gcn_one", "gcn_wide", "gcn_with", "gcn_tf32", "gcn_bf16", "gcn_row", "gcn_fp8", "gcn_fp8_four",
        "gcn_fp8_one"}},
      {ModelKind::kGin,
       {"gin", "gin_one", "gin_wide", "gin_with", "gin_tf32", "gin_bf16", "gin_scaled", "gin_fp8", "gin_fp8_four",
        "gin_fp8_one"}},
      {ModelKind::kSageRi,
       {"ri", "ri_one", "ri_wide", "ri_with", "ri_tf32", "ri_bf16", "ri_again", "ri_fp8", "ri_fp8_four", "ri_fp8_one"}},
      {ModelKind::kGat,
       {"gat", "gat_one", "gat_wide", "gat_with", "gat_tf32", "gat_bf16", "gat_again", "gat_fp8", "gat_fp8_four",
        "gat_fp8_one"}},
      {ModelKind::kGatv2,
       {"v2", "v2_one", "v2_wide", "v2_with", "v2_tf32", "v2_bf16", "v2_again", "v2_fp8", "v2_fp8_four",
        "v2_fp8_one"}}};
  for (const auto& [kind, name] : kNames) {
    all.push_back({name[0], kind, {15, 10, 5}, 100, 64, 17});
    all.push_back({name[1], kind, {7}, 128, 8, 5});
    all.push_back({name[2], kind, {5, 32}, 300, 264, 9, FeatureType::kF32, kF32, false, 0.3, 0.1});
    all.push_back(
        {name[3], kind, {5, 20}, 45, 32, 6, FeatureType::kF16, kF32, false, 0, 0, Draw::kWithReplacement, false});
    all.push_back({name[4], kind, {15, 10, 5}, 128, 256, 47, FeatureType::kF16, kF32, true});
    all.push_back({name[5], kind, {15, 10, 5}, 100, 256, 47, FeatureType::kF16, kBf16});
    all.push_back({name[6],
                   kind,
                   {4, 3, 2, 2},
                   16,
                   24,
                   3,
                   FeatureType::kF16,
                   kF32,
                   false,
                   0.5,
                   0,
                   Draw::kUniform,
                   false,  // so that compute-sanitizer can follow it, with dropout
                   true});
    for (const auto& [i, width, last_fanout] :
         {std::tuple(7U, 128, 5), std::tuple(8U, 100, 8), std::tuple(9U, 45, 3)})  // words of 8, 4, 1
      all.push_back({name[i],
                     kind,
                     {20, last_fanout},
                     width,
                     32,
                     6,
                     FeatureType::kFp8,
                     kF32,
                     false,
                     0.5,
                     0,
                     Draw::kWithReplacement});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, ResidentModelStep, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

}  // namespace
}  // namespace salient
