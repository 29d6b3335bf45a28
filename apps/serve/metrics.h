// apps/serve/metrics.h - what salient-serve counts, as Prometheus' text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace salient::serve {

/// Counts of values up to each of its bounds, and their sum.
template <std::size_t kNumBounds>
struct Histogram {
  std::array<double, kNumBounds> bounds{};
  std::array<std::uint64_t, kNumBounds + 1> counts{};  ///< by the least bound that holds; last: above all
  double sum = 0;

  void add(double value) {
    std::size_t i = 0;
    while (i < kNumBounds && value > bounds[i]) ++i;
    ++counts[i];
    sum += value;
  }
};

/// What stands at the moment, for the gauges.
struct Gauges {
  std::size_t queued_requests = 0;
  std::size_t connections = 0;
};

/// Threads: any.
class Metrics {
 public:
  void count_answer(int status, double seconds);
  void count_batch(std::size_t num_requests, std::size_t num_nodes, double seconds);

  /// Text of the format 0.0.4.
  std::string text(const Gauges& now) const;

 private:
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> answers_;  // by status
  Histogram<12> answer_seconds_{{0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5}};
  Histogram<12> batch_seconds_{{0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5}};
  Histogram<11> batch_nodes_{{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}};
  Histogram<9> batch_requests_{{1, 2, 4, 8, 16, 32, 64, 128, 256}};
};

}  // namespace salient::serve
