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

/// Rows of x that come from a rank, of one table or of all.
std::span<const LocalId> remote_of(const Batch& batch, std::size_t first_list, std::size_t num_lists) {
  const std::size_t begin = batch.remote_begin[first_list], end = batch.remote_begin[first_list + num_lists];
  return std::span(batch.remote).subspan(begin, end - begin);
}

std::size_t num_remote(const Batch* batch, std::size_t rank, std::size_t num_tables) {
  return batch == nullptr ? 0 : remote_of(*batch, rank * num_tables, num_tables).size();
}

/// The node of a row of x of a table.
NodeId node_of(const Batch& batch, std::size_t table, LocalId row) {
  const BatchLayout& layout = batch.layout;
  if (!layout.types.empty()) row = batch.at<const LocalId>(layout.types[table].nodes)[row];
  return batch.at<const NodeId>(layout.nodes)[row];
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
    flight.ids_out[rank].assign(1, static_cast<NodeId>(num_remote(&first, rank, part_.num_tables())));
    flight.ids_in[rank].resize(1);
  }
  flight.ids = comm_.transfer(to_send(flight.ids_out), to_receive(flight.ids_in));
  wait(flight.ids);
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) num_wanted_[rank] = flight.ids_in[rank][0];
}

void RowExchange::ask(std::size_t index, const Batch& batch, const Batch* next) {
  Flight& flight = flight_of(index);
  const std::size_t num_tables = part_.num_tables();
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    std::vector<NodeId>& ids = flight.ids_out[rank];
    ids.assign(1, static_cast<NodeId>(num_remote(next, rank, num_tables)));
    for (std::size_t t = 0; t < num_tables; ++t)
      for (const LocalId row : remote_of(batch, rank * num_tables + t, 1)) ids.push_back(node_of(batch, t, row));
    flight.ids_in[rank].resize(1 + num_wanted_[rank]);
  }
  flight.ids = comm_.transfer(to_send(flight.ids_out), to_receive(flight.ids_in));
}

/// @param rows  [ids] of the table's width
void RowExchange::gather_held(std::size_t table, std::span<const NodeId> ids, std::byte* rows) {
  constexpr std::size_t kAhead = 32;  // prefetch distance
  const RowTable from = part_.table(table);
  threads_->in_blocks(ids.size(), [&](std::size_t begin, std::size_t end) {
    std::array<NodeId, kBlock> row_of{};
    for (std::size_t k = begin; k < end; ++k) {
      if (k + kAhead < end) part_.held().prefetch(ids[k + kAhead]);
      row_of[k - begin] = part_.row_of(table, ids[k]);
      require(row_of[k - begin] != NodeSet::kAbsent, "ranks ask for rows of this part");
    }
    gather_rows(from, row_of.data(), end - begin, rows + begin * from.row_bytes);
  });
}

/// @return [ranks] the rows that each of them asked for; none for this one
std::vector<std::span<const std::byte>> RowExchange::gather_answers(Flight& flight) {
  std::vector<std::size_t> num_bytes;
  const auto for_each_table = [&](std::span<const NodeId> ids, const auto& visit) {
    std::size_t begin = 0, at = 0;
    const std::vector<std::size_t> ends = part_.ends_of_tables(ids);
    for (std::size_t t = 0; t < ends.size(); begin = ends[t++]) {
      visit(t, ids.subspan(begin, ends[t] - begin), at);
      at += (ends[t] - begin) * part_.table(t).row_bytes;
    }
    return at;
  };
  std::size_t all_bytes = 0;
  for (const std::vector<NodeId>& message : flight.ids_in)
    all_bytes += num_bytes.emplace_back(for_each_table(ids_of(message), [](auto...) {}));
  std::byte* next = flight.rows_out.reserve(all_bytes);
  std::vector<std::span<const std::byte>> answers;
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    for_each_table(ids_of(flight.ids_in[rank]),
                   [&](std::size_t t, std::span<const NodeId> ids, std::size_t at) { gather_held(t, ids, next + at); });
    answers.emplace_back(next, num_bytes[rank]);
    next += num_bytes[rank];
  }
  return answers;
}

std::size_t RowExchange::bytes_from(const Batch& batch, std::size_t rank) const {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < part_.num_tables(); ++t)
    bytes += remote_of(batch, rank * part_.num_tables() + t, 1).size() * part_.table(t).row_bytes;
  return bytes;
}

void RowExchange::answer(std::size_t index, const Batch& batch) {
  Flight& flight = flight_of(index);
  wait(flight.ids);
  const std::vector<std::span<const std::byte>> out = gather_answers(flight);
  std::size_t all_bytes = 0;
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) all_bytes += bytes_from(batch, rank);
  std::byte* rows = flight.rows_in.reserve(all_bytes);
  std::vector<std::span<std::byte>> in;
  for (std::size_t rank = 0; rank < num_wanted_.size(); ++rank) {
    in.emplace_back(rows, bytes_from(batch, rank));
    rows += in.back().size();
    num_wanted_[rank] = flight.ids_in[rank][0];
  }
  flight.rows = comm_.rows().transfer(out, in);
}

/// @param rows   of x of the table   @param bytes  of them, as they are stored
void RowExchange::place(const Batch& batch, std::size_t table, std::span<const LocalId> rows, const std::byte* bytes) {
  if (rows.empty()) return;
  RowTable from = part_.table(table);
  from.data = bytes;
  from.num_rows = rows.size();
  const BatchLayout& layout = batch.layout;
  std::byte* const x = batch.data + (layout.types.empty() ? layout.x : layout.types[table].x);
  const std::size_t x_row_bytes = from.row_bytes * (from.fp8_scale == 0 ? 1 : size_of(FeatureType::kF16));
  threads_->in_blocks(rows.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto row = static_cast<NodeId>(k);
      std::byte* const out = x + static_cast<std::size_t>(rows[k]) * x_row_bytes;
      if (from.fp8_scale == 0)
        std::memcpy(out, from.data + k * from.row_bytes, from.row_bytes);
      else
        gather_features(from, &row, 1, out);
    }
  });
}

void RowExchange::take(std::size_t index, const Batch& batch) {
  Flight& flight = flight_of(index);
  wait(flight.rows);
  const std::byte* bytes = flight.rows_in.data();
  for (std::size_t list = 0; list + 1 < batch.remote_begin.size(); ++list) {
    const std::size_t table = list % part_.num_tables();
    const std::span<const LocalId> rows = remote_of(batch, list, 1);
    place(batch, table, rows, bytes);
    bytes += rows.size() * part_.table(table).row_bytes;
  }
}

void RowExchange::drain() {
  for (Flight& flight : *flights_) {
    if (flight.ids) wait(flight.ids);
    if (flight.rows) wait(flight.rows);
  }
}

}  // namespace salient
