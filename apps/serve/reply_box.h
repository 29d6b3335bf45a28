// apps/serve/reply_box.h - answers on their way from the threads that give them to the one that sends them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

#include "apps/serve/http_message.h"
#include "core/host/descriptor.h"

namespace salient::serve {

/// Requests that were passed on have a number each, which no other gets. Threads: any.
class ReplyBox {
 public:
  struct Reply {
    std::uint64_t connection;  ///< as expect() was given it
    HttpAnswer answer;
  };

  ReplyBox();  ///< @throws Error{kIo} without a descriptor

  /// Can be read when take() has something, or after wake(), until hear().
  int descriptor() const { return event_.get(); }
  void wake() const;
  void hear() const;

  /// A reply to request `number` will come. @return false after close()
  bool expect(std::uint64_t number, std::uint64_t connection);

  /// The first for a number counts; none after forget(). Allocates nothing: an answer of 500 needs no memory.
  void post(std::uint64_t number, HttpAnswer answer);
  void forget(std::uint64_t number);

  /// What was posted since. Each is to be sent, or not, and then count_done() called.
  std::list<Reply> take();
  void count_done();

  /// Posts `status` to all that have no reply, and expects no more. @return whether there was one
  bool close(int status);

  /// @return whether all that was posted was done in time
  bool wait_until_done(std::chrono::milliseconds limit);

 private:
  void post_locked(std::list<Reply>::iterator reply, HttpAnswer answer);

  std::mutex mutex_;
  std::condition_variable all_done_;
  std::list<Reply> awaited_, posted_;
  std::unordered_map<std::uint64_t, std::list<Reply>::iterator> places_;  // number -> place in awaited_
  int num_undone_ = 0;
  bool is_closed_ = false;
  Descriptor event_;
};

}  // namespace salient::serve
