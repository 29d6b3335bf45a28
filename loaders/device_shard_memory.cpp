// loaders/device_shard_memory.cpp - parts of feature rows in GPU memory, by CUDA's calls for virtual addresses: a part
// is exported as a file descriptor, and pages of another GPU are mapped beside one's own.
#include <cuda.h>

#include <cstdint>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "loaders/shards.h"

namespace salient {
namespace {

/// The driver's calls, looked up through the runtime: a program that is linked with the driver's library would not
/// start on a machine without a GPU.
struct Driver {
  template <class Call>
  static void find(const char* name, Call& call) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status{};
    cuda_check(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status));
    if (status != cudaDriverEntryPointSuccess)
      fail(ErrorKind::kNoDevice, std::string("this driver of CUDA has no ") + name, Topic::kDeviceFeatures);
    call = reinterpret_cast<Call>(found);
  }
  Driver() {
    find("cuMemCreate", create);
    find("cuMemRelease", release);
    find("cuMemExportToShareableHandle", to_descriptor);
    find("cuMemImportFromShareableHandle", from_descriptor);
    find("cuMemAddressReserve", reserve);
    find("cuMemAddressFree", free);
    find("cuMemMap", map);
    find("cuMemUnmap", unmap);
    find("cuMemSetAccess", set_access);
    find("cuGetErrorName", error_name);
  }
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemExportToShareableHandle) to_descriptor = nullptr;
  decltype(&cuMemImportFromShareableHandle) from_descriptor = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;

  /// @param action  "share memory of a GPU"
  void check(CUresult status, const std::string& action) const {
    if (status == CUDA_SUCCESS) return;
    const char* name = nullptr;
    (void)error_name(status, &name);
    fail(status == CUDA_ERROR_OUT_OF_MEMORY ? ErrorKind::kDeviceMemory : ErrorKind::kNoDevice,
         "cannot " + action + " (" + (name != nullptr ? name : "unknown") + ")", Topic::kDeviceFeatures);
  }
};

class DeviceShardMemory final : public ShardMemory {
 public:
  DeviceShardMemory() { cuda_check(cudaGetDevice(&device_)); }

  ~DeviceShardMemory() override {
    (void)cudaSetDevice(device_);
    (void)cudaDeviceSynchronize();  // what reads these addresses is over
    for (const auto& [at, bytes] : mapped_) (void)driver_.unmap(at, bytes);
    if (range_ != 0) (void)driver_.free(range_, range_bytes_);
    for (const CUmemGenericAllocationHandle part : parts_) (void)driver_.release(part);
  }
  DeviceShardMemory(const DeviceShardMemory&) = delete;
  DeviceShardMemory& operator=(const DeviceShardMemory&) = delete;

  Descriptor allocate(std::size_t bytes) override {
    cuda_check(cudaFree(nullptr));  // makes the device's context
    CUmemAllocationProp what{};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_};
    what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle part{};
    driver_.check(driver_.create(&part, bytes, &what, 0),
                  "allocate " + std::to_string(bytes) + " bytes of GPU memory for a part of the feature rows");
    parts_.push_back(part);
    int descriptor = -1;
    driver_.check(driver_.to_descriptor(&descriptor, part, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                  "share GPU memory with other processes");
    return Descriptor(descriptor);
  }

  std::byte* reserve(std::size_t bytes) override {
    driver_.check(driver_.reserve(&range_, bytes, kShardPage, 0, 0),
                  "reserve addresses for " + std::to_string(bytes) + " bytes");
    range_bytes_ = bytes;
    return reinterpret_cast<std::byte*>(range_);
  }

  void map(const Descriptor& part, std::byte* at, std::size_t bytes) override {
    CUmemGenericAllocationHandle handle{};
    const auto descriptor = static_cast<std::uintptr_t>(part.get());
    driver_.check(
        driver_.from_descriptor(&handle, reinterpret_cast<void*>(descriptor), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "import GPU memory of another process");
    const auto address = reinterpret_cast<CUdeviceptr>(at);
    const CUresult status = driver_.map(address, bytes, 0, handle, 0);
    (void)driver_.release(handle);  // the mapping keeps the memory
    driver_.check(status, "map GPU memory of another process");
    mapped_.emplace_back(address, bytes);
    const CUmemAccessDesc access{.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_},
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    driver_.check(driver_.set_access(address, bytes, &access, 1), "read the memory of another GPU");
  }

 private:
  const Driver driver_;
  int device_ = 0;
  std::vector<CUmemGenericAllocationHandle> parts_;  // of this process
  CUdeviceptr range_ = 0;
  std::size_t range_bytes_ = 0;
  std::vector<std::pair<CUdeviceptr, std::size_t>> mapped_;
};

bool can_share_memory(int device) {
  decltype(&cuDeviceGetAttribute) get = nullptr;
  Driver::find("cuDeviceGetAttribute", get);
  cuda_check(cudaFree(nullptr));  // starts the driver
  int can_map = 0, can_export = 0;
  return get(&can_map, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) == CUDA_SUCCESS &&
         get(&can_export, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device) == CUDA_SUCCESS &&
         can_map != 0 && can_export != 0;
}

std::string bus_id_of(int device) {
  char id[32] = "";
  cuda_check(cudaDeviceGetPCIBusId(id, sizeof id, device));
  return id;
}

}  // namespace

std::unique_ptr<ShardMemory> make_device_shard_memory() { return std::make_unique<DeviceShardMemory>(); }

std::string name_of_current_gpu() {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  return bus_id_of(device);
}

PeerReach reach_of_current_gpu(std::span<const std::string> gpus) {
  int own = 0;
  cuda_check(cudaGetDevice(&own));
  if (!can_share_memory(own)) return {.obstacle = "the GPU " + bus_id_of(own) + " cannot share memory by descriptors"};
  PeerReach reach;
  for (const std::string& gpu : gpus) {
    int other = 0, can = 1, has_atomics = 1;
    if (cudaDeviceGetByPCIBusId(&other, gpu.c_str()) != cudaSuccess) {
      (void)cudaGetLastError();
      return {.obstacle = "the GPU " + gpu + " of another rank is hidden from the one of " + bus_id_of(own)};
    }
    if (other == own) continue;
    cuda_check(cudaDeviceCanAccessPeer(&can, own, other));
    if (can == 0) return {.obstacle = "the GPU " + bus_id_of(own) + " has no peer access to " + gpu};
    // NVLink carries every atomic operation of CUDA, PCIe does not.
    cuda_check(cudaDeviceGetP2PAttribute(&has_atomics, cudaDevP2PAttrNativeAtomicSupported, own, other));
    if (has_atomics == 0) reach.slow_link = "the GPU " + bus_id_of(own) + " has no NVLink to " + gpu;
  }
  return reach;
}

}  // namespace salient
