// benchmarks/step_parts.cpp - see step_parts.h.
#include "benchmarks/step_parts.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "benchmarks/gpu_ceilings.h"
#include "benchmarks/layer_bytes.h"
#include "core/number_text.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/run_model.h"
#include "models/describe/costs.h"
#include "models/describe/resident_limits.h"
#include "models/describe/stack.h"

namespace salient {
namespace {

StepPart part_of(const StepKernel& kernel) { return {kernel.name, kernel.launches, kernel.seconds}; }

bool is_of(const StepKernel& kernel, const std::vector<std::string>& names) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return kernel.name.find(name) != kernel.name.npos; });
}

LayerList list_of(const TrainOptions& options, const Dataset& dataset, const EpochMetrics& epoch) {
  ModelOptions model = fitted_to(options.model, dataset);
  model.num_layers = static_cast<int>(epoch.hop_edges->size());
  return describe(model);
}

/// GraphSAGE's first residual connection maps what lin_r maps, and is a part of that product.
bool is_within_another(ModelKind kind, const RowProduct& product) {
  return kind == ModelKind::kSage && product.layer == 0 && product.has_bias;
}

/// The sizes of a batch and of the model, and the parts that follow from them.
class Step {
 public:
  Step(const TrainOptions& options, const Dataset& dataset, const EpochMetrics& epoch, std::vector<StepKernel> kernels)
      : options_(options),
        kernels_(std::move(kernels)),
        is_plain_sage_(is_plain_sage(fitted_to(options.model, dataset))),
        is_first_fused_(ran("fused_forward")),
        size_(numerics_of(options).precision == Precision::kBf16 ? 2 : 4),
        row_bytes_(static_cast<double>(dataset.features.row_bytes)),
        edge_row_bytes_(static_cast<double>(dataset.edge_features.row_bytes)),
        in_(dataset.feature_dim),
        classes_(dataset.num_classes),
        list_(list_of(options, dataset, epoch)) {
    const auto batches = static_cast<double>(*epoch.batches);
    rows_.push_back(static_cast<double>(*epoch.seeds) / batches);
    for (const std::int64_t edges : *epoch.hop_edges)
      rows_.push_back(rows_.back() + static_cast<double>(edges) / batches);
  }

  std::vector<StepPart> parts() {
    add_products_of_model();
    if (is_plain_sage_)
      sage();
    else
      add_operations_of_model();
    add("products", {"nvjet", "gemm", "cutlass", "splitK", "product_kernel", "sum_parts"}, product_bytes_, products_);
    add("sampling", {"hop_kernel", "grow_kernel", "count_kernel", "tree_kernel", "announce"}, sampling_bytes());
    constexpr double kSums = 8;  // of a seed: loss and whether it is right
    add("loss", {"seed_loss", "sum_rows"},
        (ran("seed_loss") ? seeds() * padded_columns(classes_) * (4 + size_) : 0) + seeds() * kSums);
    add("update", {"update_", "adam", "pack_kernel"}, update_bytes());
    for (const StepKernel& kernel : kernels_) parts_.push_back(part_of(kernel));
    return std::move(parts_);
  }

 private:
  bool ran(const std::string& name) const {
    return std::ranges::any_of(kernels_, [&](const StepKernel& kernel) { return is_of(kernel, {name}); });
  }
  /// Of the kernels that have one of these in their names and belong to no part yet; none if there are none.
  void add(const std::string& name, const std::vector<std::string>& kernels, double bytes, double operations = 0) {
    StepPart part{.name = name, .bytes = bytes, .operations = operations};
    std::erase_if(kernels_, [&](const StepKernel& kernel) {
      if (!is_of(kernel, kernels)) return false;
      part.launches += kernel.launches, part.seconds += kernel.seconds;
      return true;
    });
    parts_.push_back(part);
  }

