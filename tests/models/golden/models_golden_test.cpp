// tests/models/golden/models_golden_test.cpp - logits, loss and gradients equal PyG's; scripts/make_golden.py wrote
// the files.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/train/tensor_file.h"
#include "models/model.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

/// One golden file.
class Golden {
 public:
  explicit Golden(const std::filesystem::path& path) : file_(path) {}

  std::string text(const std::string& key) const { return file_.view().metadata.at(key); }
  int number(const std::string& key) const { return std::stoi(text(key)); }
  at::Tensor tensor(const std::string& name) const {
    const TensorInfo* info = file_.view().find(name);
    if (info == nullptr) throw std::runtime_error(file_.name() + " lacks " + name);
    return tensor_of(*info);
  }
  /// Names that start so, without that start.
  std::vector<std::string> names_under(const std::string& start) const {
    std::vector<std::string> names;
    for (const TensorInfo& info : file_.view().tensors)
      if (info.name.starts_with(start)) names.push_back(info.name.substr(start.size()));
    return names;
  }

  bool is_typed() const { return file_.view().metadata.contains("node_types"); }
  GraphTypes types() const {
    return is_typed() ? test::types_of_text(text("node_types"), text("relations")) : GraphTypes();
  }

  BatchView batch() const {
    if (is_typed()) return typed_batch();
    BatchView batch{tensor("x"), tensor("y"), {}, {}};
    batch.nodes = at::arange(batch.x.num_rows(), at::kInt);
    for (int i = 0; i < number("num_layers"); ++i) {
      const std::string hop = "hop." + std::to_string(i);
      const at::Tensor indptr = tensor(hop + ".indptr");
      batch.hops.push_back(
          {indptr.numel() - 1, tensor(hop + ".num_src").item<int>(), indptr, tensor(hop + ".indices")});
      HopView& view = batch.hops.back();
      if (file_.view().find(hop + ".edge_x") != nullptr) view.edge_x = tensor(hop + ".edge_x");
      if (file_.view().find(hop + ".edge_weight") != nullptr) view.edge_weight = tensor(hop + ".edge_weight");
      if (file_.view().find("row_weights") != nullptr)
        view.row_weights = tensor("row_weights").narrow(0, 0, view.num_src);
      if (file_.view().find("degrees") != nullptr) view.degrees = tensor("degrees").narrow(0, 0, view.num_src);
    }
    return batch;
  }

  BatchView typed_batch() const {
    const GraphTypes graph = types();
    BatchView batch{{}, tensor("y"), tensor("nodes"), {}};
    const std::vector<int> type_of_node = test::values_of(tensor("node_type"));
    const auto nodes = test::nodes_of_types(graph, type_of_node, batch.nodes.numel());
    for (std::size_t t = 0; t < nodes.size(); ++t)
      batch.types.push_back({at::tensor(nodes[t], at::kInt),
                             graph.node_types[t].feature_dim == 0 ? InputRows() : tensor("x." + std::to_string(t))});
    std::int64_t num_src = batch.nodes.numel();
    for (int i = 0; i < number("num_layers"); ++i) {
      const std::string hop = "hop." + std::to_string(i), next = "hop." + std::to_string(i + 1) + ".num_src";
      const std::int64_t num_dst = file_.view().find(next) == nullptr ? batch.y.size(0) : tensor(next).item<int>();
      batch.hops.push_back(test::typed_hop(graph, type_of_node, num_dst, num_src,
                                           test::values_of(tensor(hop + ".indptr")),
                                           test::values_of(tensor(hop + ".indices"))));
      num_src = num_dst;
    }
    return batch;
  }

