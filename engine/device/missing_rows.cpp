// engine/device/missing_rows.cpp - see missing_rows.h.
#include "engine/device/missing_rows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/comm/message_bytes.h"

namespace salient {
namespace {

/// [ranks] what goes to each of them, or comes from it.
template <class T>
using ByRank = std::vector<std::vector<T>>;

/// Sends and receives; `in` has the lengths that the others send.
template <class T>
void exchange(Communicator& comm, const ByRank<T>& out, ByRank<T>& in) {
  comm.transfer(to_send(out), to_receive(in))->wait();
}

}  // namespace

void fetch_missing_rows(PartRows& part, Communicator& comm) {
  const auto num_ranks = static_cast<std::size_t>(comm.size()), row_bytes = part.table().row_bytes;
  ByRank<NodeId> asked(num_ranks), wanted(num_ranks);
  for (const NodeId node : part.missing()) asked[static_cast<std::size_t>(part.owner_of(node))].push_back(node);

  ByRank<std::uint64_t> num_asked(num_ranks), num_wanted(num_ranks, {0});
  for (std::size_t rank = 0; rank < num_ranks; ++rank) num_asked[rank] = {asked[rank].size()};
  exchange(comm, num_asked, num_wanted);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) wanted[rank].resize(num_wanted[rank][0]);
  exchange(comm, asked, wanted);

  ByRank<std::byte> answers(num_ranks), rows(num_ranks);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    for (const NodeId node : wanted[rank]) {
      const std::byte* const row = part.table().data + part.held().index_of(node) * row_bytes;
      answers[rank].insert(answers[rank].end(), row, row + row_bytes);
    }
    rows[rank].resize(asked[rank].size() * row_bytes);
  }
  exchange(comm, answers, rows);
  for (std::size_t rank = 0; rank < num_ranks; ++rank)
    for (std::size_t k = 0; k < asked[rank].size(); ++k)
      part.set_row(asked[rank][k], std::span(rows[rank]).subspan(k * row_bytes, row_bytes));
}

}  // namespace salient
