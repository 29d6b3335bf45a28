// engine/comm/peer_memory.cpp - see peer_memory.h.
#include "engine/comm/peer_memory.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"

namespace salient {
namespace {

/// What a rank tells the others. The mark is in its memory at first: who finds it there has opened the right one, as a
/// handle of another host may be valid here, too.
struct Card {
  cudaIpcMemHandle_t handle;
  std::uint64_t mark;
};

std::uint64_t random_mark() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

/// Without an error where it cannot be opened.
bool PeerMemory::open(std::size_t rank, const cudaIpcMemHandle_t& handle) {
  void* memory = nullptr;
  if (cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  of_ranks_[rank] = static_cast<std::byte*>(memory);
  others_.emplace_back(of_ranks_[rank]);
  return true;
}

std::unique_ptr<PeerMemory> PeerMemory::make(Communicator& control, std::size_t bytes) {
  constexpr std::size_t kPageBytes = std::size_t{2} << 20;  // a handle is of whole pages
  const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  Card card{};
  std::unique_ptr<PeerMemory> memory;
  bool is_open = true;
  together(control, [&] {
    card.mark = random_mark();
    memory.reset(new PeerMemory(bytes, make_device_array<std::byte>(whole, "the exchange of gradients")));
    cuda_check(cudaMemset(memory->own_.get(), 0, whole));
    cuda_check(cudaMemcpy(memory->own_.get(), &card.mark, sizeof card.mark, cudaMemcpyHostToDevice));
    cuda_check(cudaDeviceSynchronize());
    is_open = cudaIpcGetMemHandle(&card.handle, memory->own_.get()) == cudaSuccess;
    if (!is_open) (void)cudaGetLastError();
  });
  std::string mine(sizeof card, '\0');
  std::memcpy(mine.data(), &card, sizeof card);
  const std::vector<std::string> cards = gather_on_all(control, mine);
  const auto own_rank = static_cast<std::size_t>(control.rank());
  memory->of_ranks_.assign(cards.size(), memory->own_.get());
  is_open = on_all_ranks(control, is_open);
  together(control, [&] {
    for (std::size_t rank = 0; is_open && rank < cards.size(); ++rank) {
      Card other{};
      std::memcpy(&other, cards[rank].data(), sizeof other);
      std::uint64_t found = 0;
      is_open = rank == own_rank || memory->open(rank, other.handle);
      if (is_open) cuda_check(cudaMemcpy(&found, memory->of_ranks_[rank], sizeof found, cudaMemcpyDeviceToHost));
      is_open = is_open && found == other.mark;
    }
  });
  if (!on_all_ranks(control, is_open)) {  // all have read the marks
    memory->close();
    control.barrier();
    return nullptr;
  }
  together(control, [&] {
    cuda_check(cudaMemset(memory->own_.get(), 0, sizeof card.mark));
    cuda_check(cudaDeviceSynchronize());
  });
  return memory;
}

}  // namespace salient
