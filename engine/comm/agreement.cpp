// engine/comm/agreement.cpp - see agreement.h.
#include "engine/comm/agreement.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "core/host/machine.h"

namespace salient {
namespace {

/// An exception as bytes: its exit code, a space, its text.
std::string packed(const std::exception_ptr& failure) {
  const auto pack = [](ErrorKind kind, const char* what) {
    return std::to_string(static_cast<int>(kind)) + " " + what;
  };
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return pack(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return pack(ErrorKind::kHostMemory, "out of host memory; lower --batch-size, --workers or --slots");
  } catch (const std::exception& error) {
    return pack(ErrorKind::kInternal, error.what());
  } catch (...) {
    return pack(ErrorKind::kInternal, "unknown exception");
  }
}

/// Where two texts part, shortened around the first difference.
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

void agree_on_outcome(Communicator& comm, const std::exception_ptr& failure) {
  if (comm.size() == 1) {
    if (failure) std::rethrow_exception(failure);
    return;
  }
  double num_failed = failure ? 1 : 0;
  comm.all_reduce_sum(std::span<double>(&num_failed, 1));
  if (num_failed == 0) return;
  const std::vector<std::string> all = comm.gather(failure ? packed(failure) + "\n" + host_name() : std::string());
  std::string first;
  for (std::size_t rank = 0; rank < all.size() && first.empty(); ++rank) {
    if (all[rank].empty()) continue;
    const std::size_t blank = all[rank].find(' '), host = all[rank].rfind('\n');
    first = all[rank].substr(0, blank + 1) + "rank " + std::to_string(rank) + " on " + all[rank].substr(host + 1) +
            ": " + all[rank].substr(blank + 1, host - blank - 1);
    if (num_failed > 1)
      first.append(" (and ").append(std::to_string(static_cast<int>(num_failed) - 1)).append(" more)");
  }
  comm.broadcast(first);
  const std::size_t blank = first.find(' ');
  fail_on_all_ranks(comm, static_cast<ErrorKind>(std::atoi(first.c_str())), first.substr(blank + 1));
}

void fail_on_all_ranks(const Communicator& comm, ErrorKind kind, const std::string& what) {
  throw RankError(kind, what, RankError::Known::kOnAllRanks, comm.rank() == 0);
}

void require_equal_on_all_ranks(Communicator& comm, const std::string& name, const std::string& text, ErrorKind kind) {
  std::string of_rank_0 = text;
  comm.broadcast(of_rank_0);
  together(comm, [&] {
    if (text != of_rank_0) fail(kind, name + " differs from rank 0's: " + difference(of_rank_0, text));
  });
}

}  // namespace salient
