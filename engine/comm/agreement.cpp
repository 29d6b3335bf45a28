// engine/comm/agreement.cpp - see agreement.h.
#include "engine/comm/agreement.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/host/machine.h"

namespace salient {
namespace {

/// An error as bytes, to be read by `unpacked`: "71 3 text".
std::string packed(const Error& error) {
  return std::to_string(static_cast<int>(error.kind())) + " " + std::to_string(static_cast<int>(error.topic())) + " " +
         error.what();
}

Error unpacked(const std::string& bytes) {
  const std::size_t first = bytes.find(' '), second = bytes.find(' ', first + 1);
  return {static_cast<ErrorKind>(std::atoi(bytes.c_str())), bytes.substr(second + 1),
          static_cast<Topic>(std::atoi(bytes.c_str() + first + 1))};
}

/// The lines of the first difference between two texts, shortened.
std::string difference(const std::string& expected, const std::string& found) {
  const auto at = static_cast<std::size_t>(
      std::mismatch(expected.begin(), expected.end(), found.begin(), found.end()).first - expected.begin());
  const auto line_at = [at](const std::string& text) {
    const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return text.substr(begin, std::min<std::size_t>(text.find('\n', begin) - begin, 100));
  };
  return "'" + line_at(found) + "', not '" + line_at(expected) + "'";
}

}  // namespace

bool on_all_ranks(Communicator& comm, bool holds) {
  double missing = holds ? 0 : 1;
  comm.all_reduce_sum({&missing, 1});
  return missing == 0;
}

void agree_on_outcome(Communicator& comm, const std::exception_ptr& failure) {
  if (comm.size() == 1) {
    if (failure) std::rethrow_exception(failure);
    return;
  }
  double num_failed = failure ? 1 : 0;
  comm.all_reduce_sum(std::span<double>(&num_failed, 1));
  if (num_failed == 0) return;
  const std::vector<std::string> all =
      comm.gather(failure ? host_name() + "\n" + packed(as_error(failure)) : std::string());
  std::string first;  // on rank 0: the error of the lowest rank that failed, with its rank and host
  for (std::size_t rank = 0; rank < all.size() && first.empty(); ++rank) {
    if (all[rank].empty()) continue;
    const std::size_t host_end = all[rank].find('\n');
    const Error error = unpacked(all[rank].substr(host_end + 1));
    std::string what = "rank " + std::to_string(rank) + " on " + all[rank].substr(0, host_end) + ": " + error.what();
    if (num_failed > 1) what.append(" (and ").append(std::to_string(static_cast<int>(num_failed) - 1)).append(" more)");
    first = packed(Error(error.kind(), what, error.topic()));
  }
  comm.broadcast(first);
  const Error error = unpacked(first);
  fail_on_all_ranks(comm, error.kind(), error.what(), error.topic());
}

void fail_on_all_ranks(const Communicator& comm, ErrorKind kind, const std::string& what, Topic topic) {
  throw RankError(kind, what, RankError::Known::kOnAllRanks, comm.rank() == 0, topic);
}

void require_equal_on_all_ranks(Communicator& comm, const std::string& name, const std::string& text, ErrorKind kind) {
  std::string of_rank_0 = text;
  comm.broadcast(of_rank_0);
  together(comm, [&] {
    if (text != of_rank_0) fail(kind, name + " differs from rank 0's: " + difference(of_rank_0, text));
  });
}

}  // namespace salient
