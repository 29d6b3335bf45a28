// models/rgcn.cpp - see rgcn.h.
#include "models/rgcn.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "models/init.h"
#include "models/ops/linear.h"
#include "models/ops/operators.h"
#include "models/ops/relations.h"
#include "models/typed_stack.h"

namespace salient {
namespace {

class RgcnConv : public Conv {
 public:
  RgcnConv(std::int64_t num_relations, const ConvStack::Widths& w, int bases, int blocks)
      : num_relations_(num_relations), has_blocks_(blocks > 0) {
    const auto add = [&](const char* name, at::IntArrayRef shape) {
      return register_parameter(name, at::empty(shape, at::kFloat));
    };
    if (blocks > 0)
      weight_ = add("weight", {num_relations, blocks, w.in_dim / blocks, w.out_dim / blocks});
    else
      weight_ = add("weight", {bases > 0 ? bases : num_relations, w.in_dim, w.out_dim});
    if (bases > 0) comp_ = add("comp", {num_relations, bases});
    root_ = add("root", {w.in_dim, w.out_dim});
    bias_ = register_parameter("bias", at::zeros({w.out_dim}));
  }

  void initialise(const std::string& name, InitScheme, std::uint32_t seed) override {
    for (const auto& item : named_parameters(/*recurse=*/false)) {
      const at::Tensor& parameter = item.value();
      if (parameter.dim() > 1)
        fill_uniform(parameter.detach(), name + "." + item.key(), glorot_bound(parameter.size(-2), parameter.size(-1)),
                     seed);
    }
  }

  at::Tensor forward(const HopView& hop, const InputRows& x) override {
    const auto& [precision, order] = numerics();
    const FilledRows rows(hop);
    const auto [means, own] = relation_means(hop, x.dense(), order);
    const at::Tensor products = grouped_product(means, hop.typed->relation_begin, weight(), precision);
    return segment_sum(rows.of_destination, products, order) + linear(own, root_.t(), bias_, precision);
  }

 private:
  /// [relations, blocks or 1, in, out]
  at::Tensor weight() const {
    if (has_blocks_) return weight_;
    if (!comp_.defined()) return weight_.unsqueeze(1);
    return at::mm(comp_, weight_.flatten(1)).view({num_relations_, 1, root_.size(0), root_.size(1)});
  }

  std::int64_t num_relations_;
  bool has_blocks_;
  at::Tensor weight_, comp_, root_;  ///< comp_ is undefined without bases
  at::Tensor bias_;                  ///< starts at 0
};

}  // namespace

std::shared_ptr<Model> make_rgcn(const ModelOptions& options) {
  return std::make_shared<TypedStack>(options, [options](const ConvStack::Widths& w) {
    return std::make_shared<RgcnConv>(static_cast<std::int64_t>(options.types.relations.size()), w, options.bases,
                                      w.is_hidden ? options.blocks : 0);
  });
}

}  // namespace salient
