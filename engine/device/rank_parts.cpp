// engine/device/rank_parts.cpp - see rank_parts.h.
#include "engine/device/rank_parts.h"

#include <string>

#include "core/error.h"
#include "engine/comm/agreement.h"
#include "loaders/part_rows.h"

namespace salient {
namespace {

void require_equal_owners(Communicator& comm, const Dataset& dataset, const Parts& parts) {
  together(comm, [&] { verify_owners(dataset, parts); });
  require_equal_on_all_ranks(comm, "the checksum of the data set's parts", parts.xxh3, ErrorKind::kBadData);
}

}  // namespace

Parts parts_with_rows(const Dataset& dataset, Communicator& comm) {
  Parts parts;
  together(comm, [&] { parts = open_parts_of_ranks(dataset, comm.size()); });
  require_equal_owners(comm, dataset, parts);
  return parts;
}

Parts parts_to_deal_by(DealKind deal, const Dataset& dataset, Communicator& comm) {
  if (deal == DealKind::kEven || comm.size() == 1) return {};
  Parts parts;
  together(comm, [&] {
    parts = open_parts(dataset);
    if (parts.num_parts < comm.size())
      fail(ErrorKind::kUsage,
           dataset.directory.string() + ": has " + std::to_string(parts.num_parts) + " parts for " +
               std::to_string(comm.size()) + " ranks, to which seeds are to be dealt",
           Topic::kParts);
  });
  require_equal_owners(comm, dataset, parts);
  return parts;
}

}  // namespace salient
