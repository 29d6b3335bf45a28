// tests/models/golden/decoders_golden_test.cpp - scores and gradients of decoders, and the queries of embedding models,
// equal PyG's; scripts/make_decoder_golden.py wrote the file.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "core/files/safetensors.h"
#include "engine/links/link_query.h"
#include "models/decoders/decoder.h"

namespace salient {
namespace {

constexpr double kTolerance = 1e-5;

/// The tensors of one model.
class Golden {
 public:
  explicit Golden(DecoderKind kind)
      : file_(std::filesystem::path(SALIENT_GOLDEN_FOLDER) / "decoders.safetensors"), name_(name_of(kind)) {}

  bool has(const std::string& name) const { return file_.view().find(name_ + "." + name) != nullptr; }
  at::Tensor tensor(const std::string& name) const {
    const TensorInfo* info = file_.view().find(name_ + "." + name);
    if (info == nullptr) throw std::runtime_error("no tensor " + name);
    at::Tensor tensor = at::empty(info->shape, info->type == TensorType::kI64 ? at::kLong : at::kFloat);
    std::memcpy(tensor.data_ptr(), info->bytes.data(), info->bytes.size());
    return tensor;
  }
  /// Real and imaginary halves side by side.
  at::Tensor rows(const std::string& prefix, const std::string& table) const {
    at::Tensor rows = tensor(prefix + table + ".weight");
    const std::string imaginary = prefix + table + "_im.weight";
    return has(imaginary) ? at::cat({rows, tensor(imaginary)}, 1) : rows;
  }

 private:
  SafetensorsFile file_;
  std::string name_;
};

constexpr DecoderKind kPygs[] = {DecoderKind::kDistmult, DecoderKind::kComplex, DecoderKind::kRotate};

void expect_close(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  EXPECT_LT((found - expected).abs().max().item<double>(), kTolerance) << what;
}

TEST(DecodersGolden, ScoresAndGradientsArePygs) {
  for (const DecoderKind kind : kPygs) {
    const Golden golden(kind);
    const at::Tensor nodes = golden.rows("", "node_emb").requires_grad_();
    DecoderOptions options{.kind = kind, .hidden = nodes.size(1) / node_halves(kind)};
    DecoderParameters parameters;
    for (const char* name : {"rel_emb.weight", "rel_emb_im.weight"})
      if (golden.has(name)) parameters[name] = golden.tensor(name).requires_grad_();
    options.num_relations = parameters.at("rel_emb.weight").size(0);
    EXPECT_EQ(make_decoder(options, at::kCPU).size(), parameters.size());
    const at::Tensor scores = decode(options, parameters, nodes.index_select(0, golden.tensor("head")),
                                     golden.tensor("relation"), nodes.index_select(0, golden.tensor("tail")));
    expect_close(scores.detach(), golden.tensor("scores"), name_of(kind));
    (scores * golden.tensor("weight")).sum().backward();
    expect_close(nodes.grad(), golden.rows("grad.", "node_emb"), name_of(kind) + " node_emb");
    for (const auto& [name, values] : parameters)
      expect_close(values.grad(), golden.tensor("grad." + name), name_of(kind) + " " + name);
  }
}

TEST(DecodersGolden, QueriesScoreAsPyg) {
  for (const DecoderKind kind : kPygs) {
    const Golden golden(kind);
    const at::Tensor nodes = golden.rows("", "node_emb"), relations = golden.rows("", "rel_emb");
    const EmbeddingShape shape{.decoder = kind, .hidden = nodes.size(1) / node_halves(kind)};
    const at::Tensor head = golden.tensor("head"), relation = golden.tensor("relation"), tail = golden.tensor("tail"),
                     scores = golden.tensor("scores");
    const double margin = kind == DecoderKind::kRotate ? 1 : 0;
    std::vector<float> query(static_cast<std::size_t>(shape.node_width()));
    for (std::int64_t i = 0; i < head.size(0); ++i)
      for (const bool is_turned : {false, true}) {
        const auto row = [&](const at::Tensor& rows, const at::Tensor& numbers) {
          return rows.const_data_ptr<float>() + numbers[i].item<std::int64_t>() * rows.size(1);
        };
        const float* node = row(nodes, is_turned ? tail : head);
        const float* other = row(nodes, is_turned ? head : tail);
        make_query({shape, is_turned, node, row(relations, relation)}, query.data());
        const float score = pair_score(pair_score_of(kind), query.data(), other, shape.node_width());
        EXPECT_NEAR(score + margin, scores[i].item<double>(), kTolerance) << name_of(kind);
      }
  }
}

TEST(Decoders, DotAndMlpAreOfTheProductOfRows) {
  at::manual_seed(1);
  const at::Tensor source = at::randn({5, 4}), destination = at::randn({5, 4});
  const at::Tensor none = at::zeros({5}, at::kLong);
  const DecoderOptions dot{.kind = DecoderKind::kDot, .hidden = 4}, mlp{.kind = DecoderKind::kMlp, .hidden = 4};
  expect_close(decode(dot, {}, source, none, destination), (source * destination).sum(1), "dot");
  const DecoderParameters parameters = make_decoder(mlp, at::kCPU);
  const at::Tensor inner =
      at::relu(at::matmul(source * destination, parameters.at("lin.0.weight").t()) + parameters.at("lin.0.bias"));
  const at::Tensor expected = (inner * parameters.at("lin.1.weight")).sum(1) + parameters.at("lin.1.bias");
  expect_close(decode(mlp, parameters, source, none, destination), expected, "mlp");
}

}  // namespace
}  // namespace salient
