// sampler/sampler_pool.h - lets many workers take turns with few samplers.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/bounded_queue.h"
#include "sampler/batch_sampler.h"

namespace salient {

/// Samplers whose scratch memory is dear, as that of a GPU is. It never polls.
class SamplerPool {
 public:
  explicit SamplerPool(std::vector<std::unique_ptr<BatchSampler>> samplers)
      : samplers_(std::move(samplers)), idle_(samplers_.size()) {
    for (const auto& sampler : samplers_) (void)idle_.push(sampler.get());
  }

  /// A sampler for one worker. From sample() to the end of copy_to(), or to drop(), it has one of the pool's to itself;
  /// sample() blocks while none is idle. The pool outlives it.
  std::unique_ptr<BatchSampler> make_handle() { return std::make_unique<Handle>(idle_); }

 private:
  class Handle final : public BatchSampler {
   public:
    explicit Handle(BoundedQueue<BatchSampler*>& idle) : idle_(idle) {}
    ~Handle() override { drop(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) override {
      if (held_ == nullptr) held_ = *idle_.pop();
      try {
        if (leaves_out_) held_->leave_out(left_out_);
        return held_->sample(seeds, key);
      } catch (...) {
        drop();
        throw;
      }
    }
    void copy_to(const MfgMemory& memory) override {
      held_->copy_to(memory);
      drop();
    }
    void leave_out(const std::vector<EntryKey>* entries) override {
      leaves_out_ = true;
      left_out_ = entries;
    }
    void drop() noexcept override {
      if (held_ != nullptr) (void)idle_.push(std::exchange(held_, nullptr));  // never full: it has room for all
    }

   private:
    BoundedQueue<BatchSampler*>& idle_;
    BatchSampler* held_ = nullptr;
    bool leaves_out_ = false;  // it was said; of other samplers nothing is
    const std::vector<EntryKey>* left_out_ = nullptr;
  };

  std::vector<std::unique_ptr<BatchSampler>> samplers_;
  BoundedQueue<BatchSampler*> idle_;
};

}  // namespace salient
