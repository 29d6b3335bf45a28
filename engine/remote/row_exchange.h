// engine/remote/row_exchange.h - the messages by which ranks get feature rows from each other.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/comm/communicator.h"
#include "loaders/batch.h"
#include "loaders/exchange_depth.h"
#include "loaders/host_slab.h"
#include "loaders/part_rows.h"

namespace salient {

/// Two messages a batch between each pair of ranks: [number of rows that my next batch needs | ids of this one's], and
/// the rows, which Communicator::rows() moves. Batches are numbered from 0 in every epoch; every function is called for
/// all of them in turn, on all ranks in the same order, and takes the batch that the others of its kind have had one or
/// more calls before:
///
///   open(b0)   ask(0, b0, b1)   ask(1, b1, b2), answer(0, b0)   ask(2, b2, b3), answer(1, b1), take(0, b0)   ...
class RowExchange {
 public:
  /// @param pinner       of the memory that rows travel from and to, outlives this; null on a CPU
  /// @param num_threads  that copy rows, the caller's with them
  RowExchange(const PartRows& part, Communicator& comm, PagePinner* pinner, int num_threads);
  ~RowExchange();
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;

  /// Begins an epoch: tells the others how many rows its first batch needs. Blocks for their numbers.
  void open(const Batch& first);
  /// Starts the request for the rows that batch `index` lacks. @param next  the batch after it, null = none
  void ask(std::size_t index, const Batch& batch, const Batch* next);
  /// Waits for the others' requests for their batch `index`, and starts to send the rows.
  void answer(std::size_t index, const Batch& batch);
  /// Waits for the rows of batch `index` and puts them into its x.
  void take(std::size_t index, const Batch& batch);
  /// Waits for all that is on its way.
  void drain();

  double waited_seconds() const { return waited_seconds_; }  ///< since open()

 private:
  /// What belongs to one batch on its way. By rank.
  struct Flight {
    std::vector<std::vector<NodeId>> ids_out{}, ids_in{};
    HostSlab rows_out, rows_in;
    std::unique_ptr<Transfer> ids{}, rows{};
  };
  struct Threads;
  Flight& flight_of(std::size_t index) { return (*flights_)[index % kExchangeDepth]; }
  std::vector<std::span<const std::byte>> gather_answers(Flight& flight);
  void gather_held(std::size_t table, std::span<const NodeId> ids, std::byte* rows);
  std::size_t bytes_from(const Batch& batch, std::size_t rank) const;
  void place(const Batch& batch, std::size_t table, std::span<const LocalId> rows, const std::byte* bytes);
  void wait(std::unique_ptr<Transfer>& transfer);

  const PartRows& part_;
  Communicator& comm_;
  std::unique_ptr<std::vector<Flight>> flights_;  // [kExchangeDepth]
  std::unique_ptr<Threads> threads_;
  std::vector<std::size_t> num_wanted_;  // [ranks] rows that the others' next request will name
  double waited_seconds_ = 0;
};

}  // namespace salient
