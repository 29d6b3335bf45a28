// engine/infer/source_ids_file.cpp - see source_ids_file.h.
#include "engine/infer/source_ids_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/csv_text.h"
#include "core/files/file_io.h"
#include "core/files/npy.h"

namespace salient {

void write_source_ids(const std::filesystem::path& folder, std::span<const NodeId> nodes, const NodeIds& ids) {
  if (ids.empty()) return;
  if (!ids.numbers().empty()) {
    NpyWriter file(folder / "source_ids.npy", "<u8", {nodes.size()});
    std::vector<std::uint64_t> numbers;
    numbers.reserve(nodes.size());
    for (const NodeId node : nodes) numbers.push_back(ids.numbers()[node]);
    file.write(numbers);
    file.close();
    return;
  }
  OutputFile file(folder / "source_ids.csv");
  file.write("id\n");  // quotes: "NA" and "new york" are an id each
  for (const NodeId node : nodes) file.write(csv_quoted(ids.name(node)) + "\n");
  file.close();
}

}  // namespace salient
