// apps/rank_table.cpp - see rank_table.h.
#include "apps/rank_table.h"

#include <cstddef>
#include <cstdio>
#include <utility>

#include "core/console/log.h"
#include "core/host/machine.h"
#include "core/number_text.h"

namespace salient {
namespace {

std::string device_text(const ComputeDevice& device, int local_rank) {
  if (!device.is_cuda()) return "cpu";
  const auto memory = device.memory();
  const int index = device.torch_device().index();
  return device.name() + " #" + std::to_string(index < 0 ? local_rank : index) +
         (memory ? ", " + gigabytes(memory->free_bytes, 1) + " free" : "");
}

RankTable gather_table(const Session& session, int num_workers) {
  const Launch& launch = session.launch;
  const std::vector<std::pair<std::string, std::string>> own = {
      {"rank", std::to_string(session.comm->rank())},
      {"host", launch.host},
      {"device", device_text(session.device, launch.local_rank)},
      {"numa_nodes", session.numa_nodes},
      {"cores", std::to_string(launch.cores)},
      {"workers", std::to_string(num_workers)},
      {"free_memory", gigabytes(available_host_bytes(), 1)}};
  RankTable table;
  for (const auto& [name, value] : own) {
    const std::vector<std::string> of_rank = session.comm->gather(value);
    table.resize(of_rank.size());
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) table[rank][name] = of_rank[rank];
  }
  return table;
}

}  // namespace

RankTable log_rank_table(const Session& session, int num_workers) {
  RankTable table = gather_table(session, num_workers);
  if (session.comm->size() == 1) return table;
  const std::vector<std::string> problems = session.comm->gather(affinity_problem(session.launch));
  if (!session.is_rank_0()) return table;
  log_info("rank  host                 device                             NUMA  cores workers  free memory of host");
  for (const auto& row : table) {
    char line[256];
    (void)std::snprintf(line, sizeof line, "%4s  %-20.64s %-34.100s %-5.20s %5s %7s  %s", row.at("rank").c_str(),
                        row.at("host").c_str(), row.at("device").c_str(), row.at("numa_nodes").c_str(),
                        row.at("cores").c_str(), row.at("workers").c_str(), row.at("free_memory").c_str());
    log_info(line);
  }
  for (const std::string& problem : problems) {
    if (problem.empty()) continue;
    log_warning(problem);
    break;
  }
  return table;
}

}  // namespace salient
