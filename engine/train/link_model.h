// engine/train/link_model.h - an encoder of nodes with a decoder of links behind it, as one model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/decoders/decoder.h"
#include "models/describe/link_loss.h"
#include "models/model.h"

namespace salient {

struct DecoderShape {
  DecoderKind kind = DecoderKind::kDot;
  std::int64_t width = 0;  ///< of the encoder's results; even for complex and rotate: halves are real and imaginary
  std::int64_t num_relations = 1;  ///< of a plain graph one
  /// A score is that of the decoder and lin_final(relu(lin_src(s) + lin_dst(t) + lin_x(x))) of the pair's rows s, t and
  /// features x, in the module `decoder.pair`.
  bool has_pair_features = false;
};

/// Gives an encoder the parameters of a decoder, as its module `decoder`: they are trained and saved with its own.
/// Determinism: initial values depend on the shape and the seed alone.
void add_decoder(Model& encoder, const DecoderShape& shape, std::uint32_t seed);

/// The decoder that add_decoder() gave a model.
class LinkDecoder {
 public:
  /// Shares the parameters.
  LinkDecoder(const Model& model, DecoderKind kind, std::int64_t width);

  /// @param rows   [n, width] f32 of nodes    @param pairs  [P, 2] int32 or int64: source and destination among them
  /// @return       [P] the larger, the likelier a link
  at::Tensor scores(const at::Tensor& rows, const at::Tensor& pairs) const;
  /// The same of a typed graph. @param relations  [P] int64
  at::Tensor scores(const at::Tensor& rows, const at::Tensor& pairs, const at::Tensor& relations) const;
  /// The same with features of pairs. @param pair_x  [P, kPairFeatures] of a model that has them, else undefined
  at::Tensor scores_with(const at::Tensor& rows, const at::Tensor& pairs, const at::Tensor& pair_x) const;

  const DecoderOptions& options() const { return options_; }
  const DecoderParameters& parameters() const { return parameters_; }

 private:
  DecoderOptions options_;
  DecoderParameters parameters_;
};

/// The sum of the terms of a loss (models/describe/link_loss.h).
/// @param scores  [B (1 + K)]: of B links, then of the K negatives of the first, of the second, ...
at::Tensor link_loss_sum(const at::Tensor& scores, std::int64_t num_links, LinkLoss loss);

}  // namespace salient
