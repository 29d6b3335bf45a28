// engine/comm/communicator.h - what a trainer needs from the other ranks. One narrow interface, several back ends.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct CUstream_st;

namespace salient {

/// All calls are collective: every rank makes the same ones in the same order. Back ends: self (one rank).
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::string_view name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// data[i] becomes the sum over ranks.
  /// @param data    host memory, or device memory if the back end says so.
  /// @param stream  device back ends enqueue on it and return; host back ends ignore it and block.
  /// @throws Error{kComm}.
  virtual void all_reduce_sum(std::span<float> data, CUstream_st* stream) = 0;

  /// data becomes rank 0's. Otherwise as all_reduce_sum().
  virtual void broadcast(std::span<float> data, CUstream_st* stream) = 0;

  /// Control plane: host memory, blocks. For metrics, never inside a step.
  virtual void all_reduce_sum(std::span<double> values) = 0;
};

/// The null back end of a single rank: every collective leaves its data as it is.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace salient
