// engine/infer/prediction_writer.cpp - see prediction_writer.h.
#include "engine/infer/prediction_writer.h"

#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/csv_text.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/value_text.h"
#include "engine/infer/source_ids_file.h"

namespace salient {
namespace {

/// f32 rows in host memory of their own. From a GPU they arrive in stream order.
at::Tensor copy_to_host(const at::Tensor& rows) {
  at::Tensor copy =
      at::empty(rows.sizes(), at::TensorOptions(at::kCPU).dtype(at::kFloat).pinned_memory(rows.is_cuda()));
  copy.copy_(rows, /*non_blocking=*/true);
  return copy;
}

std::span<const float> as_span(const at::Tensor& rows) {
  if (!rows.defined()) return {};
  return {rows.const_data_ptr<float>(), static_cast<std::size_t>(rows.numel())};
}

void append(std::string& bytes, const at::Tensor& rows) {
  bytes.append(static_cast<const char*>(rows.const_data_ptr()), rows.nbytes());
}

/// The floats of a message, which has no alignment of its own.
std::vector<float> floats_of(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

double sigmoid(float logit) { return 1 / (1 + std::exp(-double{logit})); }

/// exp(logit - max) / sum of each, in double precision; of labels each by itself.
class Probabilities {
 public:
  Probabilities(std::span<const float> logits, bool are_labels) : logits_(logits), are_labels_(are_labels) {
    if (are_labels) return;
    largest_ = *std::ranges::max_element(logits);
    for (const float logit : logits) sum_ += std::exp(double{logit} - largest_);
  }
  double of(std::size_t i) const {
    return are_labels_ ? sigmoid(logits_[i]) : std::exp(double{logits_[i]} - largest_) / sum_;
  }

 private:
  std::span<const float> logits_;
  bool are_labels_;
  double largest_ = 0, sum_ = 0;
};

/// Without a branch per value, so that the loop is one of vectors.
bool are_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::uint32_t num_bad = 0;
  for (const float value : values) num_bad += (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  return num_bad == 0;
}

/// The positions i of which holds(i), with blanks between.
template <class Holds>
std::string positions(std::size_t count, Holds holds) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    if (holds(i)) text.append(text.empty() ? "" : " ").append(std::to_string(i));
  return text;
}

}  // namespace

void top_classes(std::span<const float> logits, std::span<std::int32_t> classes) {
  const auto key = [&](std::int32_t c) {  // NaN counts as largest
    const float logit = logits[static_cast<std::size_t>(c)];
    return std::isnan(logit) ? INFINITY : logit;
  };
  if (classes.size() == 1) {  // most often: 30 times as fast as a sort
    std::int32_t best = 0;
    for (std::int32_t c = 1; c < std::ssize(logits); ++c)
      if (key(c) > key(best)) best = c;
    classes[0] = best;
    return;
  }
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(classes.size()),
                            [&](std::int32_t a, std::int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  std::copy_n(order.begin(), classes.size(), classes.begin());
}

PredictionWriter::PredictionWriter(std::filesystem::path folder, std::span<const NodeId> nodes,
                                   const LabelTable& labels, int num_classes, const PredictionOutput& output,
                                   Communicator& comm)
    : folder_(std::move(folder)),
      nodes_(nodes),
      labels_(labels),
      num_classes_(static_cast<std::size_t>(num_classes)),
      output_(output),
      comm_(comm) {
  if (comm.rank() != 0) return;
  const bool is_table = output.format == PredictionFormat::kCsv;
  if (!is_table || output.embedding_layer > 0) write_ids();
  if (is_table) {
    write_csv_header();
    return;
  }
  const std::filesystem::path file = folder_ / "predictions.npy";
  switch (labels.type.task) {
    case Task::kMultiClass:
      predictions_.emplace(file, "<i4", shape_of(output.top_k == 1 ? 0 : static_cast<std::uint64_t>(output.top_k)));
      break;
    case Task::kMultiLabel: predictions_.emplace(file, "|i1", shape_of(num_classes_)); break;
    case Task::kRegression: predictions_.emplace(file, "<f4", shape_of(num_classes_ == 1 ? 0 : num_classes_)); return;
  }
  logits_.emplace(folder_ / "logits.npy", "<f4", shape_of(num_classes_));
  if (output.probabilities) probabilities_.emplace(folder_ / "probabilities.npy", "<f4", shape_of(num_classes_));
}

void PredictionWriter::write_ids() {
  NpyWriter ids(folder_ / "ids.npy", "<i8", shape_of(0));
  std::vector<std::int64_t> as_int64;
  for (const NodeId node : nodes_) as_int64.push_back(static_cast<std::int64_t>(labels_.row_of(node)));
  ids.write(as_int64);
  ids.close();
  write_source_ids(folder_, nodes_, output_.ids);
}

void PredictionWriter::write_csv_header() {
  csv_.emplace(folder_ / "predictions.csv");
  std::string header = output_.ids.empty() ? "node," : "node,id,";
  if (has_values()) {
    for (std::size_t t = 0; t < num_classes_; ++t)
      header.append(t == 0 ? "" : ",")
          .append(csv_field(target_name(t)))
          .append(",")
          .append(csv_field(target_name(t) + "_predicted"));
    return csv_->write(header + "\n");
  }
  std::string names = has_several_labels() ? "" : ",label_name";
  header += has_several_labels() ? "labels,predicted" : "label";
  for (int k = 1; k <= output_.top_k; ++k) {
    const std::string number = output_.top_k == 1 ? "" : "_" + std::to_string(k);
    header.append(has_several_labels() ? ",label" : ",class").append(number).append(",probability").append(number);
    names.append(has_several_labels() ? ",label_name" : ",class_name").append(number);
  }
  if (!output_.class_names.empty()) header += names;
  for (std::size_t c = 0; output_.probabilities && c < num_classes_; ++c)
    header.append(",").append(
        csv_field("prob_" + (output_.class_names.empty() ? std::to_string(c) : output_.class_names[c])));
  csv_->write(header + "\n");
}

std::string PredictionWriter::target_name(std::size_t target) const {
  if (!output_.class_names.empty()) return output_.class_names[target];
  return num_classes_ == 1 ? "target" : "target_" + std::to_string(target);
}

std::vector<std::uint64_t> PredictionWriter::shape_of(std::uint64_t width) const {
  std::vector<std::uint64_t> shape{nodes_.size()};
  if (width > 0) shape.push_back(width);
  return shape;
}

void PredictionWriter::add(const InferenceRound& round) {
  Copies copies{.num_nodes = round.num_nodes};
  if (round.num_nodes > 0) {
    copies.logits = copy_to_host(round.logits);
    if (output_.embedding_layer > 0)
      copies.embeddings = copy_to_host(round.layers.at(static_cast<std::size_t>(output_.embedding_layer)).dense());
    if (round.logits.is_cuda()) {
      copies.is_complete = std::make_shared<c10::Event>(at::kCUDA);
      copies.is_complete->record(c10::impl::VirtualGuardImpl(at::kCUDA).getStream(round.logits.device()));
    }
  }
  on_their_way_.push_back(std::move(copies));
  if (std::ssize(on_their_way_) > output_.rounds_kept) write_oldest();
}

void PredictionWriter::finish() {
  while (!on_their_way_.empty()) write_oldest();
}

void PredictionWriter::write_oldest() {
  const Copies round = std::move(on_their_way_.front());
  on_their_way_.pop_front();
  if (round.is_complete) round.is_complete->synchronize();
  if (comm_.size() == 1) return write_rows(as_span(round.logits), as_span(round.embeddings));
  std::string mine;
  if (round.num_nodes > 0) {
    mine.append(reinterpret_cast<const char*>(&round.num_nodes), sizeof round.num_nodes);
    append(mine, round.logits);
    if (round.embeddings.defined()) append(mine, round.embeddings);
  }
  for (const std::string& bytes : comm_.gather(mine)) {
    if (bytes.empty()) continue;
    std::int64_t num_nodes = 0;
    std::memcpy(&num_nodes, bytes.data(), sizeof num_nodes);
    const std::vector<float> values = floats_of(std::string_view(bytes).substr(sizeof num_nodes));
    const std::span<const float> rows = values;
    const std::size_t num_logits = static_cast<std::size_t>(num_nodes) * num_classes_;
    write_rows(rows.first(num_logits), rows.subspan(num_logits));
  }
}

void PredictionWriter::write_rows(std::span<const float> logits, std::span<const float> embeddings) {
  const std::size_t num_rows = logits.size() / num_classes_, k = static_cast<std::size_t>(output_.top_k);
  require(num_written_ + num_rows <= nodes_.size(), "no more rows than nodes");
  if (!are_finite(logits)) {
    const auto bad = std::ranges::find_if_not(logits, [](float logit) { return std::isfinite(logit); });
    const auto row = static_cast<std::size_t>(bad - logits.begin()) / num_classes_;
    fail(ErrorKind::kBadData, "the model's output for node " +
                                  std::to_string(labels_.row_of(nodes_[num_written_ + row])) +
                                  " is not a number: features of its neighbourhood, or weights, are not finite");
  }
  std::vector<std::int32_t> classes(num_rows * k);
  for (std::size_t i = 0; i < num_rows; ++i) {
    const auto row = logits.subspan(i * num_classes_, num_classes_);
    const auto best = std::span(classes).subspan(i * k, k);
    top_classes(row, best);
    if (csv_) write_csv_row(nodes_[num_written_ + i], row, best);
  }
  if (predictions_) write_npy_rows(logits, classes);
  if (logits_) logits_->write(logits);
  if (probabilities_) write_probabilities(logits);
  if (output_.on_rows) output_.on_rows(logits, classes);
  if (!embeddings.empty() && num_rows > 0) {
    if (!embeddings_) embeddings_.emplace(folder_ / "embeddings.npy", "<f4", shape_of(embeddings.size() / num_rows));
    embeddings_->write(embeddings);
  }
  num_written_ += num_rows;
}

void PredictionWriter::write_npy_rows(std::span<const float> logits, std::span<const std::int32_t> classes) {
  switch (labels_.type.task) {
    case Task::kMultiClass: predictions_->write(classes); break;
    case Task::kMultiLabel: {
      std::vector<std::int8_t> flags(logits.size());
      std::ranges::transform(logits, flags.begin(),
                             [](float logit) { return logit > 0 ? std::int8_t{1} : std::int8_t{0}; });
      predictions_->write(flags);
      break;
    }
    case Task::kRegression: predictions_->write(logits); break;
  }
}

void PredictionWriter::write_probabilities(std::span<const float> logits) {
  std::vector<float> values;
  values.reserve(logits.size());
  for (; !logits.empty(); logits = logits.subspan(num_classes_)) {
    const Probabilities probabilities(logits.first(num_classes_), has_several_labels());
    for (std::size_t c = 0; c < num_classes_; ++c) values.push_back(static_cast<float>(probabilities.of(c)));
  }
  probabilities_->write(values);
}

void PredictionWriter::write_csv_row(NodeId node, std::span<const float> logits,
                                     std::span<const std::int32_t> classes) {
  const std::size_t label_row = labels_.row_of(node);
  std::string line = std::to_string(label_row) + ",";
  if (!output_.ids.empty()) line.append(csv_field(output_.ids[node])).append(",");
  line += csv_labels(node, logits);
  if (has_values()) return csv_->write(line + "\n");
  const Probabilities probabilities(logits, has_several_labels());
  for (const std::int32_t c : classes) line += printed(",%d,%.4f", c, probabilities.of(static_cast<std::size_t>(c)));
  if (!output_.class_names.empty()) {
    const auto name_of_class = [&](std::int32_t c) {
      return csv_field(output_.class_names[static_cast<std::size_t>(c)]);
    };
    if (!has_several_labels())
      line.append(",").append(labels_.classes[label_row] >= 0 ? name_of_class(labels_.classes[label_row]) : "");
    for (const std::int32_t c : classes) line.append(",").append(name_of_class(c));
  }
  for (std::size_t c = 0; output_.probabilities && c < num_classes_; ++c) line += printed(",%.6f", probabilities.of(c));
  csv_->write(line + "\n");
}

std::string PredictionWriter::csv_labels(NodeId node, std::span<const float> logits) const {
  const std::size_t row = labels_.row_of(node);
  if (has_values()) {
    std::string text;
    for (std::size_t t = 0; t < num_classes_; ++t) {
      const float known = labels_.values[row * num_classes_ + t];
      text.append(t == 0 ? "" : ",")
          .append(std::isnan(known) ? "" : to_text(known))
          .append(",")
          .append(to_text(logits[t]));
    }
    return text;
  }
  if (has_several_labels()) {
    const auto flags = labels_.flags.subspan(row * num_classes_, num_classes_);
    return positions(num_classes_, [&](std::size_t t) { return flags[t] == 1; }) + "," +
           positions(num_classes_, [&](std::size_t t) { return logits[t] > 0; });
  }
  return labels_.classes[row] >= 0 ? std::to_string(labels_.classes[row]) : "";
}

void PredictionWriter::close() {
  if (comm_.rank() != 0) return;
  require(num_written_ == nodes_.size(), "every node was predicted");
  for (std::optional<NpyWriter>* array : {&predictions_, &logits_, &probabilities_, &embeddings_})
    if (*array) (*array)->close();
  if (csv_) csv_->close();
}

}  // namespace salient
