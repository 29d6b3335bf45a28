// engine/comm/self_communicator.cpp - the null back end of a single rank.
#include "engine/comm/communicator.h"

namespace salient {
namespace {

class SelfCommunicator final : public Communicator {
 public:
  std::string_view name() const override { return "self"; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce_sum(std::span<float>, CUstream_st*) override {}
  void broadcast(std::span<float>, CUstream_st*) override {}
  void all_reduce_sum(std::span<double>) override {}
};

}  // namespace

std::unique_ptr<Communicator> make_self_communicator() { return std::make_unique<SelfCommunicator>(); }

}  // namespace salient
