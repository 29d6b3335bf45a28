// tests/models/describe/stack_test.cpp - stacks by layers: what is taken from a list is what the options ask for.
#include "models/describe/stack.h"

#include <gtest/gtest.h>

#include <string>

#include "models/describe/costs.h"
#include "tests/support/every_model.h"

namespace salient {
namespace {

bool is_attention(ModelKind kind) { return has_attention(kind); }

/// Elements of the weights and biases of a map.
std::int64_t size_of(const LinearMap& map) { return map.in * map.out + (map.bias.empty() ? 0 : map.out); }

/// Numbers in all parameters that the stack names, but those of attention.
std::int64_t size_of(const Stack& stack) {
  std::int64_t size = 0;
  for (const LinearMap& map : stack.head) size += size_of(map);
  for (const StackLayer& layer : stack.layers) {
    for (const LinearMap& map : layer.maps) size += size_of(map);
    if (layer.residual) size += size_of(*layer.residual);
    if (!layer.inner_norm.empty()) size += 2 * layer.maps[0].out;
    if (layer.norm.kind != NormKind::kNone) size += 2 * layer.out;
  }
  return size;
}

std::int64_t size_of_attention(const LayerList& list) {
  std::int64_t size = 0;
  for (const Op& op : list.ops)
    if (const auto* attend = std::get_if<Attend>(&op.what))
      size += op.width * static_cast<std::int64_t>(attend->vectors.size() + !attend->bias.empty());
  return size;
}

TEST(StackOf, HasWhatTheOptionsAskFor) {
  int num_compared = 0;
  test::for_each_model([&](const ModelOptions& o, const std::string& name) {
    const bool is_read = o.kind == ModelKind::kSage;  // by a sum, which a stack has; by attention none of a stack does
    if (o.kind == ModelKind::kSageRi || (o.edge_dim > 0 && !is_read) || is_typed(o.kind)) return;
    ++num_compared;
    const LayerList list = describe(o);
    const Stack stack = stack_of(list);
    const bool has_jk = o.jk != JumpingKnowledge::kNone, is_gin = o.kind == ModelKind::kGin;
    ASSERT_EQ(stack.layers.size(), static_cast<std::size_t>(o.num_layers)) << name;
    EXPECT_EQ(stack.head.size(), is_gin ? 2U : has_jk ? 1U : 0U) << name;
    EXPECT_EQ(stack.head_dropout.has_value(), is_gin) << name;
    EXPECT_EQ(stack.jumping.has_value(), has_jk) << name;
    const CombineKind all_layers = o.jk == JumpingKnowledge::kCat ? CombineKind::kConcat : CombineKind::kMax;
    EXPECT_EQ(stack.jumping.value_or(all_layers), all_layers) << name;
    EXPECT_EQ(size_of(stack) + size_of_attention(list), num_parameters(list)) << name << ": each is named once";
    bool any_written = false;  // rows that a layer must find activated
    for (int i = 0; i < o.num_layers; ++i) {
      const StackLayer& layer = stack.layers[static_cast<std::size_t>(i)];
      const bool is_hidden = is_gin || has_jk || i + 1 < o.num_layers;
      EXPECT_EQ(layer.in, i == 0 ? o.in_dim : o.hidden_dim) << name;
      EXPECT_EQ(layer.out, is_hidden ? o.hidden_dim : o.num_classes) << name;
      EXPECT_EQ(layer.is_hidden, is_hidden) << name;
      EXPECT_EQ(layer.attention.has_value(), is_attention(o.kind)) << name;
      EXPECT_EQ(layer.sum.has_value(), !is_attention(o.kind) && o.aggr == Aggregation::kMean) << name;
      EXPECT_EQ(layer.edge_sum.has_value(), o.edge_dim > 0 && o.aggr == Aggregation::kMean) << name;
      EXPECT_EQ(layer.is_joined, o.kind == ModelKind::kSage) << name;
      const int heads = is_attention(o.kind) && is_hidden ? o.heads : 1;
      const bool maps_entries = is_attention(o.kind) && (o.kind != ModelKind::kGat || heads > 1);
      EXPECT_EQ(layer.maps_entries(), maps_entries) << name;
      EXPECT_EQ(layer.maps_own_rows(), is_attention(o.kind) && o.kind != ModelKind::kGat) << name;
      any_written = any_written || (maps_entries && (o.kind != ModelKind::kGatv2 || heads > 1));
      EXPECT_EQ(layer.inner_norm.empty(), !is_gin) << name;
      EXPECT_EQ(layer.norm.kind, is_hidden ? o.norm : NormKind::kNone) << name;
      EXPECT_EQ(layer.has_residual, is_hidden && o.residual) << name;
      EXPECT_EQ(layer.residual.has_value(), layer.has_residual && layer.in != layer.out) << name;
      EXPECT_EQ(layer.dropout.has_value(), is_hidden && !is_gin) << name;
      EXPECT_EQ(layer.dropout.value_or(i), static_cast<std::uint32_t>(i)) << name;
    }
    EXPECT_EQ(stack.passes_z(), stack.is_plain() && !any_written) << name;
  });
  EXPECT_GT(num_compared, 500);
}

}  // namespace
}  // namespace salient
