// engine/comm/self_communicator.cpp - the null back end of a single rank.
#include <thread>
#include <utility>

#include "core/error.h"
#include "engine/comm/communicator.h"

namespace salient {
namespace {

/// There is no other rank.
class NoTransfer final : public Transfer {
 public:
  void wait() override {}
};

class SelfCommunicator final : public Communicator {
 public:
  std::string_view name() const override { return "self"; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce_sum(std::span<float>, CUstream_st*) override {}
  void broadcast(std::span<float>, CUstream_st*) override {}
  void all_reduce_sum(std::span<double>) override {}
  void broadcast(std::string&) override {}
  std::vector<std::string> gather(std::string_view bytes) override { return {std::string(bytes)}; }
  void barrier() override {}
  std::unique_ptr<Transfer> transfer(std::span<const std::span<const std::byte>>,
                                     std::span<const std::span<std::byte>>) override {
    return std::make_unique<NoTransfer>();
  }
  void wait_until(const std::function<bool()>& is_done) override {
    while (!is_done()) std::this_thread::yield();
  }
  std::uint32_t exchange_flags(std::uint32_t flags) override { return std::exchange(flags_, flags); }
  void give_up(const std::string& why, Topic topic) override { fail(ErrorKind::kComm, why, topic); }

 private:
  std::uint32_t flags_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_self_communicator() { return std::make_unique<SelfCommunicator>(); }

}  // namespace salient
