// benchmarks/step_parts.cpp - see step_parts.h.
#include "benchmarks/step_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <utility>

namespace salient {
namespace {

double padded(int columns) { return (columns + 7) / 8 * 8; }

/// The sizes of a batch and of the model, and the parts that follow from them.
class Step {
 public:
  Step(const TrainOptions& options, const Dataset& dataset, const EpochMetrics& epoch, std::vector<StepKernel> kernels)
      : options_(options),
        kernels_(std::move(kernels)),
        size_(options.precision == Precision::kBf16 ? 2 : 4),
        row_bytes_(static_cast<double>(dataset.features.row_bytes)),
        in_(dataset.feature_dim),
        classes_(dataset.num_classes) {
    const auto batches = static_cast<double>(*epoch.batches);
    rows_.push_back(static_cast<double>(*epoch.seeds) / batches);
    for (const std::int64_t edges : *epoch.hop_edges)
      rows_.push_back(rows_.back() + static_cast<double>(edges) / batches);
  }

  std::vector<StepPart> parts() {
    switch (options_.model.kind) {
      case ModelKind::kSage: sage(); break;
      case ModelKind::kGcn: gcn(); break;
      case ModelKind::kGin: gin(); break;
      case ModelKind::kSageRi: sage_ri(); break;
      case ModelKind::kGat: gat(); break;
      case ModelKind::kGatv2: gatv2(); break;
    }
    add("products", {"nvjet", "gemm", "cutlass", "splitK", "product_kernel", "sum_parts"}, 0, products_);
    constexpr double kSector = 32;  // of memory, for an entry or for a node's place
    add("sampling", {"hop_kernel", "grow_kernel", "count_kernel", "tree_kernel", "announce"},
        (2 * rows_.back() - rows_.front()) * kSector);
    add("loss", {"seed_loss", "sum_rows"}, seeds() * padded(classes_) * (4 + size_));
    // read: value, gradient, two moments; written: all but the gradient, and the packed value
    add("update", {"update_", "adam", "pack_kernel"}, num_weights_ * (28 + size_));
    for (const StepKernel& kernel : kernels_) parts_.push_back({kernel.name, kernel.launches, kernel.seconds});
    std::ranges::sort(parts_, std::greater(), &StepPart::seconds);
    return std::move(parts_);
  }

