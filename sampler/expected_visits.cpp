// sampler/expected_visits.cpp - see expected_visits.h.
//
// A node's row says whom it may draw, so a hop adds to the nodes of each row. Those places are all over memory: entries
// are prefetched a chunk before they are added to.
#include "sampler/expected_visits.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::size_t>;
constexpr std::size_t kGrain = 4096;

/// -log(1 - p) in whole units, whose sum has no order. A certain event counts as 20: the float of its chance is 1.
constexpr double kUnits = 0x1p36, kCertain = 20;
constexpr auto kEnough = static_cast<std::int64_t>(kCertain * kUnits);

std::int64_t units_of(double p) { return std::llround(std::min(-std::log1p(-std::min(p, 1.0)), kCertain) * kUnits); }

double chance_of(std::int64_t units) { return -std::expm1(-static_cast<double>(units) / kUnits); }

/// The chance of one entry of a row to be kept.
double keep_chance(std::uint32_t degree, int fanout, Draw draw) {
  if (fanout == kAllNeighbors) return 1;
  switch (draw) {
    case Draw::kWithReplacement: return -std::expm1(fanout * std::log1p(-1.0 / degree));
    case Draw::kUniform:
    case Draw::kLabor:
    case Draw::kWeighted: break;  // an entry of the mean weight
  }
  return std::min(1.0, static_cast<double>(fanout) / degree);
}

/// Adds to the nodes of rows, a chunk late; to those that are certain no more, whose sums could overflow.
class RowAdder {
 public:
  explicit RowAdder(std::vector<std::int64_t>& sums) : sums_(sums) {}
  ~RowAdder() { add_waiting(); }
  RowAdder(const RowAdder&) = delete;
  RowAdder& operator=(const RowAdder&) = delete;

  void add(std::span<const NodeId> row, std::int64_t units) {
    constexpr std::size_t kChunk = 64;
    for (; !row.empty(); row = row.subspan(std::min(kChunk, row.size()))) {
      const std::span<const NodeId> chunk = row.first(std::min(kChunk, row.size()));
      for (const NodeId node : chunk) __builtin_prefetch(&sums_[node], /*rw=*/1);
      add_waiting();
      waiting_ = chunk;
      waiting_units_ = units;
    }
  }

 private:
  void add_waiting() {
    for (const NodeId node : waiting_) {
      const std::atomic_ref sum(sums_[node]);
      if (sum.load(std::memory_order_relaxed) < kEnough) sum.fetch_add(waiting_units_, std::memory_order_relaxed);
    }
  }

  std::vector<std::int64_t>& sums_;
  std::span<const NodeId> waiting_{};
  std::int64_t waiting_units_ = 0;
};

/// Calls take(row, fanout) for the row of node v, of a typed graph for each of its slots.
template <class Take>
void for_each_row(const CsrGraph& graph, const SamplingRule& rule, std::size_t hop, std::size_t v, const Take& take) {
  if (graph.slots == nullptr) return take(v, rule.fanouts[hop]);
  const SlotTable& slots = *graph.slots;
  const auto node = static_cast<NodeId>(v);
  const std::size_t type = slots.type_of(node);
  for (std::uint32_t k = 0; k < slots.num_slots[type]; ++k)
    take(static_cast<std::size_t>(slots.row_of(type, node, k)), rule.fanout_of(slots.relation_of(type, k), hop));
}

/// Row `v`, each entry with `fanout` times its share of the weights; heavy ones are kept less often than that, and the
/// others more.
void add_by_weight(const CsrGraph& graph, std::size_t v, int fanout, double met, RowAdder& adder) {
  const std::span<const NodeId> row = graph.row(v);
  const std::span<const float> weights = graph.weights_of(v);
  double sum = 0;
  for (const float weight : weights) sum += double{weight};
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (weights[i] == 0) continue;
    const double chance = fanout == kAllNeighbors ? 1 : std::min(1.0, fanout * double{weights[i]} / sum);
    if (const std::int64_t added = units_of(chance * met); added > 0) adder.add(row.subspan(i, 1), added);
  }
}

}  // namespace

std::vector<float> expected_visits(const CsrGraph& graph, const SamplingPlan& plan) {
  require(!plan.is_empty(), "a plan visits nodes");
  const std::size_t num_nodes = graph.num_nodes();
  std::vector<std::int64_t> units(num_nodes);  // of the chance to have been met
  std::vector<float> met(num_nodes);           // that chance, before the hop
  const double first = static_cast<double>(plan.batch_size) / static_cast<double>(plan.seeds.size());
  for (const NodeId seed : plan.seeds) units[seed] = units_of(first);
  const auto read_units = [&] {
    oneapi::tbb::parallel_for(Range(0, num_nodes, kGrain), [&](const Range& range) {
      for (std::size_t v = range.begin(); v < range.end(); ++v)
        met[v] = units[v] == 0 ? 0.F : static_cast<float>(chance_of(units[v]));
    });
  };
  read_units();
  for (std::size_t hop = 0; hop < plan.rule.fanouts.size(); ++hop) {
    oneapi::tbb::parallel_for(Range(0, num_nodes, kGrain), [&](const Range& range) {
      RowAdder adder(units);
      for (std::size_t v = range.begin(); v < range.end(); ++v) {
        if (met[v] == 0) continue;
        for_each_row(graph, plan.rule, hop, v, [&](std::size_t row, int fanout) {
          const std::uint32_t degree = graph.degree(row);
          if (degree == 0 || fanout == 0) return;
          if (plan.rule.draw == Draw::kWeighted) return add_by_weight(graph, row, fanout, double{met[v]}, adder);
          const std::int64_t added = units_of(keep_chance(degree, fanout, plan.rule.draw) * double{met[v]});
          if (added > 0) adder.add(graph.row(row), added);
        });
      }
    });
    read_units();
  }
  return met;
}

std::vector<std::uint32_t> counted_visits(const CsrGraph& graph, const SamplingPlan& plan, std::uint32_t num_epochs) {
  require(!plan.is_empty(), "a plan visits nodes");
  struct Worker {
    NeighborSampler sampler;
    Mfg mfg{};
  };
  oneapi::tbb::enumerable_thread_specific<Worker> workers([&] { return Worker{NeighborSampler(graph, plan.rule)}; });
  std::vector<std::uint32_t> visits(graph.num_nodes());
  std::vector<NodeId> order(plan.seeds.begin(), plan.seeds.end());
  const std::size_t num_batches = num_global_batches(order.size(), plan.batch_size);
  for (std::uint32_t epoch = 1; epoch <= num_epochs; ++epoch) {
    std::ranges::copy(plan.seeds, order.begin());
    shuffle_seeds(order, plan.seed, epoch);
    oneapi::tbb::parallel_for(std::size_t{0}, num_batches, [&](std::size_t b) {
      Worker& worker = workers.local();
      const std::size_t begin = b * plan.batch_size, end = std::min(begin + plan.batch_size, order.size());
      const BatchKey key{plan.seed, epoch, static_cast<std::uint32_t>(b)};
      worker.sampler.sample(std::span(order).subspan(begin, end - begin), key, worker.mfg);
      for (const NodeId node : worker.mfg.nodes) std::atomic_ref(visits[node]).fetch_add(1, std::memory_order_relaxed);
    });
  }
  return visits;
}

}  // namespace salient
