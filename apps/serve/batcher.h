// apps/serve/batcher.h - one worker thread that predicts requests, those that arrive together as one batch.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "apps/new_nodes.h"
#include "apps/serve/metrics.h"
#include "core/types.h"

namespace salient::serve {

/// What predicts. Rows of float32 in the order of the nodes, one row of the same width for each: logits, and behind
/// them the result of `layer`, from 1; 0 = none. `time`: when the nodes are asked for; none: each at its own time.
struct PredictFunctions {
  std::function<void()> warm_up = [] {};  ///< called first
  std::function<std::vector<float>(std::span<const NodeId> distinct, int layer, std::optional<std::int64_t> time)>
      known{};
  /// Of lists that do not know of each other.
  std::function<std::vector<float>(std::span<const NewNodes> lists, int layer)> added{};
};

struct BatchLimits {
  std::size_t max_nodes = 1024;         ///< of requests that are predicted together
  std::size_t max_queued = 256;         ///< requests that wait
  std::chrono::microseconds window{0};  ///< how long a request waits for others to join it
};

struct Prediction {
  std::vector<float> rows{};   ///< one for each node of the request, as PredictFunctions says
  std::exception_ptr error{};  ///< instead of them
};

/// One request. Either has nodes.
struct Job {
  std::vector<NodeId> nodes{};
  NewNodes new_nodes{};
  int layer = 0;
  std::optional<std::int64_t> time{};               ///< of nodes
  std::function<void(Prediction)> done{};           ///< called once, on the worker's thread; must not throw
  std::chrono::steady_clock::time_point arrival{};  ///< set by submit()
};

/// Answers do not depend on what they are batched with, but for rounding, if the functions give each node the same row
/// in every batch of up to max_nodes. Requests of known nodes and of new ones are never in one batch, nor
/// those of different layers or times. A batch that fails is predicted in halves, and so on down to single requests.
///
/// Threads: any may submit. The functions are called on one thread, one at a time.
class Batcher {
 public:
  /// Blocks until warm_up() is over. @throws what that throws
  Batcher(PredictFunctions predict, BatchLimits limits, Metrics& metrics);
  ~Batcher();  ///< finish() without a limit
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// @return false, and `job` stays as it was: too many are waiting, or finish() was called.
  bool submit(Job& job);

  std::size_t num_queued() const;

  /// No more jobs; those that wait are predicted at once. @return whether all were done in time
  bool finish(std::chrono::milliseconds limit);

 private:
  void work(std::promise<void> is_warm);
  void wait_for_more(std::unique_lock<std::mutex>& lock);
  std::vector<Job> take_batch();
  std::vector<std::vector<float>> rows_of_jobs(std::span<const Job> batch) const;
  void predict_batch(std::span<Job> batch);

  const PredictFunctions predict_;
  const BatchLimits limits_;
  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_, emptied_;
  std::deque<Job> queue_;
  std::size_t queued_nodes_ = 0;
  bool is_closed_ = false, is_done_ = false;
  std::jthread worker_;  // last: it uses all of the above
};

}  // namespace salient::serve
