// engine/comm/host_share.cpp - see host_share.h.
#include "engine/comm/host_share.h"

#include <cstddef>
#include <utility>

#include "engine/comm/agreement.h"

namespace salient {

std::vector<std::string> gather_on_all(Communicator& comm, std::string_view bytes) {
  std::string packed;  // of each rank: length, blank, bytes
  for (const std::string& of_rank : comm.gather(bytes))
    packed.append(std::to_string(of_rank.size())).append(" ").append(of_rank);
  comm.broadcast(packed);
  std::vector<std::string> all;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t blank = packed.find(' ', at), size = std::stoul(packed.substr(at, blank - at));
    all.push_back(packed.substr(blank + 1, size));
    at = blank + 1 + size;
  }
  return all;
}

std::string made_once_per_host(Communicator& comm, const Launch& launch, const std::function<std::string()>& make) {
  std::string mine;
  together(comm, [&] {
    if (launch.local_rank == 0) mine = make();
  });
  return std::move(gather_on_all(comm, mine)[static_cast<std::size_t>(launch.first_on_host)]);
}

}  // namespace salient
