// apps/serve/batcher.cpp - see batcher.h.
#include "apps/serve/batcher.h"

#include <unordered_map>
#include <utility>

#include "core/timer.h"

namespace salient::serve {
namespace {

/// Distinct nodes of several requests, and the place of each.
struct NodeUnion {
  std::vector<NodeId> nodes{};
  std::unordered_map<NodeId, std::size_t> place{};

  void add(std::span<const NodeId> more) {
    for (const NodeId node : more)
      if (place.emplace(node, nodes.size()).second) nodes.push_back(node);
  }
};

std::vector<float> rows_of(const Job& job, const NodeUnion& all, const std::vector<float>& logits) {
  const std::size_t width = logits.size() / all.nodes.size();
  std::vector<float> rows;
  rows.reserve(job.nodes.size() * width);
  for (const NodeId node : job.nodes) {
    const auto row = logits.begin() + static_cast<std::ptrdiff_t>(all.place.at(node) * width);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

std::size_t size_of(const Job& job) { return job.nodes.size() + job.new_nodes.num_nodes(); }

}  // namespace

Batcher::Batcher(PredictFunctions predict, BatchLimits limits, Metrics& metrics)
    : predict_(std::move(predict)), limits_(limits), metrics_(metrics), worker_([this] { work(); }) {}

Batcher::~Batcher() { (void)finish(std::chrono::hours(24)); }

bool Batcher::submit(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || queue_.size() >= limits_.max_queued) return false;
    queued_nodes_ += size_of(job);
    job.arrival = std::chrono::steady_clock::now();
    queue_.push_back(std::move(job));
  }
  arrived_.notify_one();
  return true;
}

std::size_t Batcher::num_queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

bool Batcher::finish(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  arrived_.notify_one();
  return emptied_.wait_for(lock, limit, [this] { return is_done_; });
}

/// Once a job is there.
void Batcher::wait_for_more(std::unique_lock<std::mutex>& lock) {
  if (limits_.window.count() == 0 || queue_.front().new_nodes.num_nodes() > 0) return;
  (void)arrived_.wait_until(lock, queue_.front().arrival + limits_.window,
                            [this] { return is_closed_ || queued_nodes_ >= limits_.max_nodes; });
}

std::vector<Job> Batcher::take_batch() {
  std::vector<Job> batch;
  std::size_t num_nodes = 0;
  while (!queue_.empty()) {
    const Job& next = queue_.front();
    const bool is_alone = next.new_nodes.num_nodes() > 0;
    if (!batch.empty() && (is_alone || num_nodes + next.nodes.size() > limits_.max_nodes)) break;
    num_nodes += next.nodes.size();
    queued_nodes_ -= size_of(next);
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (is_alone) break;
  }
  return batch;
}

void Batcher::predict_batch(std::vector<Job>& batch) {
  const Timer timer;
  NodeUnion all;
  for (const Job& job : batch) all.add(job.nodes);
  const bool is_new = all.nodes.empty();
  std::vector<float> logits;
  std::exception_ptr error;
  try {
    logits = is_new ? predict_.added(batch.front().new_nodes) : predict_.known(all.nodes);
  } catch (...) {
    error = std::current_exception();
  }
  metrics_.count_batch(batch.size(), is_new ? batch.front().new_nodes.num_nodes() : all.nodes.size(), timer.seconds());
  for (Job& job : batch) {
    Prediction prediction{.error = error};
    if (!error) prediction.logits = is_new ? std::move(logits) : rows_of(job, all, logits);
    job.done(std::move(prediction));
  }
}

void Batcher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return is_closed_ || !queue_.empty(); });
    if (queue_.empty()) break;
    wait_for_more(lock);
    std::vector<Job> batch = take_batch();
    lock.unlock();
    predict_batch(batch);
    batch.clear();
    lock.lock();
  }
  is_done_ = true;
  emptied_.notify_all();
}

}  // namespace salient::serve
