// apps/doctor/scaling.cpp - see scaling.h.
#include "apps/doctor/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <utility>

#include "core/error.h"
#include "engine/report/run_files.h"
#include "models/describe/resident_limits.h"

namespace salient::doctor {
namespace {

constexpr double kLoneStepSeconds = 3.2e-5;  // of a graph of one step and its update, more than in sixteen
constexpr double kBytesOfGradient = 4, kBytesOfSummedValue = 8;

[[noreturn]] void refuse(const std::filesystem::path& run, const std::string& rule) {
  fail(ErrorKind::kBadData, run.string() + ": " + rule);
}

/// @throws Error{kBadData} where it is not there, as in runs of earlier versions
double number_of(const Json& object, const char* key, const std::filesystem::path& run) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number())
    refuse(run, "has no number '" + std::string(key) + "'; train it anew, with this version");
  return found->get<double>();
}

/// The row of the median epoch of those after the first.
Json median_row(const Json& rows, const std::filesystem::path& run) {
  std::vector<std::pair<double, std::size_t>> epochs;
  for (std::size_t i = 1; i < rows.size(); ++i) epochs.emplace_back(number_of(rows[i], "epoch_seconds", run), i);
  if (epochs.empty()) refuse(run, "has no epoch after its first, which warms up; train at least two");
  std::ranges::sort(epochs);
  return rows[epochs[(epochs.size() - 1) / 2].second];
}

/// Bytes that each of `count` places sends of a sum over all of them, as a share of the values' bytes.
double share_sent(double count) { return 2 * (count - 1) / count; }

}  // namespace

MeasuredEpoch read_measured_epoch(const std::filesystem::path& run) {
  const RunFiles files = read_run_files(run);
  const Json resolved = files.run.value("resolved", Json::object());
  const Json model = files.run.value("model", Json::object());
  const Json placement = files.run.value("placement", Json::array());
  if (!placement.is_array() || placement.empty() || !placement[0].is_object()) refuse(run, "does not say where it ran");
  if (placement.size() > 1)
    refuse(run, "was trained on " + std::to_string(placement.size()) + " ranks; the computation begins with one");
  const Json row = median_row(files.metrics, run);
  MeasuredEpoch epoch;
  epoch.num_seeds = static_cast<std::int64_t>(number_of(row, "seeds", run));
  epoch.batch_size = static_cast<std::int64_t>(number_of(resolved, "batch_size", run));
  epoch.num_parameters = static_cast<std::int64_t>(number_of(model, "parameters", run));
  if (epoch.num_seeds < 1 || epoch.batch_size < 1) refuse(run, "has an epoch without seeds");
  epoch.num_steps = (epoch.num_seeds + epoch.batch_size - 1) / epoch.batch_size;
  epoch.seconds = number_of(row, "epoch_seconds", run);
  if (const auto spread = row.find("step_spread_seconds"); spread != row.end() && spread->is_number())
    epoch.spread_seconds = spread->get<double>();  // an epoch of few steps has none
  epoch.is_on_gpu = text_of(placement[0], "device") != "cpu";
  epoch.is_resident = text_of(resolved, "step") == "resident";
  epoch.reads_host_memory = text_of(resolved, "features") == "host" || text_of(resolved, "sampler") == "host";
  return epoch;
}

double expected_maximum(int count) {
  constexpr double kFar = 8, kStep = 1e-3;  // of the integral over x n phi(x) Phi(x)^(n - 1)
  double sum = 0;
  for (double x = -kFar; x < kFar; x += kStep) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    sum += x * count * density * std::pow(std::erfc(-x / std::numbers::sqrt2) / 2, count - 1);
  }
  return count > 1 ? sum * kStep : 0;
}

double exchange_seconds(const MeasuredEpoch& epoch, const Interconnect& links, int num_ranks, int num_hosts) {
  if (num_ranks == 1) return 0;
  const double values = static_cast<double>(epoch.num_parameters);
  if (epoch.is_resident && num_hosts == 1 && num_ranks <= kMaxSummingRanks && epoch.num_parameters <= kMaxSummedValues)
    return (num_ranks - 1) * kBytesOfSummedValue * values / links.peer_bytes;
  const double bytes = kBytesOfGradient * values, hosts = num_hosts, in_host = num_ranks / hosts;
  double seconds = epoch.is_resident ? kLoneStepSeconds : 0;
  if (in_host > 1)
    seconds +=
        links.ring_seconds + links.hop_seconds * std::log2(in_host) + share_sent(in_host) * bytes / links.peer_bytes;
  if (num_hosts > 1)
    seconds += 2 * std::log2(hosts) * links.network_seconds + share_sent(hosts) * bytes / links.network_bytes;
  return seconds;
}

ScaledEpoch scale_epoch(const MeasuredEpoch& epoch, const Interconnect& links, int num_ranks, int num_hosts) {
  require(num_ranks >= 1 && num_hosts >= 1 && num_ranks % num_hosts == 0, "as many ranks on each host");
  const std::int64_t seeds_of_step = epoch.batch_size * num_ranks;
  ScaledEpoch scaled{.num_ranks = num_ranks, .num_hosts = num_hosts};
  scaled.num_steps = (epoch.num_seeds + seeds_of_step - 1) / seeds_of_step;
  scaled.waiting_seconds = epoch.spread_seconds * expected_maximum(num_ranks);
  scaled.exchange_seconds = exchange_seconds(epoch, links, num_ranks, num_hosts);
  scaled.seconds =
      static_cast<double>(scaled.num_steps) * (epoch.step_seconds() + scaled.waiting_seconds + scaled.exchange_seconds);
  scaled.efficiency = epoch.seconds / (num_ranks * scaled.seconds);
  return scaled;
}

std::vector<ScaledEpoch> scale_epochs(const MeasuredEpoch& epoch, const Interconnect& links, int num_ranks,
                                      int num_hosts) {
  const int of_host = num_ranks / num_hosts;
  std::vector<ScaledEpoch> rows;
  for (int ranks = 1; ranks < of_host; ranks *= 2) rows.push_back(scale_epoch(epoch, links, ranks, 1));
  for (int hosts = 1; hosts < num_hosts; hosts *= 2) rows.push_back(scale_epoch(epoch, links, of_host * hosts, hosts));
  rows.push_back(scale_epoch(epoch, links, num_ranks, num_hosts));
  return rows;
}

}  // namespace salient::doctor
