// workbench/backend/cuda_driver.h - the CUDA driver's functions that the referee calls, found at run time.
//
// Written by hand, without cuda.h: the program must build without a toolkit and start without a driver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.h"

namespace salient::workbench {

using CudaPointer = unsigned long long;
struct CudaContextTag;
struct CudaModuleTag;
struct CudaFunctionTag;
struct CudaStreamTag;
struct CudaEventTag;
struct CudaGraphTag;
struct CudaGraphExecTag;
using CudaContext = CudaContextTag*;
using CudaModule = CudaModuleTag*;
using CudaFunction = CudaFunctionTag*;
using CudaStreamHandle = CudaStreamTag*;
using CudaEventHandle = CudaEventTag*;
using CudaGraph = CudaGraphTag*;
using CudaGraphExec = CudaGraphExecTag*;

/// Values of CUresult that have a meaning of their own here.
enum : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaOutOfMemory = 2,
  kCudaNoDevice = 100,
  kCudaOutOfResources = 701
};

/// Values of CUdevice_attribute.
enum class CudaAttribute : int {
  kClockKilohertz = 13,
  kMultiprocessors = 16,
  kCacheBytes = 38,
  kMajor = 75,
  kMinor = 76,
  kMaxSharedBytes = 97,
};

/// The functions. All return a CUresult.
struct CudaDriver {
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);
  int (*device_get)(int* device, int ordinal);
  int (*device_name)(char* name, int length, int device);
  int (*device_bus)(char* id, int length, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*context_retain)(CudaContext* context, int device);
  int (*context_set)(CudaContext context);
  int (*allocate)(CudaPointer* memory, std::size_t bytes);
  int (*release)(CudaPointer memory);
  int (*to_device)(CudaPointer to, const void* from, std::size_t bytes, CudaStreamHandle stream);
  int (*to_host)(void* to, CudaPointer from, std::size_t bytes, CudaStreamHandle stream);
  int (*copy)(CudaPointer to, CudaPointer from, std::size_t bytes, CudaStreamHandle stream);
  int (*fill)(CudaPointer to, unsigned char value, std::size_t bytes, CudaStreamHandle stream);
  int (*module_load)(CudaModule* module, const void* image);
  int (*module_function)(CudaFunction* function, CudaModule module, const char* name);
  int (*function_set)(CudaFunction function, int attribute, int value);
  int (*launch)(CudaFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, CudaStreamHandle stream, void** parameters,
                void** extra);  ///< the parameters are the driver's
  int (*stream_create)(CudaStreamHandle* stream, unsigned flags);
  int (*stream_wait)(CudaStreamHandle stream);
  int (*capture_begin)(CudaStreamHandle stream, int mode);
  int (*capture_end)(CudaStreamHandle stream, CudaGraph* graph);
  int (*graph_instantiate)(CudaGraphExec* executable, CudaGraph graph, unsigned long long flags);
  int (*graph_destroy)(CudaGraph graph);
  int (*graph_launch)(CudaGraphExec executable, CudaStreamHandle stream);
  int (*event_create)(CudaEventHandle* event, unsigned flags);
  int (*event_record)(CudaEventHandle event, CudaStreamHandle stream);
  int (*event_wait)(CudaEventHandle event);
  int (*event_elapsed)(float* milliseconds, CudaEventHandle start, CudaEventHandle end);
  int (*error_name)(int status, const char** name);
};

/// Loads libcuda.so.1 once, and initialises nothing. @throws Error{kNoDevice} if it, or a function, is missing
const CudaDriver& cuda_driver();

/// @throws Error: kDeviceMemory, kNoDevice, kBadData for a launch that cannot be, else kInternal, naming `action`
void driver_check(int status, const char* action);

}  // namespace salient::workbench
