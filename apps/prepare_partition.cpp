// apps/prepare_partition.cpp - see prepare_partition.h.
#include "apps/prepare_partition.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "apps/missing_dataset.h"
#include "core/files/file_io.h"
#include "core/files/folder_lock.h"
#include "core/host/interrupt.h"
#include "core/number_text.h"
#include "core/printable.h"
#include "core/timer.h"
#include "prepare/partitioning/partition.h"
#include "store/dataset.h"
#include "store/open_store.h"
#include "store/part_rows_file.h"
#include "store/parts.h"
#include "store/store_arrays.h"

namespace salient::prepare {
namespace {

Owners make_parts(const Dataset& dataset, const PartitionArguments& given) {
  if (!given.by.empty()) return read_parts(given.by, dataset.num_nodes(), given.parts);
  if (given.method == PartitionMethod::kRanges) return range_parts(dataset, given.parts);
  return cluster_parts(dataset, given.parts);
}

}  // namespace

int run_partition(Arguments arguments) {
  PartitionArguments given;
  const std::string directory = take_directory(arguments, "partition");
  if (!read(arguments, "partition DIR", given)) return 0;
  const Timer timer;
  const auto words = options::from_command_line<PartitionArguments>(arguments);
  require_option(given.by.empty() || std::ranges::find(words, "method", &options::Assignment::name) == words.end(),
                 "--by or --method: one of them, not both");
  const int least = given.by.empty() ? 1 : 0;
  require_option(given.parts >= least && given.parts <= kMaxParts,
                 "--parts: " + std::to_string(least) + " to " + std::to_string(kMaxParts));
  const std::optional<Descriptor> lock = try_lock_folder(directory);
  if (!lock) fail(ErrorKind::kIo, directory + ": another program is writing to this data set; wait for it to end");
  const Dataset dataset = open_or_advise(directory, [&] {
    return open_store(directory, given.common.threads, FeatureFile::kNeeded, GraphKind::kAny).dataset;
  });
  require_option(!given.write_rows || !dataset.types.is_typed(),
                 "--write-rows: of plain graphs alone, and this one has node types");
  require_option(!given.write_rows || dataset.features.num_rows > 0, "--write-rows: of dense feature rows alone");
  require_option(given.force || !has_parts(directory), directory + " has parts; --force replaces them");
  if (access(directory.c_str(), W_OK) != 0) fail_with_errno(directory, "write in this folder");
  const Owners owner = make_parts(dataset, given);
  const int num_parts = given.parts > 0 ? given.parts : *std::ranges::max_element(owner) + 1;
  install_interrupt_handlers();  // only now: until here a signal ends the program at once, and nothing is left behind
  std::vector<std::string> row_files;
  if (given.write_rows) row_files = write_part_rows(dataset, owner, num_parts);
  write_parts(dataset, owner, num_parts, given.by.empty() ? name_of(given.method) : "the file " + given.by, row_files);
  std::cout << parts_text(dataset, open_parts(dataset)) << "wrote           " << kOwnerArray.file << " and "
            << kPartsName << " in " << fixed(timer.seconds(), 1) << " s to " << printable(directory) << "\n";
  return 0;
}

}  // namespace salient::prepare