  int layers() const { return static_cast<int>(rows_.size()) - 1; }
  int width() const { return options_.model.hidden_dim; }
  int in_of(int layer) const { return layer == 0 ? in_ : width(); }
  double seeds() const { return rows_.front(); }
  /// Of the level that a layer computes, and of what it reads.
  double rows_of(int layer) const { return rows_[static_cast<std::size_t>(layers() - 1 - layer)]; }
  double read_by(int layer) const { return rows_[static_cast<std::size_t>(layers() - layer)]; }
  double activations(double rows, double columns) const { return rows * columns * size_; }
  /// Of each: forward, the weight's gradient and, where its input is computed, the input's. A bias is a column of ones.
  void add_products_of_model() {
    for (const RowProduct& product : products_of(list_, ProductOrder::kSumsFirst)) {
      const double in = padded_columns(product.in + product.has_bias), out = padded_columns(product.out);
      const double rows = product.layer == layers()          ? seeds()
                          : product.rows == RowSet::kSources ? read_by(product.layer)
                                                             : rows_of(product.layer);
      const int passes = product.reads_features ? 2 : 3;
      num_weights_ += in * out;
      if (is_within_another(options_.model.kind, product)) continue;
      add_products(rows, in, out, passes);
      if (product.is_added) product_bytes_ -= activations(rows, out) * passes;  // of the product before it
    }
  }
  void add_products(double rows, double in, double out, int count) {
    products_ += 2 * rows * in * out * count;
    product_bytes_ += activations(rows, in + out) * count;
  }

  /// A sector for each entry and for a node's place, which hops but the last read twice: to count and to keep entries.
  double sampling_bytes() const {
    double places = rows_of(0);
    for (int i = 1; i < layers(); ++i) places += 2 * rows_of(i);
    return kSector * (rows_.back() - seeds() + places);
  }

  /// Adam reads value, gradient and two moments and writes all but the gradient; values are packed, gradients of packed
  /// weights unpacked. Of a fused first layer gradients are many parts, as the GPU has multiprocessors: not counted.
  double update_bytes() const {
    if (is_first_fused_) return 0;
    const double adam = 28, pack = 4 + size_, unpack = 8;
    return num_weights_ * (adam + pack + (is_plain_sage_ ? pack : unpack));
  }

  void sage() {
    const int last = layers() - 1;
    const bool is_last_fused = ran("last_layer_kernel");
    double between = 0;
    for (int i = 0; i < layers(); ++i)  // a layer's result or its gradient, and the next one's operand or its, each way
      if (i > (is_first_fused_ ? 1 : 0) && !(i == last && is_last_fused))
        between += 2 * activations(read_by(i), width()) + 2 * activations(rows_of(i), 2 * width());
    const double in = 2 * padded_columns(in_), first = 2 * rows_of(0) * in * padded_columns(width());
    const double last_in = 2 * padded_columns(in_of(last)), of_last = 2 * seeds() * last_in * padded_columns(classes_);
    if (is_first_fused_) add_products(rows_of(0), in, padded_columns(width()), -2);
    if (is_last_fused) add_products(seeds(), last_in, padded_columns(classes_), -2);
    add("rows of the table, their means", {"aggregate_features"},
        read_by(0) * row_bytes_ + activations(rows_of(0), in));
    // an operand, what dropout keeps, and means and own rows behind the layer, or their gradient
    const double of_fused =
        activations(rows_of(0), in) + rows_of(0) * width() / 8 + (last > 0 ? activations(rows_of(1), 2 * width()) : 0);
    add("first layer", {"fused_forward"}, of_fused, first);
    add("gradient of the first layer", {"fused_backward"}, of_fused, first);
    add("dropout of the first layer", {"fused_dropout"}, rows_of(0) * width() / 8);
    add("last layer, loss, their gradients", {"last_layer_kernel"},
        2 * activations(read_by(last), width()) + activations(seeds(), 2 * width()), 2 * of_last);
    add("between layers", {"aggregate_hidden", "aggregate_backward"}, between);
  }

