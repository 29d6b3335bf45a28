// prepare/writing/negative_files.cpp - see negative_files.h.
#include "prepare/writing/negative_files.h"

#include <optional>
#include <string>

#include "core/console/log.h"
#include "core/error.h"
#include "store/known_pairs.h"
#include "store/link_negatives.h"

namespace salient {
namespace {

/// What the ids of a source stand for.
enum class Stands : std::uint8_t { kDestination, kSource, kPair };

class NegativeWriter {
 public:
  NegativeWriter(const Dataset& dataset, StoreWriter& store) : dataset_(dataset), store_(store), known_(dataset) {}

  void write(const NegativeSource& source, std::size_t split, Stands stands, const StoreArray& array) {
    if (!source.is_there()) return;
    const LinkTable& links = dataset_.links[split];
    if (stands != Stands::kPair && source.rows != links.size())
      fail(ErrorKind::kBadData, source.file + ": negatives of " + std::to_string(source.rows) + " links, there are " +
                                    std::to_string(links.size()));
    NpyWriter writer(store_.folder() / array.file, array.dtype, {source.rows, source.width});
    std::uint64_t row = 0;
    source.read([&](std::span<const NodeId> ids) {
      stop_if_interrupted();
      for (std::size_t at = 0; at < ids.size(); at += source.width, ++row)
        check(ids.subspan(at, source.width), source, {links, row, stands});
      writer.write(ids);
    });
    store_.add_file(array.file, writer.close());
  }

  std::uint64_t num_links() const { return num_links_; }
  const std::string& first() const { return first_; }

 private:
  struct Row {
    const LinkTable& links;
    std::uint64_t number;
    Stands stands;
  };

  void check(std::span<const NodeId> ids, const NegativeSource& source, const Row& row) {
    for (const NodeId id : ids)
      if (id >= dataset_.num_nodes())
        fail(ErrorKind::kBadData, source.file + ": record " + std::to_string(row.number) + " has node " +
                                      std::to_string(id) + ", nodes are 0 to " +
                                      std::to_string(dataset_.num_nodes() - 1));
    if (row.stands == Stands::kPair) return check_pair(0, ids[0], ids[1], source, row.number);
    const std::uint32_t relation = row.links.relations.empty() ? 0 : row.links.relations[row.number];
    for (const NodeId id : ids) {
      if (row.stands == Stands::kDestination)
        check_pair(relation, row.links.source(row.number), id, source, row.number);
      else
        check_pair(relation, id, row.links.destination(row.number), source, row.number);
    }
  }

  void check_pair(std::uint32_t relation, NodeId from, NodeId to, const NegativeSource& source, std::uint64_t record) {
    if (!known_.has(relation, from, to) || num_links_++ > 0) return;
    first_ = source.file + ": record " + std::to_string(record) + ", (" + std::to_string(from) + ", " +
             std::to_string(to) + ")";
  }

  const Dataset& dataset_;
  StoreWriter& store_;
  const KnownPairs known_;
  std::uint64_t num_links_ = 0;
  std::string first_{};
};

}  // namespace

void write_negatives(const Dataset& dataset, const LinkNegativeSources& sources, StoreWriter& store) {
  std::optional<NegativeWriter> writer;
  for (std::size_t split = 0; split < sources.of.size(); ++split) {
    const SplitNegatives& of = sources.of[split];
    if (!of.destinations.is_there() && !of.sources.is_there() && !of.pairs.is_there()) continue;
    if (!writer) writer.emplace(dataset, store);
    const NegativeArrays& arrays = kNegativeArrays[split];
    writer->write(of.destinations, split, Stands::kDestination, arrays.destinations);
    writer->write(of.sources, split, Stands::kSource, arrays.sources);
    writer->write(of.pairs, split, Stands::kPair, arrays.pairs);
  }
  if (!writer || writer->num_links() == 0) return;
  const std::string text = writer->first() + ": is a link of the data set and a negative, as " +
                           std::to_string(writer->num_links()) + " in all are";
  if (sources.links == NegativeLinks::kRefuse) fail(ErrorKind::kBadData, text);
  log_warning(text + "; they stay, as the set has them");
}

}  // namespace salient
