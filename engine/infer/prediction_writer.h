// engine/infer/prediction_writer.h - predictions as files: arrays for programs or a table for people.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/files/npy.h"
#include "core/types.h"
#include "engine/comm/communicator.h"
#include "engine/infer/inference_round.h"
#include "store/label_table.h"
#include "store/node_ids.h"

namespace c10 {
struct Event;
}

namespace salient {

enum class PredictionFormat : std::uint8_t {
  kNpy,  ///< arrays for programs
  kCsv,  ///< a table for people
};

constexpr auto names_of(PredictionFormat) {
  return std::to_array<EnumName<PredictionFormat>>({{PredictionFormat::kNpy, "npy"}, {PredictionFormat::kCsv, "csv"}});
}

/// On rank 0, sees all rows, in their order. @param classes  the top_k of each row
using OnRows = std::function<void(std::span<const float> logits, std::span<const std::int32_t> classes)>;

struct PredictionOutput {
  PredictionFormat format = PredictionFormat::kNpy;
  int top_k = 1;               ///< classes per node, the most probable first; of several labels in the table only
  int embedding_layer = 0;     ///< also write this layer's result; 0 = none
  bool probabilities = false;  ///< also write those of every class or label
  OnRows on_rows{};
  NodeIds ids{};                           ///< none: nodes have their numbers alone
  std::vector<std::string> class_names{};  ///< of the table: of the classes or labels, and of labels beyond those
  int rounds_kept = 0;  ///< that are copied to the host before the oldest of them is written, the same on all ranks
};

/// The `k` largest of `logits`, in falling order; among equals the lower class comes first, as in at::argmax.
void top_classes(std::span<const float> logits, std::span<std::int32_t> classes);

/// Rank 0 writes the rounds as they come, or `rounds_kept` rounds later: then a GPU computes while the host writes. No
/// rank keeps more than those.
///
///   npy   ids i8 [N], predictions i4 [N] or [N, top_k], logits f4 [N, C], if asked for probabilities f4 [N, C]
///   csv   predictions.csv: node, the id if there are ids, label, then class and probability of each of the top_k; with
///         class names then that of the label, and that of each of the top_k; if asked for then a probability of each
///         class, in a column prob_NAME, or prob_NUMBER of a class without a name
///
/// Of multi-label data:
///
///   npy   predictions i1 [N, C]: 1 where the logit is above 0, else 0; the others as above
///   csv   node, its known labels, its predicted labels (both with blanks between), then label and
///         probability of each of the top_k; with names of labels then that of each of the top_k
///
/// Of regression:
///
///   npy   predictions f4 [N] of one target, or [N, T], in the targets' unit; no logits
///   csv   node, the id if there are ids, then of each target its known value, in a column of its name, and the
///         predicted one, in NAME_predicted; without names they are called target, or target_NUMBER
///
///   and, if asked for, embeddings.npy f4 [N, width of the layer]; beside arrays write_source_ids()
///
/// finish() ends the rounds, close() syncs the files to disk. The caller removes an unfinished folder.
class PredictionWriter {
 public:
  /// @param folder  exists on rank 0; other ranks do not use it.
  /// @param nodes   the predicted nodes, in this order; outlive the writer.
  /// @param labels  of all nodes, for the table; outlive the writer
  /// @throws Error{kIo}, as does every member.
  PredictionWriter(std::filesystem::path folder, std::span<const NodeId> nodes, const LabelTable& labels,
                   int num_classes, const PredictionOutput& output, Communicator& comm);

  /// The next round. Collective; waits for the device as far as an earlier round. Its tensors may change afterwards, in
  /// stream order. @throws Error{kBadData} for logits of this or an earlier round that are not finite.
  void add(const InferenceRound& round);

  /// After the last round: writes what is still on its way. Collective; throws as add().
  void finish();

  /// After finish().
  void close();

 private:
  /// A round on its way to the host.
  struct Copies {
    std::int64_t num_nodes = 0;
    at::Tensor logits{}, embeddings{};          // f32 on the host; undefined without nodes, or if not asked for
    std::shared_ptr<c10::Event> is_complete{};  // null: they are there
  };
  void write_oldest();
  void write_rows(std::span<const float> logits, std::span<const float> embeddings);
  void write_probabilities(std::span<const float> logits);
  void write_csv_row(NodeId node, std::span<const float> logits, std::span<const std::int32_t> classes);
  void write_csv_header();
  void write_ids();
  std::string csv_labels(NodeId node, std::span<const float> logits) const;  ///< the columns before the top_k
  void write_npy_rows(std::span<const float> logits, std::span<const std::int32_t> classes);
  std::string target_name(std::size_t target) const;
  bool has_several_labels() const { return labels_.type.task == Task::kMultiLabel; }
  bool has_values() const { return labels_.type.task == Task::kRegression; }
  std::vector<std::uint64_t> shape_of(std::uint64_t width) const;  ///< [N, width], or [N] for 0

  std::filesystem::path folder_;
  std::span<const NodeId> nodes_;
  LabelTable labels_;
  std::size_t num_classes_;
  PredictionOutput output_;
  Communicator& comm_;
  std::size_t num_written_ = 0;
  std::deque<Copies> on_their_way_;
  std::optional<NpyWriter> predictions_, logits_, probabilities_, embeddings_;
  std::optional<OutputFile> csv_;
};

}  // namespace salient
