// apps/doctor/launch_checks.h - GPUs and what starts several ranks.
#pragma once

#include <filesystem>

#include "apps/doctor/finding.h"
#include "engine/comm/launch.h"
#include "engine/device/gpu_probe.h"

namespace salient::doctor {

/// GPU, driver and NCCL. A machine without NVIDIA's hardware is fine: it trains on its cores.
/// @param root  of the file system; tests make up others.
Findings check_gpus(const GpuProbe& probe, const std::filesystem::path& root = "/");

/// MPI, its binding of this rank, and Slurm.
Findings check_launch(const Launch& launch, const LookUp& look_up);

}  // namespace salient::doctor
