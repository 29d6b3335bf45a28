// engine/train/rank_state.cpp - see rank_state.h.
#include "engine/train/rank_state.h"

#include <cstring>
#include <type_traits>

#include "core/files/file_io.h"
#include "engine/comm/agreement.h"

namespace salient {
namespace {

void take_tensor(Communicator& comm, const ComputeDevice& device, const at::Tensor& tensor) {
  comm.broadcast(std::span<float>(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())), device.stream());
}

void take_buffers(Communicator& comm, const ComputeDevice& device, const Model& model) {
  for (const at::Tensor& buffer : model.buffers())
    if (buffer.scalar_type() == at::kFloat) take_tensor(comm, device, buffer);
}

}  // namespace

void take_weights_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model, FlatAdam& optimizer) {
  if (comm.size() == 1) return;
  comm.broadcast(optimizer.parameters(), device.stream());
  take_buffers(comm, device, model);
}

void take_weights_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model) {
  if (comm.size() == 1) return;
  for (const at::Tensor& parameter : model.parameters()) take_tensor(comm, device, parameter);
  take_buffers(comm, device, model);
}

void take_state_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model, FlatAdam& optimizer,
                          TrainProgress& progress) {
  if (comm.size() == 1) return;
  static_assert(std::is_trivially_copyable_v<TrainProgress>);
  std::string bytes(reinterpret_cast<const char*>(&progress), sizeof progress);
  comm.broadcast(bytes);
  std::memcpy(&progress, bytes.data(), sizeof progress);
  take_weights_of_rank_0(comm, device, model, optimizer);
  for (const auto& [name, tensor] : optimizer.state()) take_tensor(comm, device, tensor);
}

void require_equal_parameters(Communicator& comm, const FlatAdam& optimizer, const std::string& when) {
  if (comm.size() == 1) return;
  require_equal_on_all_ranks(comm, "the checksum of the parameters " + when, to_hex(optimizer.checksum()),
                             ErrorKind::kInternal);
}

}  // namespace salient
