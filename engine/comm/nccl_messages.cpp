// engine/comm/nccl_messages.cpp - see nccl_messages.h.
#include "engine/comm/nccl_messages.h"

#include <algorithm>
#include <vector>

#include "engine/comm/nccl_start.h"

namespace salient {
namespace {

using Out = std::span<const std::byte>;
using In = std::span<std::byte>;

bool is_empty(const auto& message) { return message.empty(); }

/// One group, so that NCCL moves all of them at once and in any order.
ncclResult_t enqueue(std::span<const Out> out, std::span<const In> in, int own_rank, ncclComm_t comm,
                     cudaStream_t stream) {
  ncclResult_t status = ncclGroupStart();
  for (int other = 0; other < static_cast<int>(out.size()); ++other) {
    const auto r = static_cast<std::size_t>(other);
    if (other == own_rank) continue;
    if (status == ncclSuccess && !in[r].empty())
      status = ncclRecv(in[r].data(), in[r].size(), ncclUint8, other, comm, stream);
    if (status == ncclSuccess && !out[r].empty())
      status = ncclSend(out[r].data(), out[r].size(), ncclUint8, other, comm, stream);
  }
  const ncclResult_t end = ncclGroupEnd();
  return status == ncclSuccess ? end : status;
}

}  // namespace

class NcclMessages::Started final : public Transfer {
 public:
  Started(NcclMessages& messages, std::uint32_t number) : messages_(messages), number_(number) {}
  void wait() override { messages_.wait_for(number_); }

 private:
  NcclMessages& messages_;
  std::uint32_t number_;  // of the calls that must be done
};

NcclMessages::NcclMessages(Communicator& control, double timeout_seconds)
    : control_(control), nccl_(start_nccl(control, timeout_seconds), timeout_seconds) {
  connect();
}

/// NCCL connects two ranks at their first message.
void NcclMessages::connect() {
  const auto num_ranks = static_cast<std::size_t>(control_.size());
  const auto memory = make_pinned_array<std::byte>(2 * num_ranks);
  std::vector<Out> out;
  std::vector<In> in;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    out.emplace_back(memory.get() + rank, 1);
    in.emplace_back(memory.get() + num_ranks + rank, 1);
  }
  transfer(out, in)->wait();
}

std::unique_ptr<Transfer> NcclMessages::transfer(std::span<const Out> out, std::span<const In> in) {
  end_if(nccl_.failure());
  if (!std::ranges::all_of(out, is_empty<Out>) || !std::ranges::all_of(in, is_empty<In>))
    end_if(nccl_.watch(stream_.get(),
                       [&](ncclComm_t comm) { return enqueue(out, in, control_.rank(), comm, stream_.get()); }));
  return std::make_unique<Started>(*this, nccl_.num_enqueued());
}

void NcclMessages::wait_for(std::uint32_t number) {
  control_.wait_until([&] { return static_cast<std::int32_t>(nccl_.num_done() - number) >= 0; });
  end_if(nccl_.failure());  // an abort ends the stream's work, too
}

void NcclMessages::end_if(const NcclFailure& failure) {
  if (failure.what.empty()) return;
  nccl_.abort();
  control_.give_up(failure.what, failure.topic);
}

}  // namespace salient