  /// Sums over neighbours, and their gradients.
  struct Sums {
    double columns = 1;              ///< of a sum, for each of a row
    double entry = 0;                ///< bytes that a row's factor takes
    double first = 0, gradient = 0;  ///< more bytes of the first layer, and of gradients
  };
  void add_sums(const Sums& of) {
    add("sums over rows of the table", {"sum_kernel<salient::TableSource"},
        read_by(0) * (row_bytes_ + of.entry) + rows_of(0) * of.entry + of.first);
    double bytes = 0;
    for (int i = 1; i < layers(); ++i)
      bytes += activations(read_by(i), width()) + activations(rows_of(i), of.columns * width()) +
               (read_by(i) + rows_of(i)) * of.entry;
    add("sums over rows of a layer", {"sum_kernel"}, bytes);
    add("gradients of those rows", {"spread_kernel"}, bytes + of.gradient);
  }

  /// What each operation of the layers has beside products.
  void add_operations_of_model() {
    std::optional<Sums> sums;
    for (const Op& op : list_.ops) {
      if (op.layer == layers()) break;
      if (const auto* aggregate = std::get_if<Aggregate>(&op.what)) {
        if (!sums) sums.emplace();
        if (aggregate->kind == SumKind::kSymmetric) sums->entry = kSector;  // of a node, and its degree
      } else if (is_joined_product(list_, op)) {
        sums->columns = 2;  // means and own rows
      }
    }
    const BetweenLayers between = between_layers(options_.model.kind, list_, ran("row_moments"), [&](auto layer) {
      return activations(rows_of(static_cast<int>(layer)), width());
    });
    const double rows = std::accumulate(rows_.begin(), rows_.end() - 1, 0.0);
    add("means of features of edges", {"edge_means"},
        edge_mean_bytes({rows_.back() - seeds(), edge_row_bytes_}, activations(rows, padded_columns(list_.edge_dim))));
    if (sums) {
      sums->gradient = between.added_gradients;
      for (const RowProduct& product : products_of(list_, ProductOrder::kSumsFirst))  // operands that are made of rows
        if (product.reads_features && !is_within_another(options_.model.kind, product))
          sums->first += activations(rows_of(0), padded_columns(product.in + product.has_bias));
      add_sums(*sums);
    }
    if (between.norms > 0)
      add("norms",
          {"moment", "statistics_kernel", "apply_kernel", "gradient_sums", "finish_gradient", "masked_gradient",
           "parameter_gradients_kernel(salient::NormLayer", "normalise_rows", "row_norm_parameters", "mapped_gradient"},
          between.norms);
    add("residual connections", {"add_rows_kernel"}, between.residuals);
    add("activations", {"activate_kernel", "activation_backward"}, between.activations);
    add("jumping knowledge", {"concat_rows", "max_rows"}, 0);
    if (!has_attention(options_.model.kind)) return;
    const Stack stack = stack_of(list_);  // rows of gat with one head are read as they are, others' are mapped
    if (stack.layers.front().maps_entries()) attention_of_maps(stack);
    if (!stack.layers.back().maps_entries()) gat(stack);
  }

  void gat(const Stack& stack) {
    const bool reads_table = !stack.layers.front().maps_entries();
    const double table = reads_table ? read_by(0) * row_bytes_ : 0,
                 first = reads_table ? activations(rows_of(0), padded_columns(in_)) : 0;
    double rows = 0, sums = 0;  // of layers, and weighted; rows are read for the logits' gradients, and the vectors'
    for (int i = reads_table ? 1 : layers() - 1; i < layers(); ++i)
      rows += activations(read_by(i), width()), sums += activations(rows_of(i), width());
    add("attention over rows of the table", {"forward_kernel<salient::TableSource"}, table + first);
    add("attention over rows of a layer", {"forward_kernel"}, rows + sums);
    add("its gradients over rows of the table",
        {"logit_gradients_kernel<salient::TableSource", "row_gradients_kernel<false"}, 2 * table + first);
    add("its gradients over rows of a layer", {"logit_gradients_kernel", "row_gradients_kernel"}, 3 * rows + 2 * sums);
    add("its parameters", {"vectors_kernel", "vector_gradients", "parameter_gradients"}, 0);
  }

