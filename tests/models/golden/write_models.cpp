// tests/models/golden/write_models.cpp - writes each model's state, a batch and its logits for pyg_roundtrip.py.
#include <ATen/ATen.h>

#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "engine/train/tensor_file.h"
#include "models/model.h"
#include "tests/support/typed_batches.h"

namespace salient {
namespace {

constexpr int kInDim = 10, kHidden = 16, kClasses = 4;

/// HGTConv takes no types with a dot, and leaves out those that no relation leads to.
GraphTypes types_for(ModelKind kind) {
  GraphTypes types = test::small_types();
  if (kind == ModelKind::kHgt) types.node_types[2].name = "subject";
  return types;
}

void write_model(const std::string& name, ModelOptions options, const std::filesystem::path& folder) {
  if (is_typed(options.kind)) options.types = types_for(options.kind);
  if (options.edge_dim == 0) options.edge_dim = test::edge_dim_of(options.kind);
  options.in_dim = kInDim, options.hidden_dim = kHidden, options.num_classes = kClasses;
  const auto model = make_model(options);
  model->eval();
  const bool has_types = is_typed(options.kind);
  BatchView batch = test::batch_for(options, {60, 60}, 1);
  batch.hops.assign(3, has_types ? batch.hops[0] : test::whole_graph_view_of(test::random_hop(60, 60, 5, 1)));
  if (options.edge_dim > 0)
    for (HopView& hop : batch.hops) hop.edge_x = test::random_edge_features(hop, 1);
  NamedTensors tensors{{"logits", model->forward(batch, {1, 0, batch.nodes})}, {"nodes", batch.nodes}};
  if (!has_types) tensors.emplace_back("x", batch.x.dense());
  for (std::size_t t = 0; t < batch.types.size(); ++t) {
    tensors.emplace_back("rows." + std::to_string(t), batch.types[t].rows);
    if (batch.types[t].x.is_defined()) tensors.emplace_back("x." + std::to_string(t), batch.types[t].x.dense());
  }
  for (std::size_t i = 0; i < batch.hops.size(); ++i) {
    const std::string hop = "hop." + std::to_string(i);
    tensors.emplace_back(hop + ".indptr", batch.hops[i].indptr);
    tensors.emplace_back(hop + ".indices", batch.hops[i].indices);
    if (options.edge_dim > 0) tensors.emplace_back(hop + ".edge_x", batch.hops[i].edge_x);
  }
  TensorMetadata dims{{"dims", "10,16,16,4"},
                      {"model", name_of(options.kind)},
                      {"norm", name_of(options.norm)},
                      {"residual", options.residual ? "True" : "False"},
                      {"activate_input", options.activate_input ? "True" : "False"},
                      {"jk", name_of(options.jk)},
                      {"aggr", name_of(options.aggr)},
                      {"gcn_norm", name_of(options.gcn_norm)},
                      {"gin_sum", name_of(options.gin_sum)},
                      {"heads", std::to_string(options.heads)},
                      {"edge_dim", std::to_string(options.edge_dim)},
                      {"bases", std::to_string(options.bases)},
                      {"blocks", std::to_string(options.blocks)}};
  if (has_types) test::add_text_of(options.types, dims);
  save_tensors(folder / (name + ".batch.safetensors"), tensors, dims);
  save_tensors(folder / (name + ".model.safetensors"), state_of(*model), {{"format", "pt"}});
}

void write_models(const std::filesystem::path& folder) {
  using enum ModelKind;
  using enum JumpingKnowledge;
  for (const auto& [kind, name] : names_of(ModelKind{})) write_model(name, {.kind = kind}, folder);
  write_model("sage-layer-cat", {.kind = kSage, .norm = NormKind::kLayer, .jk = kCat}, folder);
  write_model("sage-max-batch", {.kind = kSage, .norm = NormKind::kBatch, .aggr = Aggregation::kMax}, folder);
  write_model("gat-heads", {.kind = kGat, .norm = NormKind::kBatch, .jk = kMax, .heads = 4}, folder);
  write_model("gatv2-heads", {.kind = kGatv2, .norm = NormKind::kLayer, .jk = kCat, .heads = 4}, folder);
  write_model("transformer-heads", {.kind = kTransformer, .residual = true, .jk = kCat, .heads = 4}, folder);
  write_model("sage-edges", {.kind = kSage, .residual = true, .jk = kCat, .edge_dim = test::kEdgeDim}, folder);
  write_model("sage-edges-max", {.kind = kSage, .aggr = Aggregation::kMax, .edge_dim = test::kEdgeDim}, folder);
  for (const ModelKind kind : {kGat, kGatv2, kTransformer})
    write_model(name_of(kind) + "-edges", {.kind = kind, .edge_dim = test::kEdgeDim, .heads = 4}, folder);
  write_model("gine-residual",
              {.kind = kGine, .norm = NormKind::kLayer, .residual = true, .jk = kCat, .edge_dim = test::kEdgeDim},
              folder);
  write_model("rgcn-bases", {.kind = kRgcn, .norm = NormKind::kLayer, .jk = kMax, .bases = 3}, folder);
  write_model("rgcn-blocks", {.kind = kRgcn, .residual = true, .blocks = 4}, folder);
  write_model("rsage-activated", {.kind = kRsage, .norm = NormKind::kLayer, .activate_input = true}, folder);
  write_model("rgat-heads", {.kind = kRgat, .norm = NormKind::kBatch, .jk = kCat, .heads = 4}, folder);
  write_model("hgt-heads", {.kind = kHgt, .residual = true, .heads = 4}, folder);
  write_model("gcn-row", {.kind = kGcn, .gcn_norm = GcnNorm::kRow}, folder);
  write_model("gin-scaled", {.kind = kGin, .gin_sum = GinSum::kScaled}, folder);
  write_model("gin-residual", {.kind = kGin, .norm = NormKind::kLayer, .residual = true, .jk = kCat}, folder);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  try {
    salient::require(argc == 2, "usage: write_models FOLDER");
    salient::write_models(argv[1]);
    return 0;
  } catch (...) {
    return salient::report_current_exception("write_models");
  }
}
