// engine/comm/nccl_communicator.cpp - see nccl_communicator.h.
#include "engine/comm/nccl_communicator.h"

#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "core/host/machine.h"
#include "engine/comm/agreement.h"
#include "engine/comm/nccl_messages.h"
#include "engine/comm/nccl_start.h"
#include "engine/comm/nccl_watch.h"
#include "engine/comm/peer_memory.h"

namespace salient {
namespace {

constexpr std::size_t kUuidBytes = sizeof(cudaUUID_t);

/// The GPU's UUID, then its name for messages: "node3, GPU 0000:3B:00.0". Host names and bus ids may repeat.
std::string gpu_of_this_rank() {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, device));
  char bus_id[32] = "";
  cuda_check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device));
  return std::string(properties.uuid.bytes, kUuidBytes) + host_name() + ", GPU " + bus_id;
}

/// NCCL hangs or crashes when two ranks share a GPU.
void require_own_gpus(Communicator& control) {
  std::string mine;
  together(control, [&] { mine = gpu_of_this_rank(); });
  const std::vector<std::string> gpus = control.gather(mine);
  together(control, [&] {
    std::map<std::string, std::size_t> rank_of;
    for (std::size_t rank = 0; rank < gpus.size(); ++rank)
      if (const auto [other, is_new] = rank_of.emplace(gpus[rank].substr(0, kUuidBytes), rank); !is_new)
        fail(ErrorKind::kUsage,
             "ranks " + std::to_string(other->second) + " and " + std::to_string(rank) + " share " +
                 gpus[rank].substr(kUuidBytes) + "; NCCL needs a GPU for each rank of a host",
             Topic::kCommBackend);
  });
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> control, double timeout_seconds, RowBackend rows)
      : control_(std::move(control)), nccl_(start_nccl(*control_, timeout_seconds), timeout_seconds) {
    connect();
    if (rows == RowBackend::kNccl) rows_.emplace(*control_, timeout_seconds);
  }

  ~NcclCommunicator() override {
    const bool is_given_up = *nccl_.is_given_up() != 0;
    for (std::unique_ptr<PeerMemory>& memory : peers_)
      if (is_given_up)
        (void)memory.release();  // others may still write there, and this process is about to end
      else
        memory->close();  // all ranks, before NCCL's end joins them
  }

  std::string_view name() const override { return "nccl"; }
  int rank() const override { return control_->rank(); }
  int size() const override { return control_->size(); }

  void all_reduce_sum(std::span<float> data, CUstream_st* stream) override {
    end_if(nccl_.failure());
    end_if(nccl_.watch(stream, [&](ncclComm_t comm) {
      return ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat, ncclSum, comm, stream);
    }));
  }

  void broadcast(std::span<float> data, CUstream_st* stream) override {
    end_if(nccl_.failure());
    end_if(nccl_.watch(stream, [&](ncclComm_t comm) {
      return ncclBroadcast(data.data(), data.data(), data.size(), ncclFloat, 0, comm, stream);
    }));
  }

  std::optional<PeerAccess> peer_access(std::size_t bytes) override {
    for (const std::unique_ptr<PeerMemory>& memory : peers_)
      if (memory->bytes() >= bytes) return PeerAccess{memory->of_ranks(), nccl_.is_given_up()};
    std::unique_ptr<PeerMemory> memory = PeerMemory::make(control(), bytes);
    if (!memory) return std::nullopt;
    peers_.push_back(std::move(memory));
    return PeerAccess{peers_.back()->of_ranks(), nccl_.is_given_up()};
  }

  void watch(CUstream_st* stream, const std::function<void()>& enqueue) override {
    end_if(nccl_.failure());
    std::exception_ptr problem;
    const NcclFailure failure = nccl_.watch(stream, [&](ncclComm_t) {
      try {
        enqueue();
      } catch (...) {
        problem = std::current_exception();
      }
      return problem ? ncclSystemError : ncclSuccess;
    });
    if (problem) std::rethrow_exception(problem);
    end_if(failure);
  }

  void all_reduce_sum(std::span<double> values) override { control().all_reduce_sum(values); }
  void broadcast(std::string& bytes) override { control().broadcast(bytes); }
  std::vector<std::string> gather(std::string_view bytes) override { return control().gather(bytes); }
  void barrier() override { control().barrier(); }
  std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>> out,
                                     std::span<const std::span<std::byte>> in) override {
    return control().transfer(out, in);
  }
  Messages& rows() override {
    if (rows_) return *rows_;
    return control_->rows();
  }
  void wait_until(const std::function<bool()>& is_done) override { control_->wait_until(is_done); }
  std::uint32_t exchange_flags(std::uint32_t flags) override { return control().exchange_flags(flags); }
  void cancel() noexcept override {
    if (rows_) rows_->abort();
    nccl_.abort();
  }
  void give_up(const std::string& why, Topic topic) override { control_->give_up(why, topic); }

 private:
  /// NCCL connects the ranks at the first use of each of its algorithms, which it picks by size. Done here, that second
  /// is not part of the first step.
  void connect() {
    constexpr std::size_t kLargest = std::size_t{4} << 20;
    const auto data = make_device_array<float>(kLargest);
    const CudaStream stream;
    for (std::size_t size = 1; size <= kLargest; size *= 8) all_reduce_sum({data.get(), size}, stream.get());
    stream.wait();
    end_if(nccl_.failure());
  }

  Communicator& control() {
    end_if(nccl_.failure());
    return *control_;
  }
  void end_if(const NcclFailure& failure) {
    if (failure.what.empty()) return;
    nccl_.abort();
    control_->give_up(failure.what, failure.topic);
  }

  std::unique_ptr<Communicator> control_;
  std::vector<std::unique_ptr<PeerMemory>> peers_;  // kept to the end: others may have it open
  NcclWatch nccl_;
  std::optional<NcclMessages> rows_;  // none: the control's
};

}  // namespace

bool has_nccl() { return true; }

std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> control, double timeout_seconds,
                                                     RowBackend rows) {
  require_own_gpus(*control);
  return std::make_unique<NcclCommunicator>(std::move(control), timeout_seconds, rows);
}

BareAllReduce make_bare_nccl_all_reduce(Communicator& control) {
  const auto check = [](ncclResult_t status) {
    if (status != ncclSuccess) fail(ErrorKind::kComm, nccl_problem("bare NCCL", status));
  };
  const ncclUniqueId id = common_id(control);
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, control.size(), id, control.rank()));
  const std::shared_ptr<ncclComm> owner(comm, [](ncclComm_t bare) { (void)ncclCommDestroy(bare); });
  return [owner, check](std::span<float> data, CUstream_st* stream) {
    check(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat, ncclSum, owner.get(), stream));
  };
}

}  // namespace salient
