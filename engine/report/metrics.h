// engine/report/metrics.h - the figures of one epoch, and the files that keep them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "engine/report/event_file.h"
#include "engine/report/metric.h"

namespace salient {

/// One row of metrics.jsonl and metrics.csv. An unknown figure is written as null or as an empty cell, never as 0.
struct EpochMetrics {
  int epoch = 0;          ///< from 1
  std::int64_t step = 0;  ///< optimiser steps since the run began
  std::optional<double> loss{}, train_accuracy{}, lr{};
  Figures valid{};                ///< of the validation, if there was one
  std::int64_t steps_before = 0;  ///< of the epoch, before a resume: seconds and work leave them out; no column
  std::optional<double> epoch_seconds{}, train_seconds{}, blocked_seconds{}, transfer_seconds{};
  std::optional<double> sample_seconds{}, gather_seconds{};  ///< core-seconds, over all workers
  std::optional<double> allreduce_seconds{}, eval_seconds{};
  std::optional<double> step_spread_seconds{};  ///< standard deviation of a step's, the exchange left out
  std::optional<std::int64_t> batches{}, seeds{}, nodes{}, edges{}, bytes_transferred{};
  /// Of partitioned features: rows of batches that their rank owns, holds a copy of, or got from another rank; bytes of
  /// the last, and how long this rank waited for them.
  std::optional<std::int64_t> own_rows{}, copied_rows{}, remote_rows{}, remote_bytes{};
  std::optional<double> exchange_seconds{};
  std::optional<std::int64_t> host_rss_bytes{}, device_bytes{};
  /// Sums over the batches, the seeds' own hop first: nodes known after the hop, edges sampled in it.
  std::optional<std::vector<std::int64_t>> hop_nodes{}, hop_edges{};
};

/// Calls column(name, value) for every column, in file order.
template <class Visit>
void visit_columns(const EpochMetrics& m, Visit&& column) {
  column("epoch", std::optional<std::int64_t>(m.epoch));
  column("step", std::optional<std::int64_t>(m.step));
  column("loss", m.loss);
  column("train_accuracy", m.train_accuracy);
  for (const auto& [metric, name] : names_of(Metric{})) column((std::string("valid_") + name).c_str(), m.valid[metric]);
  column("lr", m.lr);
  column("epoch_seconds", m.epoch_seconds);
  column("train_seconds", m.train_seconds);
  column("blocked_seconds", m.blocked_seconds);
  column("transfer_seconds", m.transfer_seconds);
  column("sample_seconds", m.sample_seconds);
  column("gather_seconds", m.gather_seconds);
  column("allreduce_seconds", m.allreduce_seconds);
  column("step_spread_seconds", m.step_spread_seconds);
  column("eval_seconds", m.eval_seconds);
  column("batches", m.batches);
  column("seeds", m.seeds);
  column("nodes", m.nodes);
  column("edges", m.edges);
  column("bytes_transferred", m.bytes_transferred);
  column("own_rows", m.own_rows);
  column("copied_rows", m.copied_rows);
  column("remote_rows", m.remote_rows);
  column("remote_bytes", m.remote_bytes);
  column("exchange_seconds", m.exchange_seconds);
  column("host_rss_bytes", m.host_rss_bytes);
  column("device_bytes", m.device_bytes);
  column("hop_nodes", m.hop_nodes);
  column("hop_edges", m.hop_edges);
}

/// Appends to DIR/metrics.jsonl, DIR/metrics.csv and a TensorBoard event file, and flushes after every row.
class MetricsFiles {
 public:
  /// @param first_epoch  earlier rows of a run that is resumed are kept, in today's columns; later ones are removed.
  /// @throws Error{kIo}, also from append().
  MetricsFiles(const std::filesystem::path& directory, int first_epoch);
  void append(const EpochMetrics& metrics);

 private:
  std::filesystem::path directory_;
  std::ofstream jsonl_, csv_;
  std::optional<EventFile> events_;
};

/// One line for the log: "epoch 3: loss 0.3121, train accuracy 0.9012, valid accuracy 0.8930, 4.10 s".
/// @param chosen  the run's metric, whose figure comes first; of the others those for which 80 columns have room
std::string summary_line(const EpochMetrics& metrics, Metric chosen = Metric::kAccuracy);

/// Of partitioned features where the rows of batches came from, what one batch of a rank got from others, and how long
/// it waited: "epoch 3: 90.2 % own rows, 5.5 % copies, 4.3 % remote, 0.45 MB/batch, wait 1.2 s"; else empty.
std::string rows_line(const EpochMetrics& metrics);

/// Where the epoch's time went and what moved; on a GPU with the share of the time in which it computed.
std::string detail_line(const EpochMetrics& metrics);

/// "epoch seconds 1.93 (train 1.71, blocked 0.18, transfer 0.04), 12.4 M edges/s sampled": a stable last line of a run;
/// of an epoch that was resumed with what it leaves out, of none that there was none.
std::string timing_line(const EpochMetrics& metrics);

}  // namespace salient
