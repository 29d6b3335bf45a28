// engine/plan/batch_plan.h - whether batches are resident or eager, and why: one list of rules for every program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "engine/plan/step_kind.h"
#include "loaders/residency.h"
#include "models/describe/decoder_kind.h"
#include "models/describe/link_loss.h"
#include "models/describe/model_options.h"
#include "models/numerics.h"
#include "sampler/link_rule.h"
#include "sampler/sampling_rule.h"
#include "sampler/time_rule.h"
#include "store/dataset.h"

namespace salient {

/// What batches of links are trained on.
struct LinkSpec {
  LinkRule rule{};
  DecoderKind decoder{};
  LinkLoss loss{};
  std::size_t max_batch = 1;  ///< links of a step, over all ranks
};

/// A model and the batches that it sees, in training or in inference.
struct ResidentSpec {
  ModelOptions model{};  ///< but for in_dim and num_classes, which are the data set's
  SamplingRule rule{};
  std::optional<TimeRule> time{};  ///< as LoaderOptions::time
  /// Links are predicted, from rows that are hidden_dim wide: batches of training are of these, without whose entries
  /// they are sampled, and seeds are their ends, one for each.
  std::optional<LinkSpec> links{};
  std::size_t max_seeds = 1;  ///< of a batch on this rank
  Numerics numerics{};
};

/// The model with the data set's widths, or with that of rows of links.
ModelOptions model_of(const ResidentSpec& spec, const Dataset& dataset);

/// Whether its resident batches are GraphSAGE's own: is_plain_sage() of it.
bool is_plain_sage(const ResidentSpec& spec, const Dataset& dataset);

/// What batches are for; rules differ by it.
enum class Purpose : std::uint8_t {
  kTraining,
  kEvaluation,      ///< beside resident training steps
  kInference,       ///< of nodes that are all known, once
  kServing,         ///< of the few nodes of a request, for as long as a program runs
  kExactInference,  ///< from all neighbours, layer by layer: the spec's rule and seeds are not read
};

/// Where features and graph are for resident batches.
inline constexpr DataResidency kAllOnDevice{
    .features = Residency::kDevice, .graph = GraphResidency::kDevice, .edge_features = true};

/// Which data is in GPU memory, as the rules ask.
DataResidency residency_of(const ResidentView& data);

/// What the rules decide on.
struct StepQuestion {
  /// What exact inference alone is asked.
  struct Exact {
    int num_ranks = 1;
    bool is_partitioned = false;               ///< of features
    bool has_place = false;                    ///< the user chose where layers' results are
    bool is_f32 = false;                       ///< the user chose f32 for them
    std::optional<std::int64_t> free_bytes{};  ///< of GPU memory, before the data is there; none: there is no GPU
  };

  Purpose purpose = Purpose::kTraining;
  ResidentSpec spec{};
  const Dataset& dataset;
  DataResidency data{};
  std::optional<StepKind> asked{};  ///< none: what is faster
  bool keeps_layer = false;         ///< the result of a layer is asked for
  Exact exact{};
  bool has_kernels = SALIENT_HAS_CUDA;  ///< the build's
};

/// Batches, and what computes them.
struct BatchPlan {
  ResidentSpec spec{};
  StepKind kind = StepKind::kEager;
  std::string why{};  ///< why they are eager, as a fact; "" of resident ones

  bool is_resident() const { return kind == StepKind::kResident; }
};

/// One reason for eager batches.
struct StepRule {
  std::string_view name;  ///< the reason itself where there is no `details`
  unsigned purposes;      ///< a bit for each
  bool prevents;          ///< resident batches; else they are possible, and slower
  bool (*refuses)(const StepQuestion&);
  std::string (*details)(const StepQuestion&) = nullptr;

  bool is_for(Purpose purpose) const { return (purposes >> static_cast<unsigned>(purpose) & 1U) != 0; }
  std::string reason(const StepQuestion& question) const { return details ? details(question) : std::string(name); }
};

/// In the order in which they are asked: the first one that refuses gives the reason.
std::span<const StepRule> step_rules();

/// Resident where no rule of the purpose refuses. Depends on the question alone, so it is the same on all ranks
/// with their data in the same place.
BatchPlan plan_batches(const StepQuestion& question);

/// @param what  "resident predictions"
/// @throws Error{kind} "what: why" where resident batches were asked for and the plan's are eager
void require_asked(const char* what, std::optional<StepKind> asked, const BatchPlan& plan,
                   ErrorKind kind = ErrorKind::kUsage);

/// "WHAT are eager: why", or "WHAT are resident: ..." with the precision.
std::string to_text(const char* what, const BatchPlan& plan);

}  // namespace salient
