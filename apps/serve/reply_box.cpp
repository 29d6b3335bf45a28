// apps/serve/reply_box.cpp - see reply_box.h.
#include "apps/serve/reply_box.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "core/error.h"

namespace salient::serve {

ReplyBox::ReplyBox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) fail(ErrorKind::kIo, "the HTTP server cannot start: no descriptor is left");
}

void ReplyBox::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

void ReplyBox::hear() const {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
}

bool ReplyBox::expect(std::uint64_t number, std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return false;
  std::list<Reply> made{{connection, {}}};
  places_.emplace(number, made.begin());
  awaited_.splice(awaited_.end(), made);
  return true;
}

void ReplyBox::post_locked(std::list<Reply>::iterator reply, HttpAnswer answer) {
  reply->answer = std::move(answer);
  posted_.splice(posted_.end(), awaited_, reply);
  ++num_undone_;
  if (posted_.size() == 1) wake();
}

void ReplyBox::post(std::uint64_t number, HttpAnswer answer) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(number);
  if (found == places_.end()) return;
  post_locked(found->second, std::move(answer));
  places_.erase(found);
}

void ReplyBox::forget(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(number);
  if (found == places_.end()) return;
  awaited_.erase(found->second);
  places_.erase(found);
}

std::list<ReplyBox::Reply> ReplyBox::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(posted_, {});
}

void ReplyBox::count_done() {
  const std::lock_guard lock(mutex_);
  --num_undone_;
  all_done_.notify_all();
}

bool ReplyBox::close(int status) {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  const bool was_awaited = !awaited_.empty();
  places_.clear();
  while (!awaited_.empty()) post_locked(awaited_.begin(), {.status = status});
  return was_awaited;
}

bool ReplyBox::wait_until_done(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return all_done_.wait_for(lock, limit, [this] { return num_undone_ == 0; });
}

}  // namespace salient::serve
