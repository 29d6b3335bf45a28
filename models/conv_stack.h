// models/conv_stack.h - what all models but sage-ri have around their convolutions, the same for all of them:
// residual connections, normalisation, ReLU, dropout, jumping knowledge.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/layers.h"
#include "models/model.h"
#include "models/time_encoder.h"

namespace salient {

/// What attention takes of the edges.
struct EdgeTerms {
  std::int64_t dim = 0;                         ///< of their features, 0 = these are not read
  AggregateBy aggregate = AggregateBy::kCount;  ///< by weight, a_ij is in proportion to w_ij exp(score_ij)

  explicit EdgeTerms(const ModelOptions& options) : dim(options.edge_dim), aggregate(options.aggregate) {}
  bool are_weights() const { return aggregate == AggregateBy::kWeight; }
  bool any() const { return dim > 0 || are_weights(); }
};

/// One graph convolution: the equation of a model. Its parts are registered under PyG's names.
class Conv : public ParameterOwner {
 public:
  /// For parameters beside those of its parts.
  void initialise(const std::string&, InitScheme, std::uint32_t) override {}

  /// @param x  [num_src, in_dim] f16 or f32, or sparse      @return  [num_dst, out_dim] f32, not yet activated
  virtual at::Tensor forward(const HopView& hop, const InputRows& x) = 0;

  /// forward() needs HopView::degrees.
  virtual bool reads_degrees() const { return false; }
};

/// h_0 = x; h_{i+1} = D(relu(norm(conv_i(h_i) + R_i(h_i)))), D being dropout; the last convolution alone, without any
/// of these, gives the logits. R is 0; with residual connections the identity, or a linear map where the width changes.
/// With jumping knowledge the last convolution is like the others, and the logits are lin(h_1 | ... | h_L) for kCat,
/// lin(max(h_1, ..., h_L)) for kMax. So it is for models that always reads_out(): the logits are lin(h_L).
///
/// Parameter names: convs.I, norms.I (torch's BatchNorm1d or LayerNorm) and lin are those of PyG's BasicGNN, such as
/// torch_geometric.nn.GraphSAGE(..., norm=torch.nn.LayerNorm(hidden), jk="cat"); R_I is res_linears.I. What encodes
/// times, the same in all layers, is time_enc.
/// Algorithm: residual connections of He et al. (CVPR 2016), placed as by Luo, Shi and Wu, "Classic GNNs are strong
///            baselines" (NeurIPS 2024); jumping knowledge of Xu et al. (ICML 2018).
class ConvStack : public Model {
 public:
  struct Widths {
    int in_dim;
    int out_dim;
    bool is_hidden;  ///< false: its result are the logits
  };
  using MakeConv = std::function<std::shared_ptr<Conv>(const Widths&)>;

  ConvStack(const ModelOptions& options, const MakeConv& make_conv);
  at::Tensor layer(int i, const HopView& hop, const InputRows& x, const DropoutKey& key) final;
  at::Tensor head(const std::vector<InputRows>& h, const DropoutKey& key) final;
  int num_layers() const final { return static_cast<int>(convs_.size()); }
  bool head_reads_all_layers() const final { return jk_ != JumpingKnowledge::kNone; }
  bool reads_degrees() const final { return convs_.front()->reads_degrees(); }
  bool reads_edge_features() const final { return reads_edge_features_; }
  bool reads_edge_weights() const final { return reads_edge_weights_; }

 protected:
  enum class Last { kLogits, kHidden };
  /// For a model with a read_out() of its own, before which all layers are hidden.
  ConvStack(const ModelOptions& options, const MakeConv& make_conv, Last last);

  /// From the last layer's result, or what jumping knowledge makes of all, to the logits.
  virtual at::Tensor read_out(const at::Tensor& h, const DropoutKey& key);
  static int read_out_dim(const ModelOptions& options);  ///< columns of that h
  /// D(relu(h)). @param stream  of the mask's random numbers
  at::Tensor activated(const at::Tensor& h, const DropoutKey& key, std::uint32_t stream) const;

 private:
  at::Tensor residual(std::size_t i, const InputRows& x) const;

  double dropout_;
  bool reads_edge_features_, reads_edge_weights_;
  JumpingKnowledge jk_;
  std::size_t num_hidden_;
  std::vector<std::shared_ptr<Conv>> convs_;
  std::vector<std::shared_ptr<Norm>> norms_;        ///< [num_hidden_], or none
  std::vector<std::shared_ptr<Linear>> residuals_;  ///< [num_hidden_] null for the identity, or none
  std::shared_ptr<TimeEncoder> time_enc_;           ///< null where how long ago edges were is not read
  std::shared_ptr<Linear> lin_;                     ///< null where the last convolution gives the logits
};

}  // namespace salient
