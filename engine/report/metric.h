// engine/report/metric.h - the figures by which predictions are measured, and which may choose the best epoch of a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/enum_names.h"
#include "core/number_text.h"

namespace salient {

enum class Metric : std::uint8_t {
  kAccuracy,          ///< of nodes, or of known labels where a node has several
  kRocAuc,            ///< of two classes; of several labels the mean over those that have both, as in OGB
  kF1,                ///< micro-F1 of several labels, each predicted where its logit is above 0
  kMacroF1,           ///< of one class a node, as the next two: the mean of the classes' F1
  kBalancedAccuracy,  ///< the mean of the classes' recalls
  kMcc,               ///< the Matthews correlation coefficient
  kAveragePrecision,  ///< under the precision-recall curve: of two classes, and of several labels, as kRocAuc
  kRmse,              ///< of values, as the rest; of several targets the mean over them
  kMae,
  kR2,
  kMrr,      ///< of links, as the rest: the mean of 1 / rank
  kHitsAt1,  ///< the share of ranks up to 1
  kHitsAt3,
  kHitsAt10,
  kHitsAt20,  ///< of negatives that a data set comes with, as the rest: ogbl-ddi's
  kHitsAt50,  ///< ogbl-collab's
  kHitsAt100,
};

/// As in summaries, checkpoints, run.json and, behind "valid_", columns of metrics.csv.
constexpr auto names_of(Metric) {
  return std::to_array<EnumName<Metric>>({{Metric::kAccuracy, "accuracy"},
                                          {Metric::kRocAuc, "rocauc"},
                                          {Metric::kF1, "f1"},
                                          {Metric::kMacroF1, "macro_f1"},
                                          {Metric::kBalancedAccuracy, "balanced_accuracy"},
                                          {Metric::kMcc, "mcc"},
                                          {Metric::kAveragePrecision, "average_precision"},
                                          {Metric::kRmse, "rmse"},
                                          {Metric::kMae, "mae"},
                                          {Metric::kR2, "r2"},
                                          {Metric::kMrr, "mrr"},
                                          {Metric::kHitsAt1, "hits_at_1"},
                                          {Metric::kHitsAt3, "hits_at_3"},
                                          {Metric::kHitsAt10, "hits_at_10"},
                                          {Metric::kHitsAt20, "hits_at_20"},
                                          {Metric::kHitsAt50, "hits_at_50"},
                                          {Metric::kHitsAt100, "hits_at_100"}});
}

/// K of hits@K; 0 of other metrics.
constexpr std::uint64_t hits_of(Metric metric) {
  switch (metric) {
    case Metric::kHitsAt1: return 1;
    case Metric::kHitsAt3: return 3;
    case Metric::kHitsAt10: return 10;
    case Metric::kHitsAt20: return 20;
    case Metric::kHitsAt50: return 50;
    case Metric::kHitsAt100: return 100;
    default: return 0;
  }
}

constexpr bool is_better(Metric metric, double value, double than) {
  const bool is_an_error = metric == Metric::kRmse || metric == Metric::kMae;
  return is_an_error ? value < than : value > than;
}

/// "0.8312"; of errors, which have the targets' unit, "12.345".
inline std::string figure_text(Metric metric, double value) {
  const bool is_an_error = metric == Metric::kRmse || metric == Metric::kMae;
  return is_an_error ? printed("%.5g", value) : fixed(value, 4);
}

/// Values of the metrics that some predictions have.
class Figures {
 public:
  std::optional<double>& operator[](Metric metric) { return values_[static_cast<std::size_t>(metric)]; }
  const std::optional<double>& operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }

  /// Calls use(name, metric, value) for each that is there, in the order of names_of().
  template <class Use>
  void for_each(Use use) const {
    for (const auto& [metric, name] : names_of(Metric{}))
      if ((*this)[metric]) use(name, metric, *(*this)[metric]);
  }
  bool operator==(const Figures&) const = default;

 private:
  std::array<std::optional<double>, names_of(Metric{}).size()> values_{};
};

}  // namespace salient
