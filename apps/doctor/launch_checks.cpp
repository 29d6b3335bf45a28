// apps/doctor/launch_checks.cpp - see launch_checks.h.
#include "apps/doctor/launch_checks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "core/number_text.h"

namespace salient::doctor {
namespace {

namespace fs = std::filesystem;

std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Finding check_nccl(std::size_t num_gpus) {
  int version = 0;
  if (void* library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL)) {
    if (void* const symbol = dlsym(library, "ncclGetVersion")) reinterpret_cast<int (*)(int*)>(symbol)(&version);
  }
  if (version > 0)
    return {"NCCL", State::kFine,
            std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                std::to_string(version % 100),
            ""};
  if (num_gpus < 2) return {"NCCL", State::kFine, "none, and not needed for one GPU", ""};
  return {"NCCL", State::kSlow, "no libnccl.so.2",
          "install libnccl2: several GPUs exchange gradients by the host else"};
}

/// The program `name` in PATH; empty = none.
std::string in_path(const LookUp& look_up, const std::string& name) {
  const char* const path = look_up("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / name).c_str(), X_OK) == 0) return (fs::path(folder) / name).string();
  return "";
}

}  // namespace

Findings check_gpus(const GpuProbe& probe, const fs::path& root) {
  std::error_code error;
  const bool has_driver = fs::exists(root / "proc/driver/nvidia/version", error);
  if (probe.gpus.empty() && !has_driver) return {{"GPU", State::kFine, "none: training runs on the cores", ""}};
  if (!probe.is_cuda_build)
    return {{"GPU", State::kSlow, "an NVIDIA driver is there, and this is a build without CUDA",
             "install a CUDA 13 toolkit and build again"}};
  const std::string driver = "for CUDA " + cuda_version(probe.driver_version);
  if (probe.driver_version < probe.runtime_version)
    return {{"driver", State::kMissing, driver + ", older than this build's " + cuda_version(probe.runtime_version),
             "update the NVIDIA driver"}};
  if (probe.gpus.empty())
    return {{"GPU", State::kMissing, "a driver " + driver + ", and no GPU that this process may use",
             "see CUDA_VISIBLE_DEVICES; docker run --gpus all; Slurm's --gpus"}};
  Findings findings;
  for (const GpuFacts& gpu : probe.gpus) {
    const bool is_old = gpu.compute_capability < 80;
    findings.push_back({"GPU", is_old ? State::kMissing : State::kFine, gpu.name + ", " + gigabytes(gpu.total_bytes, 0),
                        is_old ? "the programs need compute capability 8.0: --device cpu" : ""});
  }
  findings.push_back({"driver", State::kFine, driver, ""});
  findings.push_back(check_nccl(probe.gpus.size()));
  return findings;
}

Findings check_launch(const Launch& launch, const LookUp& look_up) {
  Findings findings;
  const std::string mpirun = in_path(look_up, "mpirun");
  if (launch.size > 1)
    findings.push_back({"MPI", State::kFine,
                        std::to_string(launch.size) + " ranks on " + std::to_string(launch.num_hosts) +
                            (launch.num_hosts == 1 ? " host" : " hosts"),
                        ""});
  else if (mpirun.empty())
    findings.push_back({"MPI", State::kSlow, "no mpirun in PATH", "install openmpi-bin to train on several GPUs"});
  else
    findings.push_back({"MPI", State::kFine, mpirun, ""});
  const std::string problem = affinity_problem(launch);
  if (!problem.empty()) findings.push_back({"binding", State::kSlow, problem, "start with mpirun --bind-to none"});
  const std::string lone = lone_rank_problem(launch, look_up);
  if (!lone.empty())
    findings.push_back({"Slurm", State::kMissing, lone, "start with srun --mpi=pmix"});
  else if (look_up("SLURM_JOB_ID"))
    findings.push_back({"Slurm", State::kFine, std::string("job ") + look_up("SLURM_JOB_ID"), ""});
  else
    findings.push_back({"Slurm", State::kFine, in_path(look_up, "srun").empty() ? "none" : "not in a job", ""});
  return findings;
}

}  // namespace salient::doctor