 private:
  static bool is_of(const StepKernel& kernel, const std::vector<std::string>& names) {
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return kernel.name.find(name) != kernel.name.npos; });
  }
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
    if (part.launches > 0) parts_.push_back(part);
  }

  int layers() const { return static_cast<int>(rows_.size()) - 1; }
  int width() const { return options_.model.hidden_dim; }
  int in_of(int layer) const { return layer == 0 ? in_ : width(); }
  int out_of(int layer) const { return layer + 1 == layers() ? classes_ : width(); }
  double seeds() const { return rows_.front(); }
  /// Of the level that a layer computes, and of what it reads.
  double rows_of(int layer) const { return rows_[static_cast<std::size_t>(layers() - 1 - layer)]; }
  double read_by(int layer) const { return rows_[static_cast<std::size_t>(layers() - layer)]; }
  double activations(double rows, double columns) const { return rows * columns * size_; }
  /// Forward, the weight's gradient and, if it is wanted, the input's.
  void product(double rows, double in, double out, bool has_input_gradient) {
    products_ += 2 * rows * in * out * (has_input_gradient ? 3 : 2);
    num_weights_ += in * out;
  }

  void sage() {
    const int last = layers() - 1;
    const bool is_first_fused = ran("fused_forward"), is_last_fused = ran("last_layer_kernel");
    double between = 0;
    for (int i = 0; i < layers(); ++i) {
      product(rows_of(i), 2 * padded(in_of(i)), padded(out_of(i)), i > 0);
      // a layer's result or its gradient, and the next one's operand or its, each way
      if (i > (is_first_fused ? 1 : 0) && !(i == last && is_last_fused))
        between += 2 * activations(read_by(i), width()) + 2 * activations(rows_of(i), 2 * width());
    }
    const double first = 2 * rows_of(0) * 2 * padded(in_) * padded(width());
    const double of_last = 2 * seeds() * 2 * padded(in_of(last)) * padded(classes_);
    products_ -= (is_first_fused ? 2 * first : 0) + (is_last_fused ? 2 * of_last : 0);
    add("rows of the table, their means", {"first_operand"},
        read_by(0) * row_bytes_ + activations(rows_of(0), 2 * padded(in_)));
    add("first layer", {"fused_forward"}, 0, first);
    add("gradient of the first layer", {"fused_backward"}, 0, first);
    add("dropout of the first layer", {"fused_dropout"}, rows_of(0) * width() / 8);
    add("last layer, loss, their gradients", {"last_layer_kernel"},
        2 * activations(read_by(last), width()) + activations(seeds(), 2 * width()), 0);
    add("between layers", {"next_operand", "spread_gradient"}, between);
  }

  /// Sums over neighbours, and their gradients. @param columns  of a sum, for each column of the rows
  void sums(double columns, double spread_more = 0) {
    add("sums over rows of the table", {"sum_kernel<salient::TableSource"},
        read_by(0) * row_bytes_ + activations(rows_of(0), columns * padded(in_ + 1)));
    double bytes = 0;
    for (int i = 1; i < layers(); ++i)
      bytes += activations(read_by(i), width()) + activations(rows_of(i), columns * width());
    add("sums over rows of a layer", {"sum_kernel"}, bytes);
    add("gradients of those rows", {"spread_kernel"}, bytes + spread_more);
  }

  /// Values and gradients that a norm reads and writes: twice z and a result; twice both gradients, z, and dz.
  void norms(double rows) { norm_bytes_ += activations(rows, width()) * (3 + 5); }
  void add_norms() {
    add("norms",
        {"moments_kernel", "statistics_kernel", "apply_kernel", "gradient_sums", "finish_gradient",
         "parameter_gradients"},
        norm_bytes_);
  }

  void gcn() {
    sums(1);
    for (int i = 0; i < layers(); ++i) product(rows_of(i), padded(in_of(i) + 1), padded(out_of(i)), i > 0);
  }

  void gin() {
    sums(1);
    for (int i = 0; i < layers(); ++i) {
      product(rows_of(i), padded(in_of(i) + 1), width(), i > 0);
      product(rows_of(i), padded(width() + 1), width(), true);
      norms(rows_of(i));
    }
    product(seeds(), padded(width() + 1), width(), true);
    product(seeds(), padded(width() + 1), padded(classes_), true);
    add_norms();
  }

  void sage_ri() {
    double residuals = 0;  // whose gradients are added to those of rows
    for (int i = 1; i < layers(); ++i) residuals += activations(rows_of(i), width());
    sums(2, residuals);
    product(rows_of(0), padded(in_ + 1), width(), false);  // the residual of the first layer
    for (int i = 0; i < layers(); ++i) {
      product(rows_of(i), 2 * padded(in_of(i)), width(), i > 0);
      norms(rows_of(i));
      norm_bytes_ += activations(rows_of(i), width());  // the residual
    }
    product(seeds(), padded(in_ + 1) + width() * layers(), padded(2 * classes_), true);
    product(seeds(), padded(2 * classes_ + 1), padded(classes_), true);
    add_norms();
  }

  void gat() {
    const double table = read_by(0) * row_bytes_, first = activations(rows_of(0), padded(in_));
    double rows = 0, sums = 0;  // of layers, and weighted
    for (int i = 0; i < layers(); ++i) {
      product(rows_of(i), padded(in_of(i)), padded(out_of(i)), true);
      if (i > 0) rows += activations(read_by(i), width()), sums += activations(rows_of(i), width());
    }
    add("attention over rows of the table", {"forward_kernel<salient::TableSource"}, table + first);
    add("attention over rows of a layer", {"forward_kernel"}, rows + sums);
    // rows are read for the logits' gradients and for the vectors'
    add("its gradients over rows of the table",
        {"logit_gradients_kernel<salient::TableSource", "row_gradients_kernel<false"}, 2 * (table + first));
    add("its gradients over rows of a layer", {"logit_gradients_kernel", "row_gradients_kernel"}, 3 * rows + 2 * sums);
    add("its parameters", {"vectors_kernel", "vector_gradients", "parameter_gradients"}, 0);
  }

  void gatv2() {
    const double columns = padded(in_ + 1);
    add("rows of the table", {"gather_kernel"}, read_by(0) * row_bytes_ + activations(read_by(0), columns));
    double l = 0, r = 0;  // with as many gradients
    for (int i = 0; i < layers(); ++i) {
      product(read_by(i), padded(in_of(i) + 1), padded(out_of(i)), i > 0);
      product(rows_of(i), padded(in_of(i) + 1), padded(out_of(i)), i > 0);
      l += activations(read_by(i), padded(out_of(i))), r += activations(rows_of(i), padded(out_of(i)));
    }
    add("attention", {"forward_kernel"}, l + 2 * r);
    add("its gradients", {"backward_kernel"}, 2 * l + 3 * r);
    add("its parameters", {"vector_gradients"}, 0);
  }

  const TrainOptions& options_;
  std::vector<StepKernel> kernels_;  // of no part yet
  const double size_, row_bytes_;
  const int in_, classes_;
  std::vector<double> rows_;  // of the tree's levels, the seeds first; the last are those that are read from the table
  std::vector<StepPart> parts_;
  double products_ = 0, num_weights_ = 0, norm_bytes_ = 0;
};

}  // namespace

std::vector<StepPart> resident_step_parts(const TrainOptions& options, const Dataset& dataset,
                                          const EpochMetrics& epoch, const std::vector<StepKernel>& kernels) {
  return Step(options, dataset, epoch, kernels).parts();
}

void note_parts(BenchReport& report, const std::string& row, const std::vector<StepPart>& parts,
                const GpuCeilings& ceilings) {
  for (const StepPart& part : std::span(parts).first(std::min<std::size_t>(parts.size(), 16))) {
    char text[240];
    const double bytes_rate = part.bytes / part.seconds, operations_rate = part.operations / part.seconds;
    int end = std::snprintf(text, sizeof text, "%5.1f launches %8.1f us  %.110s", part.launches, part.seconds * 1e6,
                            part.name.c_str());
    const auto at = [&] { return std::span(text).subspan(static_cast<std::size_t>(end)); };
    if (part.bytes > 0)
      end += std::snprintf(at().data(), at().size(), ": %.1f MB, %.2f TB/s, %.2f of a copy", part.bytes * 1e-6,
                           bytes_rate * 1e-12, bytes_rate / ceilings.bytes_per_second);
    if (part.operations > 0)
      end += std::snprintf(at().data(), at().size(), ": %.2f GFLOP, %.0f TFLOP/s, %.2f of a large product",
                           part.operations * 1e-9, operations_rate * 1e-12,
                           operations_rate / ceilings.operations_per_second);
    report.add_note(row + ", per step: " + text);
  }
}

}  // namespace salient