  void attention_of_maps(const Stack& stack) {
    add("rows of the table", {"gather_kernel"},
        read_by(0) * row_bytes_ + activations(read_by(0), padded_columns(in_ + 1)));
    const auto [maps, results] = attention_bytes(
        stack, [&](auto i, auto columns) { return activations(rows_of(static_cast<int>(i)), columns); },
        [&](auto i, auto columns) { return activations(read_by(static_cast<int>(i)), columns); });
    std::vector<std::string> forward{"entry_forward"}, backward{"entry_score_gradients", "entry_row_gradients"},
        parameters{"entry_vector_gradients"};
    if (stack.layers.back().maps_entries())  // gatv2's with one head; else gat's have such names
      forward.emplace_back("forward_kernel"), backward.emplace_back("backward_kernel"),
          parameters.emplace_back("vector_gradients");
    add("attention", forward, maps + results);
    add("its gradients", backward, 2 * maps + results);
    add("its parameters", parameters, 0);
  }

  const TrainOptions& options_;
  std::vector<StepKernel> kernels_;  // of no part yet
  const bool is_plain_sage_, is_first_fused_;
  const double size_, row_bytes_, edge_row_bytes_;
  const int in_, classes_;
  const LayerList list_;
  std::vector<double> rows_;  // of the tree's levels, the seeds first; the last are those that are read from the table
  std::vector<StepPart> parts_;
  double products_ = 0, product_bytes_ = 0, num_weights_ = 0;
};

}  // namespace

std::vector<StepPart> step_parts(const TrainOptions& options, const Dataset& dataset, const EpochMetrics& epoch,
                                 const std::vector<StepKernel>& kernels) {
  constexpr double kNoise = 1e-7;  // seconds that two trainings that begin alike differ by
  std::vector<StepPart> parts;
  if (*options.step == StepKind::kResident)
    parts = Step(options, dataset, epoch, kernels).parts();
  else
    std::ranges::transform(kernels, std::back_inserter(parts), part_of);
  std::erase_if(parts, [](const StepPart& part) { return part.launches <= 0 || part.seconds <= kNoise; });
  std::ranges::sort(parts, std::greater(), &StepPart::seconds);
  return parts;
}

void note_parts(BenchReport& report, const std::string& row, const std::vector<StepPart>& parts,
                const ComputeDevice& device, Precision precision) {
  std::optional<GpuCeilings> ceilings;
  if (std::ranges::any_of(parts, [](const StepPart& part) { return part.bytes + part.operations > 0; }))
    ceilings = measure_gpu_ceilings(device, precision);
  for (const StepPart& part : std::span(parts).first(std::min<std::size_t>(parts.size(), 20))) {
    std::string text = printed("%5.1f launches %8.1f us  %.120s", part.launches, part.seconds * 1e6, part.name.c_str());
    if (part.bytes > 0) {
      const double rate = part.bytes / part.seconds;
      text += printed(": %.1f MB, %.2f TB/s", part.bytes * 1e-6, rate * 1e-12);
      if (ceilings) text += printed(", %.2f of a copy", rate / ceilings->bytes_per_second);
    }
    if (part.operations > 0) {
      const double rate = part.operations / part.seconds;
      text += printed("; %.2f GFLOP, %.0f TFLOP/s", part.operations * 1e-9, rate * 1e-12);
      if (ceilings) text += printed(", %.2f of a large product", rate / ceilings->operations_per_second);
    }
    report.add_note(row + ", per step: " + text);
  }
}

}  // namespace salient
