// engine/comm/mpi_communicator.cpp - see mpi_communicator.h. Every collective is the nonblocking one, and a wait.
#include "engine/comm/mpi_communicator.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "engine/comm/call_limit.h"
#include "engine/comm/mpi_call.h"
#include "engine/comm/mpi_launch.h"
#include "engine/comm/mpi_wait.h"

namespace salient {
namespace {

constexpr std::size_t kMaxCount = std::size_t{1} << 30;  // MPI counts are int
constexpr int kGatherTag = 0, kTransferTag = 1;

/// Calls part(pointer, count) for pieces that MPI can count.
template <class T, class Part>
void in_parts(std::span<T> data, Part&& part) {
  for (std::size_t at = 0; at < data.size(); at += kMaxCount)
    part(data.data() + at, static_cast<int>(std::min(kMaxCount, data.size() - at)));
}

/// A communicator of the first `size` ranks, collective over these. Blocks: only under a CallLimit.
MPI_Comm own_comm(int size) {
  MPI_Group all = MPI_GROUP_NULL, first = MPI_GROUP_NULL;
  int range[1][3] = {{0, size - 1, 1}};
  mpi_check(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  mpi_check(MPI_Group_range_incl(all, 1, range, &first), "MPI_Group_range_incl");
  MPI_Comm comm = MPI_COMM_NULL;
  mpi_check(MPI_Comm_create_group(MPI_COMM_WORLD, first, /*tag=*/0, &comm), "MPI_Comm_create_group");
  mpi_check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  mpi_check(MPI_Group_free(&first), "MPI_Group_free");
  mpi_check(MPI_Group_free(&all), "MPI_Group_free");
  return comm;
}

/// Blocks: only under a CallLimit.
std::vector<std::string> hosts_of_ranks(const Launch& launch, MPI_Comm comm) {
  std::string mine = launch.host.substr(0, 63);
  mine.resize(64, '\0');
  std::string all(64 * static_cast<std::size_t>(launch.size), '\0');
  mpi_check(MPI_Allgather(mine.data(), 64, MPI_CHAR, all.data(), 64, MPI_CHAR, comm), "MPI_Allgather");
  std::vector<std::string> hosts;
  for (std::size_t at = 0; at < all.size(); at += 64) hosts.emplace_back(all.c_str() + at);
  return hosts;
}

class MpiTransfer final : public Transfer {
 public:
  explicit MpiTransfer(MpiWait& wait) : wait_(wait) {}
  MPI_Request& add() { return requests_.emplace_back(); }
  void wait() override {
    wait_(requests_);
    requests_.clear();
  }

 private:
  MpiWait& wait_;
  std::vector<MPI_Request> requests_;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(const Launch& launch, double timeout_seconds)
      : MpiCommunicator(launch, timeout_seconds, CallLimit(launch, "connecting the ranks", timeout_seconds)) {}

  MpiCommunicator(const Launch& launch, double timeout_seconds, const CallLimit&)
      : rank_(launch.rank),
        size_(launch.size),
        data_(own_comm(launch.size)),
        flags_(own_comm(launch.size)),
        wait_(own_comm(launch.size), launch.rank, hosts_of_ranks(launch, data_), timeout_seconds) {}

  /// MPI's end frees the communicators: freeing them here would wait for ranks that may be gone.
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  ~MpiCommunicator() override {
    try {
      if (flags_request_ != MPI_REQUEST_NULL && std::uncaught_exceptions() == 0) wait_(flags_request_);
    } catch (const std::exception&) {  // a peer is gone; the next call that needs it fails
    }
    if (flags_request_ != MPI_REQUEST_NULL) (void)flags_of_all_.release();  // MPI may still write there
  }

  std::string_view name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void all_reduce_sum(std::span<float> data, CUstream_st*) override { sum(data, MPI_FLOAT); }
  void all_reduce_sum(std::span<double> values) override { sum(values, MPI_DOUBLE); }
  void broadcast(std::span<float> data, CUstream_st*) override { broadcast_parts(data, MPI_FLOAT); }

  void broadcast(std::string& bytes) override {
    std::uint64_t size = bytes.size();
    broadcast_parts(std::span<std::uint64_t>(&size, 1), MPI_UINT64_T);
    bytes.resize(size);
    broadcast_parts(std::span<char>(bytes), MPI_CHAR);
  }

  std::vector<std::string> gather(std::string_view bytes) override {
    const std::uint64_t my_size = bytes.size();
    std::vector<std::uint64_t> sizes(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Igather(&my_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, data_, &request), "MPI_Igather");
    wait_(request);
    std::vector<std::string> all(sizes.size());
    std::vector<MPI_Request> requests;
    if (rank_ == 0) {
      all[0] = bytes;
      for (std::size_t from = 1; from < all.size(); ++from) {
        all[from].resize(sizes[from]);
        in_parts(std::span<char>(all[from]), [&](char* part, int count) {
          mpi_check(
              MPI_Irecv(part, count, MPI_CHAR, static_cast<int>(from), kGatherTag, data_, &requests.emplace_back()),
              "MPI_Irecv");
        });
      }
    } else {
      in_parts(std::span<const char>(bytes), [&](const char* part, int count) {
        mpi_check(MPI_Isend(part, count, MPI_CHAR, 0, kGatherTag, data_, &requests.emplace_back()), "MPI_Isend");
      });
    }
    wait_(requests);
    return all;
  }

  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Ibarrier(data_, &request), "MPI_Ibarrier");
    wait_(request);
  }

