// models/resident/norm_step.cpp - batch norms of a step program: see batch_norm.h, and mapped_norm.h for those behind a
// map of features.
#include <memory>

#include "models/resident/mapped_norm.h"
#include "models/resident/step_program.h"
#include "models/resident/urgent_stream.h"

namespace salient {

BatchNormTensors StepProgram::norm_tensors(const std::string& name) const {
  const StepTensor weight = tensor(name + ".weight"), bias = tensor(name + ".bias");
  return {.weight = static_cast<const float*>(weight.value),
          .bias = static_cast<const float*>(bias.value),
          .weight_gradient = weight.gradient,
          .bias_gradient = bias.gradient,
          .running_mean = static_cast<float*>(tensor(name + ".running_mean").value),
          .running_var = static_cast<float*>(tensor(name + ".running_var").value),
          .num_batches_tracked = static_cast<std::int64_t*>(tensor(name + ".num_batches_tracked").value)};
}

std::function<NormLayer(const StepRun&)> StepProgram::norm_of(const std::string& name, const NormPart& part) {
  if (is_training()) find_first_seen();
  const auto* const none = is_training() ? nullptr : memory_.array<LocalId>(1);  // of no distinct nodes: zero
  auto* const sums = memory_.array<float>(norm_sums_size(part.columns));
  auto* const statistics = memory_.array<float>(4 * padded(part.columns));
  const bool has_dropout = part.dropout && dropout(*part.dropout).threshold != 0;
  auto* const kept =
      has_dropout ? memory_.array<std::uint8_t>(levels_.capacity({part.level}) * part.z.width / 8) : nullptr;
  const BatchNormTensors tensors = norm_tensors(name);
  const TreeDropout mask = part.dropout ? dropout(*part.dropout) : no_dropout();
  return [=, this](const StepRun& run) {
    return NormLayer{.tensors = tensors,
                     .nodes = tree(run).nodes(),
                     .num_nodes = tree(run).size_of(part.level),
                     .first = is_training() ? first_seen(run).flags() : nullptr,
                     .num_distinct = is_training() ? first_seen(run).num_distinct(part.level) : none,
                     .columns = part.columns,
                     .slope = part.slope,
                     .dropout = of(run, mask),
                     .z = part.z,
                     .out = part.out,
                     .residual = part.residual,
                     .sums = sums,
                     .statistics = statistics,
                     .kept = kept};
  };
}

void StepProgram::add_norm(const std::string& name, const NormPart& part) {
  const auto layer = norm_of(name, part);
  add([=, this](const StepRun& run) { norm_forward(layer(run), levels_.rows({part.level}, run.choice), run.stream); },
      [=, this](const StepRun& run) {
        norm_backward(layer(run), part.gradient, part.dz, levels_.rows({part.level}, run.choice), run.stream);
      });
}

/// Of rows in f32 sums of z are more exact, and products with themselves cost more than reading z. So do those of more
/// columns than z has.
bool StepProgram::has_moments(std::int64_t in, std::int64_t out) const {
  return is_training() && shape_.activations == ActivationType::kBf16 && in <= kMostMomentColumns && in <= out;
}

std::function<MaskedRows(const StepRun&)> StepProgram::add_mapped_norm(const LinearLayer& map, std::int64_t ones,
                                                                       const std::string& name, const NormPart& part) {
  const std::int64_t in = map.input.width;
  const auto layer =
      [norm = norm_of(name, part),
       positive = memory_.array<std::uint8_t>(levels_.capacity({part.level}) * part.z.width / 8)](const StepRun& run) {
        NormLayer mine = norm(run);
        mine.positive = positive;
        return mine;
      };
  float* const parts = memory_.array<float>(moment_parts_size(in));
  float* const moments = memory_.array<float>(2 * moments_size(in));  // of batches in turn
  const auto moments_of = [=](const StepRun& run) { return moments + (run.tree % 2 == 0 ? 0 : moments_size(in)); };
  add_ahead([=, this](const StepRun& run) {
    row_moments({.rows = map.input.of(run.tree),
                 .ones = ones,
                 .num_nodes = tree(run).size_of(part.level),
                 .first = first_seen(run).flags(),
                 .num_distinct = first_seen(run).num_distinct(part.level),
                 .parts = parts,
                 .moments = moments_of(run)},
                run.stream);
  });
  float* const mapped = memory_.array<float>(part.z.width * in);
  const auto weight = std::make_shared<PackedWeight>();  // what add(map) will have made when this runs
  const auto norm = [=](const StepRun& run) {
    return MappedNorm{.norm = layer(run),
                      .weight = weight->value.data,
                      .gradient = weight->gradient,
                      .width = in,
                      .ones = ones,
                      .moments = moments_of(run),
                      .mapped = mapped};
  };
  add(
      [=](const StepRun& run) {  // beside the product
        follow(run.beside, run.stream);
        mapped_statistics(norm(run), run.beside);
      },
      [=](const StepRun& run) { finish_mapped_gradient(norm(run), run.beside); });  // behind the weight's gradient
  *weight = add(map);
  add(
      [=, this](const StepRun& run) {
        follow(run.stream, run.beside);
        norm_apply(layer(run), levels_.rows({part.level}, run.choice), run.stream);
      },
      [=, this](const StepRun& run) {
        if (part.is_masked) return;
        masked_gradient(layer(run), part.gradient, part.dz, levels_.rows({part.level}, run.choice), run.stream);
      });
  return [=](const StepRun& run) {
    const NormLayer mine = layer(run);
    const float scale = mine.dropout.threshold == 0 ? 1.0f : mine.dropout.scale;
    return MaskedRows{part.dz.data, mine.kept, mine.positive, scale, part.slope};
  };
}

}  // namespace salient
