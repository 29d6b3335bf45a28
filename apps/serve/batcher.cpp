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

std::vector<float> rows_of(const Job& job, const NodeUnion& all, const std::vector<float>& found) {
  const std::size_t width = found.size() / all.nodes.size();
  std::vector<float> rows;
  rows.reserve(job.nodes.size() * width);
  for (const NodeId node : job.nodes) {
    const auto row = found.begin() + static_cast<std::ptrdiff_t>(all.place.at(node) * width);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

bool is_new(const Job& job) { return job.nodes.empty(); }
bool are_alike(const Job& a, const Job& b) { return is_new(a) == is_new(b) && a.layer == b.layer && a.time == b.time; }
std::size_t size_of(const Job& job) { return job.nodes.size() + job.new_nodes.num_nodes(); }

}  // namespace

Batcher::Batcher(PredictFunctions predict, BatchLimits limits, Metrics& metrics)
    : predict_(std::move(predict)), limits_(limits), metrics_(metrics) {
  std::promise<void> is_warm;
  std::future<void> warmed = is_warm.get_future();
  worker_ = std::jthread([this, is_warm = std::move(is_warm)]() mutable { work(std::move(is_warm)); });
  warmed.get();
}

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
  if (limits_.window.count() == 0) return;
  (void)arrived_.wait_until(lock, queue_.front().arrival + limits_.window,
                            [this] { return is_closed_ || queued_nodes_ >= limits_.max_nodes; });
}

std::vector<Job> Batcher::take_batch() {
  std::vector<Job> batch;
  std::size_t num_nodes = 0;
  while (!queue_.empty()) {
    const Job& next = queue_.front();
    if (!batch.empty() && !are_alike(next, batch.front())) break;
    if (!batch.empty() && num_nodes + size_of(next) > limits_.max_nodes) break;
    num_nodes += size_of(next);
    queued_nodes_ -= size_of(next);
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

/// Rows of each job.
std::vector<std::vector<float>> Batcher::rows_of_jobs(std::span<const Job> batch) const {
  std::vector<std::vector<float>> rows;
  const int layer = batch.front().layer;
  if (!is_new(batch.front())) {
    NodeUnion all;
    for (const Job& job : batch) all.add(job.nodes);
    const std::vector<float> found = predict_.known(all.nodes, layer, batch.front().time);
    for (const Job& job : batch) rows.push_back(rows_of(job, all, found));
    return rows;
  }
  std::vector<NewNodes> lists;
  std::size_t num_nodes = 0;
  for (const Job& job : batch) num_nodes += lists.emplace_back(job.new_nodes).num_predicted();
  const std::vector<float> found = predict_.added(lists, layer);
  auto next = found.begin();
  for (const NewNodes& list : lists) {
    const auto end = next + static_cast<std::ptrdiff_t>(list.num_predicted() * (found.size() / num_nodes));
    rows.emplace_back(next, end);
    next = end;
  }
  return rows;
}

void Batcher::predict_batch(std::span<Job> batch) {
  const Timer timer;
  std::vector<std::vector<float>> rows;
  std::exception_ptr error;
  try {
    rows = rows_of_jobs(batch);
  } catch (...) {
    error = std::current_exception();
  }
  if (error && batch.size() > 1) {  // one of them may be at fault, or all together are too large
    const std::size_t half = batch.size() / 2;
    predict_batch(batch.first(half));
    predict_batch(batch.subspan(half));
    return;
  }
  std::size_t num_nodes = 0;
  for (const Job& job : batch) num_nodes += size_of(job);
  metrics_.count_batch(batch.size(), num_nodes, timer.seconds());
  for (std::size_t i = 0; i < batch.size(); ++i)
    batch[i].done({.rows = error ? std::vector<float>() : std::move(rows[i]), .error = error});
}

void Batcher::work(std::promise<void> is_warm) {
  try {
    predict_.warm_up();
    is_warm.set_value();
  } catch (...) {
    is_warm.set_exception(std::current_exception());
    return;
  }
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