  std::shared_ptr<Model> model() const {
    ModelOptions options;
    options.kind = value_named<ModelKind>(text("model")).value(), options.hidden_dim = number("hidden_dim"),
    options.dropout = 0;
    options.num_layers = number("num_layers"), options.num_classes = number("num_classes");
    const auto has = [&](const char* key) { return file_.view().metadata.contains(key); };
    if (has("heads")) options.heads = number("heads");
    if (has("norm")) options.norm = value_named<NormKind>(text("norm")).value();
    if (has("residual")) options.residual = text("residual") == "True";
    if (has("aggr")) options.aggr = value_named<Aggregation>(text("aggr")).value();
    if (has("gcn_norm")) options.gcn_norm = value_named<GcnNorm>(text("gcn_norm")).value();
    if (has("aggregate")) options.aggregate = value_named<AggregateBy>(text("aggregate")).value();
    if (has("gin_sum")) options.gin_sum = value_named<GinSum>(text("gin_sum")).value();
    if (has("jk")) options.jk = value_named<JumpingKnowledge>(text("jk")).value();
    if (has("activate_input")) options.activate_input = text("activate_input") == "True";
    if (has("bases")) options.bases = number("bases");
    if (has("edge_dim")) options.edge_dim = number("edge_dim");
    if (has("blocks")) options.blocks = number("blocks");
    options.types = types();
    if (!is_typed()) options.in_dim = static_cast<int>(tensor("x").size(1));
    const auto model = make_model(options);
    const NamedTensors state = state_of(*model);
    EXPECT_EQ(state.size(), names_under("state.").size());
    for (auto [name, value] : state) value.copy_(tensor("state." + name));
    return model;
  }

 private:
  SafetensorsFile file_;
};

class ModelsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelsGolden, EqualsPyG) {
  const Golden golden(std::filesystem::path(SALIENT_GOLDEN_FOLDER) / (std::string(GetParam()) + ".safetensors"));
  ASSERT_EQ(golden.text("magic"), "salient golden");
  ASSERT_EQ(golden.text("version"), "1");
  const double tolerance = std::stod(golden.text("tolerance"));
  const auto expect_close = [&](const at::Tensor& actual, const std::string& name) {
    const at::Tensor expected = golden.tensor(name).to(at::kDouble), found = actual.to(at::kDouble);
    EXPECT_TRUE(at::allclose(found, expected, tolerance, tolerance))
        << name << ": off by " << (found - expected).abs().max().item<double>();
  };

  const auto model = golden.model();
  const BatchView batch = golden.batch();
  const at::Tensor logits = model->forward(batch, {1, 0, batch.nodes});
  const at::Tensor loss = at::nll_loss(at::log_softmax(logits, -1), batch.y.to(at::kLong));
  loss.backward();
  expect_close(logits, "logits");
  expect_close(loss, "loss");
  for (const std::string& name : golden.names_under("grad.")) {
    const at::Tensor& parameter = model->named_parameters()[name];  // of a relation without entries it may have none
    expect_close(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter), "grad." + name);
  }
  for (const std::string& name : golden.names_under("updated."))
    expect_close(model->named_buffers()[name], "updated." + name);
}

INSTANTIATE_TEST_SUITE_P(Files, ModelsGolden,
                         ::testing::Values("sage_f32", "sage_f16", "gat", "gat_heads", "gin", "sage_ri", "gcn",
                                           "gcn_row", "gin_scaled", "sage_max", "gatv2", "gatv2_heads",
                                           "sage_layer_norm", "gat_batch_norm", "gin_residual", "transformer",
                                           "transformer_heads", "gat_edges", "gatv2_edges", "gatv2_edges_f16",
                                           "transformer_edges", "sage_edges", "sage_edges_f16", "sage_edges_max",
                                           "sage_edges_weights", "sage_weights", "sage_weights_f16", "sage_ri_weights",
                                           "gcn_weights", "gcn_row_weights", "gcn_weights_whole", "gat_weights",
                                           "gatv2_weights", "transformer_weights", "gine", "gine_residual", "rgcn",
                                           "rgcn_bases", "rgcn_blocks", "rgcn_activated", "hgt_activated", "rsage",
                                           "rsage_batch_norm", "rgat", "rgat_heads", "hgt", "hgt_heads"));

}  // namespace
}  // namespace salient
