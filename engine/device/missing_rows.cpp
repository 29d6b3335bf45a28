// engine/device/missing_rows.cpp - see missing_rows.h.
#include "engine/device/missing_rows.h"

#include <algorithm>
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

/// The nodes whose rows the others ask this rank for.
ByRank<NodeId> tell_each_other(Communicator& comm, const ByRank<NodeId>& asked) {
  const std::size_t num_ranks = asked.size();
  ByRank<std::uint64_t> num_asked(num_ranks), num_wanted(num_ranks, {0});
  for (std::size_t rank = 0; rank < num_ranks; ++rank) num_asked[rank] = {asked[rank].size()};
  exchange(comm, num_asked, num_wanted);
  ByRank<NodeId> wanted(num_ranks);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) wanted[rank].resize(num_wanted[rank][0]);
  exchange(comm, asked, wanted);
  return wanted;
}

/// Of all ranks' lists the longest, on all ranks.
std::size_t longest_of_all(Communicator& comm, const ByRank<NodeId>& lists) {
  std::vector<double> of_rank(static_cast<std::size_t>(comm.size()));
  for (const std::vector<NodeId>& list : lists) {
    double& longest = of_rank[static_cast<std::size_t>(comm.rank())];
    longest = std::max(longest, static_cast<double>(list.size()));
  }
  comm.all_reduce_sum(std::span(of_rank));
  return static_cast<std::size_t>(std::ranges::max(of_rank));
}

/// Items first to first + count - 1, as far as there are any.
std::span<const NodeId> piece_of(const std::vector<NodeId>& nodes, std::size_t first, std::size_t count) {
  const std::size_t begin = std::min(first, nodes.size());
  return std::span(nodes).subspan(begin, std::min(count, nodes.size() - begin));
}

}  // namespace

void fetch_missing_rows(PartRows& part, Communicator& comm) {
  const auto num_ranks = static_cast<std::size_t>(comm.size()), row_bytes = part.table().row_bytes;
  ByRank<NodeId> asked(num_ranks);
  for (const NodeId node : part.missing()) asked[static_cast<std::size_t>(part.owner_of(node))].push_back(node);
  const ByRank<NodeId> wanted = tell_each_other(comm, asked);

  const std::size_t at_once =
      std::max<std::size_t>(1, kMissingBytesAtOnce / (num_ranks * std::max<std::size_t>(1, row_bytes)));
  const std::size_t longest = longest_of_all(comm, asked);
  ByRank<std::byte> answers(num_ranks), rows(num_ranks);
  for (std::size_t first = 0; first < longest; first += at_once) {
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      answers[rank].clear();
      for (const NodeId node : piece_of(wanted[rank], first, at_once)) {
        const std::byte* const row = part.table().data + part.row_of(0, node) * row_bytes;
        answers[rank].insert(answers[rank].end(), row, row + row_bytes);
      }
      rows[rank].resize(piece_of(asked[rank], first, at_once).size() * row_bytes);
    }
    exchange(comm, answers, rows);
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      std::span<const std::byte> left = rows[rank];
      for (const NodeId node : piece_of(asked[rank], first, at_once)) {
        part.set_row(node, left.first(row_bytes));
        left = left.subspan(row_bytes);
      }
    }
  }
}

}  // namespace salient