  std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                     std::span<const std::span<std::byte>> in) override {
    auto transfer = std::make_unique<MpiTransfer>(wait_);
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      in_parts(in[static_cast<std::size_t>(other)], [&](std::byte* part, int count) {
        mpi_check(MPI_Irecv(part, count, MPI_BYTE, other, kTransferTag, data_, &transfer->add()), "MPI_Irecv");
      });
      in_parts(out[static_cast<std::size_t>(other)], [&](const std::byte* part, int count) {
        mpi_check(MPI_Isend(part, count, MPI_BYTE, other, kTransferTag, data_, &transfer->add()), "MPI_Isend");
      });
    }
    return transfer;
  }

  void wait_until(const std::function<bool()>& is_done) override { wait_.until(is_done); }

  std::uint32_t exchange_flags(std::uint32_t flags) override {
    if (flags_request_ != MPI_REQUEST_NULL) wait_(flags_request_);
    const std::uint32_t heard = std::exchange(*flags_of_all_, flags);
    mpi_check(MPI_Iallreduce(MPI_IN_PLACE, flags_of_all_.get(), 1, MPI_UINT32_T, MPI_BOR, flags_, &flags_request_),
              "MPI_Iallreduce");
    return heard;
  }

  void give_up(const std::string& why, Topic topic) override { wait_.give_up(why, topic); }

 private:
  template <class T>
  void sum(std::span<T> data, MPI_Datatype type) {
    in_parts(data, [&](T* part, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      mpi_check(MPI_Iallreduce(MPI_IN_PLACE, part, count, type, MPI_SUM, data_, &request), "MPI_Iallreduce");
      wait_(request);
    });
  }

  template <class T>
  void broadcast_parts(std::span<T> data, MPI_Datatype type) {
    in_parts(data, [&](T* part, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      mpi_check(MPI_Ibcast(part, count, type, 0, data_, &request), "MPI_Ibcast");
      wait_(request);
    });
  }

  int rank_, size_;
  MPI_Comm data_;
  MPI_Comm flags_;  // of its own: its collectives overlap the others
  MpiWait wait_;
  MPI_Request flags_request_ = MPI_REQUEST_NULL;
  std::unique_ptr<std::uint32_t> flags_of_all_ = std::make_unique<std::uint32_t>(0);
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(const Launch& launch, double timeout_seconds) {
  return std::make_unique<MpiCommunicator>(is_mpi_running() ? launch : start_mpi(), timeout_seconds);
}

BareAllReduce make_bare_mpi_all_reduce(const Launch& launch) {
  return [comm = own_comm(launch.size)](std::span<float> data, CUstream_st*) {
    mpi_check(MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM, comm),
              "MPI_Allreduce");
  };
}

}  // namespace salient
