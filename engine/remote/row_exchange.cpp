// engine/remote/row_exchange.cpp - see row_exchange.h.
#include "engine/remote/row_exchange.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "core/timer.h"
#include "engine/comm/message_bytes.h"
#include "loaders/gather_rows.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::size_t>;
constexpr std::size_t kBlock = 1 << 10;  // rows that a thread copies at a time

std::size_t num_remote(const Batch* batch, std::size_t rank) {
  return batch == nullptr ? 0 : batch->remote_begin[rank + 1] - batch->remote_begin[rank];
}

/// Of a message of ids: those behind the number.
std::span<const NodeId> ids_of(const std::vector<NodeId>& message) {
  return message.empty() ? std::span<const NodeId>() : std::span(message).subspan(1);
}

}  // namespace

/// Their own, since the caller computes on a GPU with a single thread of the host.
struct RowExchange::Threads {
  explicit Threads(int num_threads) : arena(num_threads) {}

  /// Calls work(begin, end) for [0, count) in pieces of at most kBlock.
  template <class Work>
  void in_blocks(std::size_t count, const Work& work) {
    arena.execute([&] {
      oneapi::tbb::parallel_for(
          Range(0, count, kBlock), [&](const Range& range) { work(range.begin(), range.end()); },
          oneapi::tbb::simple_partitioner());
    });
  }

  oneapi::tbb::task_arena arena;
};

RowExchange::RowExchange(const PartRows& part, Communicator& comm, PagePinner* pinner, int num_threads)
    : part_(part),
      comm_(comm),
      flights_(std::make_unique<std::vector<Flight>>()),
      threads_(std::make_unique<Threads>(num_threads)) {
  require(part.num_ranks() == comm.size() && part.rank() == comm.rank(), "a part for each rank");
  const auto num_ranks = static_cast<std::size_t>(comm.size());
  num_wanted_.resize(num_ranks);
  for (std::size_t k = 0; k < kExchangeDepth; ++k) {
    Flight& flight = flights_->emplace_back(Flight{.rows_out = HostSlab(pinner), .rows_in = HostSlab(pinner)});
    flight.ids_out.resize(num_ranks);
    flight.ids_in.resize(num_ranks);
  }
}

/// After an error messages may be on their way, and their memory is not ours to free.
RowExchange::~RowExchange() {
  const bool is_quiet = std::ranges::all_of(*flights_, [](const Flight& f) { return !f.ids && !f.rows; });
  if (!is_quiet) (void)flights_.release();
}

void RowExchange::wait(std::unique_ptr<Transfer>& transfer) {
  const Timer timer;
  transfer->wait();
  transfer.reset();
  waited_seconds_ += timer.seconds();
}

void RowExchange::open(const Batch& first) {
  waited_seconds_ = 0;
  Flight& flight = flight_of(0);
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    flight.ids_out[rank].assign(1, static_cast<NodeId>(num_remote(&first, rank)));
    flight.ids_in[rank].resize(1);
  }
  flight.ids = comm_.transfer(to_send(flight.ids_out), to_receive(flight.ids_in));
  wait(flight.ids);
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) num_wanted_[rank] = flight.ids_in[rank][0];
}

void RowExchange::ask(std::size_t index, const Batch& batch, const Batch* next) {
  Flight& flight = flight_of(index);
  const auto* const nodes = batch.at<const NodeId>(batch.layout.nodes);
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    std::vector<NodeId>& ids = flight.ids_out[rank];
    ids.assign(1, static_cast<NodeId>(num_remote(next, rank)));
    for (std::size_t k = batch.remote_begin[rank]; k < batch.remote_begin[rank + 1]; ++k)
      ids.push_back(nodes[batch.remote[k]]);
    flight.ids_in[rank].resize(1 + num_wanted_[rank]);
  }
  flight.ids = comm_.transfer(to_send(flight.ids_out), to_receive(flight.ids_in));
}

/// @param rows  [ids] of the table's width
void RowExchange::gather_held(std::span<const NodeId> ids, std::byte* rows) {
  constexpr std::size_t kAhead = 32;  // prefetch distance
  const RowTable table = part_.table();
  threads_->in_blocks(ids.size(), [&](std::size_t begin, std::size_t end) {
    std::array<NodeId, kBlock> row_of{};
    for (std::size_t k = begin; k < end; ++k) {
      if (k + kAhead < end) part_.held().prefetch(ids[k + kAhead]);
      row_of[k - begin] = part_.held().index_of(ids[k]);
      require(row_of[k - begin] != NodeSet::kAbsent, "ranks ask for rows of this part");
    }
    gather_rows(table, row_of.data(), end - begin, rows + begin * table.row_bytes);
  });
}

/// @return [ranks] the rows that each of them asked for; none for this one
std::vector<std::span<const std::byte>> RowExchange::gather_answers(Flight& flight) {
  const RowTable table = part_.table();
  std::size_t num_rows = 0;
  for (const std::vector<NodeId>& message : flight.ids_in) num_rows += ids_of(message).size();
  std::byte* next = flight.rows_out.reserve(num_rows * table.row_bytes);
  std::vector<std::span<const std::byte>> answers;
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    const std::span<const NodeId> ids = ids_of(flight.ids_in[rank]);
    std::byte* const rows = next;
    gather_held(ids, rows);
    answers.emplace_back(rows, ids.size() * table.row_bytes);
    next += ids.size() * table.row_bytes;
  }
  return answers;
}

void RowExchange::answer(std::size_t index, const Batch& batch) {
  Flight& flight = flight_of(index);
  wait(flight.ids);
  const std::vector<std::span<const std::byte>> out = gather_answers(flight);
  const std::size_t row_bytes = part_.table().row_bytes;
  std::byte* const rows = flight.rows_in.reserve(batch.remote.size() * row_bytes);
  std::vector<std::span<std::byte>> in;
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    in.emplace_back(rows + batch.remote_begin[rank] * row_bytes, num_remote(&batch, rank) * row_bytes);
    num_wanted_[rank] = flight.ids_in[rank][0];
  }
  flight.rows = comm_.rows().transfer(out, in);
}

void RowExchange::take(std::size_t index, const Batch& batch) {
  Flight& flight = flight_of(index);
  wait(flight.rows);
  RowTable rows = part_.table();
  rows.data = flight.rows_in.data();
  rows.num_rows = batch.remote.size();
  const std::size_t x_row_bytes =
      static_cast<std::size_t>(batch.layout.feature_dim) * size_of(batch.layout.feature_type);
  threads_->in_blocks(batch.remote.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto row = static_cast<NodeId>(k);
      std::byte* const out = batch.data + batch.layout.x + static_cast<std::size_t>(batch.remote[k]) * x_row_bytes;
      if (rows.fp8_scale == 0)
        std::memcpy(out, rows.data + k * rows.row_bytes, rows.row_bytes);
      else
        gather_features(rows, &row, 1, out);
    }
  });
}

void RowExchange::drain() {
  for (Flight& flight : *flights_) {
    if (flight.ids) wait(flight.ids);
    if (flight.rows) wait(flight.rows);
  }
}

}  // namespace salient
