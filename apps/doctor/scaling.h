// apps/doctor/scaling.h - the time of an epoch on more ranks and hosts, computed from a run on one rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace salient::doctor {

/// What a run on one rank recorded of its epochs.
struct MeasuredEpoch {
  std::int64_t num_seeds = 0;
  std::int64_t batch_size = 0;      ///< seeds of a step
  std::int64_t num_steps = 0;       ///< that took `seconds`
  std::int64_t num_parameters = 0;  ///< whose gradients are exchanged, f32
  double seconds = 0;
  double spread_seconds = 0;  ///< standard deviation of a step's time
  bool is_on_gpu = false;
  bool is_resident = false;        ///< resident steps: ranks on one host sum gradients inside the step
  bool reads_host_memory = false;  ///< rows or graph: the ranks of a host share its memory

  double step_seconds() const { return seconds / static_cast<double>(num_steps); }
};

/// Of the median epoch of those after the first; seeds, batch size and parameters from run.json.
/// @throws Error{kNoInput} for a folder that is no run; Error{kBadData} for a run on several ranks, for one without two
///         epochs, and for one of a version that did not write these figures.
MeasuredEpoch read_measured_epoch(const std::filesystem::path& run);

/// How gradients travel. The defaults were measured on H200s that NVLink connects, and are a network of 400 Gb/s.
struct Interconnect {
  double peer_bytes = 380e9;      ///< a second that a GPU writes to the others of its host
  double ring_seconds = 9e-6;     ///< of a collective call of NCCL inside a host, before any byte moves,
  double hop_seconds = 2.4e-6;    ///< and for each doubling of its ranks
  double network_bytes = 50e9;    ///< a second that a host sends to others
  double network_seconds = 1e-5;  ///< until a message of a host is at another one
};

/// Computed, not measured. Seconds of a step are those of the measured one + waiting + exchange.
struct ScaledEpoch {
  int num_ranks = 1, num_hosts = 1;
  std::int64_t num_steps = 0;
  double waiting_seconds = 0;   ///< of a step: for the slowest rank
  double exchange_seconds = 0;  ///< of a step
  double seconds = 0;           ///< of the epoch
  double efficiency = 1;        ///< rank-seconds of the measured epoch over those of this one
};

/// The mean of the largest of `count` standard normal values: what the slowest of so many ranks takes longer than the
/// mean, in standard deviations. @param count  at least 1
double expected_maximum(int count);

/// Seconds that `num_ranks` ranks, as many on each of `num_hosts` hosts, exchange the gradients of a step:
///   inside a step, on one host, of at most 8 ranks and 2 M parameters: 8 bytes a value to each other / peer_bytes;
///   else, of resident steps, 32 us more a step, whose graph has one step then and not sixteen (measured on H200s), and
///   in each host: ring_seconds + hop_seconds log2(g) + 2 (g - 1) / g bytes / peer_bytes, of g ranks a host,
///   and between hosts: 2 log2(h) network_seconds + 2 (h - 1) / h bytes / network_bytes, of h hosts.
double exchange_seconds(const MeasuredEpoch& epoch, const Interconnect& links, int num_ranks, int num_hosts);

/// steps (step + spread * expected_maximum(ranks) + exchange), where steps = seeds / (batch size * ranks), rounded up.
/// @param num_hosts  divides num_ranks; of a run on cores is num_ranks, as the ranks of a host share its cores
ScaledEpoch scale_epoch(const MeasuredEpoch& epoch, const Interconnect& links, int num_ranks, int num_hosts);

/// Of 1, 2, 4, ... ranks on one host until it has num_ranks / num_hosts, then on 2, 4, ... hosts, the last row being
/// what was asked for.
std::vector<ScaledEpoch> scale_epochs(const MeasuredEpoch& epoch, const Interconnect& links, int num_ranks,
                                      int num_hosts);

}  // namespace salient::doctor
