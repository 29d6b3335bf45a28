// models/decoders/decoder.h - scores of links from rows of their ends, differentiable, under PyG's parameter names.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

#include "models/describe/decoder_kind.h"

namespace salient {

struct DecoderOptions {
  DecoderKind kind = DecoderKind::kDot;
  std::int64_t hidden = 0;         ///< width of a node's row, or of each of its halves
  std::int64_t num_relations = 0;  ///< of kDistmult, kComplex and kRotate
  double margin = 1;               ///< of kRotate, added to each score
};

/// The parameters of a decoder, f32, by name: rel_emb.weight [num_relations, hidden] (of kRotate angles) and
/// rel_emb_im.weight of kComplex, as torch_geometric.nn.kge has them; of kMlp lin.0.weight [hidden, hidden],
/// lin.0.bias, lin.1.weight [1, hidden], lin.1.bias. kDot has none.
using DecoderParameters = std::map<std::string, at::Tensor>;

/// As PyG's models start: uniform within sqrt(6 / (rows + columns)), angles within 0 to 2 pi, biases 0. Reads the
/// default generator of `device`.
DecoderParameters make_decoder(const DecoderOptions& options, at::Device device);

/// [n] scores of links. Of kComplex and kRotate a row is its real half and then its imaginary one.
///
///   dot        sum of s t                    mlp     lin.1(relu(lin.0(s t)))
///   distmult   sum of s r t                  rotate  margin - |s e^(i r) - t|, the 2-norm of all numbers
///   complex    real part of the sum of s r conj(t)
///
/// @param source, destination  [n, hidden * node_halves(kind)] f32
/// @param relation             [n] int64, below num_relations; not read by kDot and kMlp
/// Oracle: torch_geometric.nn.kge, tests/models/golden/decoders.safetensors
at::Tensor decode(const DecoderOptions& options, const DecoderParameters& parameters, const at::Tensor& source,
                  const at::Tensor& relation, const at::Tensor& destination);

}  // namespace salient
