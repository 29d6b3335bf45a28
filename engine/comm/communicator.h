// engine/comm/communicator.h - what a trainer needs from the other ranks. One narrow interface, several back ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUstream_st;

namespace salient {

/// All calls but cancel() are collective: every rank makes the same ones in the same order. Back ends: self (one rank),
/// mpi (host memory), nccl (device memory; its control plane is one of the other two).
///
/// Whoever waits for other ranks gives up after the time-out of the run and throws Error{kComm} naming who is silent.
/// Threads: the one that made the communicator.
class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual std::string_view name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// data[i] becomes the sum over ranks, the same bits on all of them and in every run with as many ranks.
  ///
  /// @param data    host memory, or device memory if the back end says so.
  /// @param stream  device back ends enqueue on it and return; host back ends ignore it and block.
  /// @throws Error{kComm}; a device back end also later, from any other call, once it has noticed.
  virtual void all_reduce_sum(std::span<float> data, CUstream_st* stream) = 0;

  /// data becomes rank 0's. Otherwise as all_reduce_sum().
  virtual void broadcast(std::span<float> data, CUstream_st* stream) = 0;

  // Control plane: host memory, blocks until done. For metrics and agreements, never inside a step.

  virtual void all_reduce_sum(std::span<double> values) = 0;

  /// Any bytes; becomes rank 0's.
  virtual void broadcast(std::string& bytes) = 0;

  /// Any bytes, of any length per rank. @return on rank 0 those of all ranks, in rank order; elsewhere nothing.
  virtual std::vector<std::string> gather(std::string_view bytes) = 0;

  virtual void barrier() = 0;

  /// The one call for inside a step: hands over flags, returns what all ranks handed over in the call before this one,
  /// or-ed, and 0 the first time. The same result on every rank, so all can act on it at the same step.
  /// Cost: no waiting while ranks are less than a call apart; a few microseconds.
  virtual std::uint32_t exchange_flags(std::uint32_t flags) = 0;

  /// For whoever fails while others may be waiting for it: lets go of the device work in flight, so that nothing on
  /// this rank waits for it any more. Only the control plane works afterwards.
  virtual void cancel() noexcept {}

  /// For back ends, when a wait was in vain: finds out which ranks still answer, of which one tells `why` and the others
  /// keep quiet. Every rank that waits joins in, whatever it waits for.
  /// @throws RankError{kComm}, always.
  virtual void give_up(const std::string& why) = 0;
};

/// A back end's library by itself: sums up data of all ranks, without our watching over it. For comparisons.
using BareAllReduce = std::function<void(std::span<float> data, CUstream_st* stream)>;

/// The null back end of a single rank: every collective leaves its data as it is.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace salient
