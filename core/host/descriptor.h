// core/host/descriptor.h - owns a file descriptor.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace salient {

/// Closes in the destructor, which leaves errno as it was: a failed call can be reported after it. Moves, never copies.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}  ///< below 0 = none, as open() returns it for a failure
  ~Descriptor() {
    const int code = errno;
    (void)close();
    errno = code;
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }

  /// For files that were written, where the last error may come now. Afterwards there is no descriptor.
  /// @return false with errno set if close() failed
  [[nodiscard]] bool close() noexcept { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_ = -1;
};

}  // namespace salient
