// engine/comm/communicator.h - collectives between ranks. One narrow interface, several back ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

struct CUstream_st;

namespace salient {

/// Messages in flight, of Communicator::transfer(). Destroyed before wait() only where the run ends.
class Transfer {
 public:
  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Blocks until all of them have arrived and their memory is the caller's again. @throws as a Communicator's calls
  virtual void wait() = 0;
};

/// Messages between ranks.
class Messages {
 public:
  Messages() = default;
  virtual ~Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  virtual std::string_view name() const = 0;

  /// Starts to send out[r] to rank r and to receive in[r] from it, for every other rank r; does not block. What is
  /// empty is neither sent nor awaited, so both sides know each length beforehand. Transfers may overlap; between two
  /// ranks they are matched in the order of these calls.
  /// @param out, in  [ranks] host memory, which stays until wait() has returned; pinned for Communicator::rows() of a
  ///                 communicator between GPUs
  virtual std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                             std::span<const std::span<std::byte>> in) = 0;
};

/// For kernels that exchange values among ranks themselves.
struct PeerAccess {
  std::span<std::byte* const> memory;  ///< [ranks] in their GPUs, as this rank addresses it; the communicator's
  const std::uint32_t* is_given_up;    ///< [1] pinned: not 0 = a kernel that waits for another rank must end
};

/// All calls but cancel() are collective: every rank makes the same ones in the same order. Back ends: self (one rank),
/// mpi (host memory), nccl (device memory; its control plane is one of the other two).
///
/// A rank that waits for others longer than the run's time-out throws Error{kComm} with the ranks that do not answer.
/// Threads: only the one that made the communicator.
class Communicator : public Messages {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// data[i] becomes the sum over ranks, the same bits on all of them and in every run with as many ranks.
  ///
  /// @param data    host memory, or device memory if the back end says so.
  /// @param stream  device back ends enqueue on it and return; host back ends ignore it and block.
  /// @throws Error{kComm}; a device back end may throw it from a later call.
  virtual void all_reduce_sum(std::span<float> data, CUstream_st* stream) = 0;

  /// data becomes rank 0's. Otherwise as all_reduce_sum().
  virtual void broadcast(std::span<float> data, CUstream_st* stream) = 0;

  /// Memory of at least `bytes` in every rank's GPU that kernels of all ranks can write, or on all ranks none. It is
  /// zero at first. Who asks for no more bytes again gets the same memory, with what was left there.
  virtual std::optional<PeerAccess> peer_access([[maybe_unused]] std::size_t bytes) { return std::nullopt; }

  /// Calls enqueue(), which enqueues on `stream` kernels that wait for those of other ranks, and watches them as if
  /// they were a collective: after the time-out is_given_up is set, and a later call throws.
  virtual void watch([[maybe_unused]] CUstream_st* stream, const std::function<void()>& enqueue) { enqueue(); }

  // Control plane: host memory, blocks until done. For metrics and agreements, never inside a step.

  virtual void all_reduce_sum(std::span<double> values) = 0;

  /// Any bytes; becomes rank 0's.
  virtual void broadcast(std::string& bytes) = 0;

  /// Any bytes, of any length per rank. @return on rank 0 those of all ranks, in rank order; elsewhere nothing.
  virtual std::vector<std::string> gather(std::string_view bytes) = 0;

  virtual void barrier() = 0;

  /// What moves feature rows: these messages, or those of a back end of their own, with an order of their own.
  virtual Messages& rows() { return *this; }

  /// Blocks until is_done() holds, as for a message: with the time-out, and with an ear for ranks that give up.
  virtual void wait_until(const std::function<bool()>& is_done) = 0;

  /// Sends flags to all ranks. @return the bitwise or of all ranks' flags in the call before this one; 0 the first
  /// time. Every rank gets the same result, so all can act on it at the same step. The only collective to use inside a
  /// step.
  /// Cost: a few microseconds; waits only for ranks that are a call or more behind.
  virtual std::uint32_t exchange_flags(std::uint32_t flags) = 0;

  /// For a rank that fails while others may wait for it: aborts the device work in flight, so that nothing on this rank
  /// waits for it. Afterwards only the control plane works.
  virtual void cancel() noexcept {}

  /// For back ends, after a time-out: finds out which ranks still answer. One of these logs `why`, the others are
  /// silent. Every rank that waits takes part, whatever it waits for.
  /// @throws RankError{kComm, topic}, always.
  virtual void give_up(const std::string& why, Topic topic) = 0;
};

/// The library of a back end by itself: sums up data of all ranks, without time-outs. For comparisons.
using BareAllReduce = std::function<void(std::span<float> data, CUstream_st* stream)>;

/// The null back end of a single rank: every collective leaves its data as it is.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace salient
