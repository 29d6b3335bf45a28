// loaders/device_shard_memory_absent.cpp - replaces device_shard_memory.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/shards.h"

namespace salient {

std::unique_ptr<ShardMemory> make_device_shard_memory() {
  fail(ErrorKind::kNoDevice, "no feature rows in GPU memory: this is a build without CUDA", Topic::kDeviceFeatures);
}

std::string name_of_current_gpu() { return ""; }

PeerReach reach_of_current_gpu(std::span<const std::string>) { return {.obstacle = "this is a build without CUDA"}; }

}  // namespace salient
