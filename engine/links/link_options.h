// engine/links/link_options.h - what an embedding model of a knowledge graph is trained with, as plain data.
#pragma once

#include <cstdint>
#include <string>

#include "engine/links/row_optimiser.h"
#include "engine/rank/blocked_ranks.h"
#include "engine/rank/rank_metrics.h"
#include "models/describe/decoder_kind.h"

namespace salient {

struct LinkOptions {
  DecoderKind decoder = DecoderKind::kComplex;
  int hidden = 256;    ///< of kComplex and kRotate complex numbers
  int negatives = 0;   ///< of each query, uniform; 0 = all nodes are candidates
  int batch_size = 0;  ///< links a step, each asked for from both sides; 0 = link_batch_size()
  int epochs = 100;
  RowRule optimiser = RowRule::kAdagrad;
  double lr = 0.1;
  double dropout = 0;  ///< of the rows of a query's node and relation
  double n3 = 0;       ///< N3 penalty: of the rows of each link, the sum of |x|^3, on average over links
  double weight_decay = 0;
  double label_smoothing = 0;
  std::uint32_t seed = 1;
  int eval_every = 1;  ///< epochs between validations; the last epoch is always validated
  int patience = 0;    ///< validations without a better MRR before the run ends; 0 = never
  TieRule ties = TieRule::kRealistic;
  int checkpoint_every = 10;  ///< epochs; the last one is always kept
  int threads = 0;            ///< 0 = all cores

  bool operator==(const LinkOptions&) const = default;
};

/// LinkOptions::batch_size where it is 0: 512, or the largest power of two, from 16 on, with which an epoch has ten
/// steps.
constexpr int link_batch_size(const LinkOptions& options, std::size_t num_links) {
  if (options.batch_size > 0) return options.batch_size;
  int size = 512;
  while (size > 16 && static_cast<std::size_t>(size) * 10 > num_links) size /= 2;
  return size;
}

}  // namespace salient
