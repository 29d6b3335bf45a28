// engine/train/epoch_metrics.cpp - see epoch_metrics.h.
#include "engine/train/epoch_metrics.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/host/machine.h"

namespace salient {
namespace {

/// Calls visit(figure) for every figure that is summed over ranks, always in the same order.
template <class Visit>
void visit_sums(LoaderStats& stats, Visit&& visit) {
  visit(stats.sample_seconds);
  visit(stats.gather_seconds);
  visit(stats.batches);
  visit(stats.seeds);
  visit(stats.nodes);
  visit(stats.edges);
  visit(stats.bytes);
  visit(stats.own_rows);
  visit(stats.copied_rows);
  visit(stats.remote_rows);
  visit(stats.remote_bytes);
  for (std::int64_t& nodes : stats.hop_nodes) visit(nodes);
  for (std::int64_t& edges : stats.hop_edges) visit(edges);
}

}  // namespace

LoaderStats sum_over_ranks(Communicator& comm, LoaderStats stats) {
  std::vector<double> sums;  // counts are exact below 2^53
  visit_sums(stats, [&](auto figure) { sums.push_back(static_cast<double>(figure)); });
  comm.all_reduce_sum(std::span<double>(sums));
  visit_sums(stats, [&, next = std::size_t{0}](auto& figure) mutable {
    figure = static_cast<std::remove_reference_t<decltype(figure)>>(sums[next++]);
  });
  return stats;
}

EpochMetrics epoch_metrics(const EpochRecord& record, const ComputeDevice& device, Communicator& comm) {
  const LoaderStats sums = sum_over_ranks(comm, record.loader);
  const auto labels = static_cast<double>(std::max<std::int64_t>(1, record.progress.partial_labels));
  EpochMetrics m{.epoch = record.epoch, .step = record.progress.global_step};
  m.loss = record.progress.partial_loss_sum / (record.loss_divisor > 0 ? record.loss_divisor : 1);
  if (record.has_accuracy) m.train_accuracy = static_cast<double>(record.progress.partial_correct) / labels;
  m.lr = record.lr;
  m.steps_before = record.steps_before;
  m.epoch_seconds = record.seconds;
  m.train_seconds = record.times.train_seconds;
  m.allreduce_seconds = record.times.exchange_seconds;
  m.blocked_seconds = record.times.blocked_seconds;
  m.step_spread_seconds = record.times.step_spread_seconds;
  m.transfer_seconds = record.loader.transfer_seconds;
  m.sample_seconds = sums.sample_seconds;
  m.gather_seconds = sums.gather_seconds;
  m.batches = sums.batches;
  m.seeds = sums.seeds;
  m.nodes = sums.nodes;
  m.edges = sums.edges;
  m.bytes_transferred = sums.bytes;
  m.hop_nodes = sums.hop_nodes;
  m.hop_edges = sums.hop_edges;
  if (sums.own_rows + sums.copied_rows + sums.remote_rows > 0) {
    m.own_rows = sums.own_rows;
    m.copied_rows = sums.copied_rows;
    m.remote_rows = sums.remote_rows;
    m.remote_bytes = sums.remote_bytes;
    m.exchange_seconds = record.loader.exchange_seconds;
  }
  m.host_rss_bytes = resident_bytes();
  m.device_bytes = device.peak_bytes();
  return m;
}

}  // namespace salient
