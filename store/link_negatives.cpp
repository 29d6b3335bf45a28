// store/link_negatives.cpp - see link_negatives.h.
#include "store/link_negatives.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/files/is_there.h"
#include "core/files/npy.h"
#include "store/known_pairs.h"
#include "store/schema_text.h"

namespace salient {
namespace {

using Files = std::vector<NpyFile>;

/// @param second  what the second axis has; 0 = any number from 1 on
std::span<const NodeId> map_array(const Dataset& dataset, const StoreArray& array, std::uint64_t rows,
                                  std::uint64_t second, Files& files) {
  if (dataset.directory.empty() || !is_there(dataset.directory / array.file)) return {};
  const NpyFile& file = files.emplace_back(dataset.directory / array.file);
  const std::vector<std::uint64_t>& has = file.header().shape;
  const bool is_matrix = has.size() == 2 && has[1] > 0;
  const std::vector<std::uint64_t> wanted = {rows == 0 && is_matrix ? has[0] : rows,
                                             second == 0 && is_matrix ? has[1] : second};
  expect_npy(file.header(), array.dtype, wanted, file.name());
  const std::span<const NodeId> ids = file.items<NodeId>();
  const auto bad = std::ranges::find_if(ids, [&](NodeId id) { return id >= dataset.num_nodes(); });
  if (bad != ids.end())
    fail(ErrorKind::kBadData, file.name() + ": record " +
                                  std::to_string(static_cast<std::uint64_t>(bad - ids.begin()) / wanted[1]) + " has " +
                                  std::to_string(*bad) + ": nodes are 0 to " + std::to_string(dataset.num_nodes() - 1));
  return ids;
}

std::string number_text(const GivenNegatives& given) {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text.append(text.empty() ? "" : ", ").append(grouped(count)).append(what);
  };
  add(given.num_destinations, " other destinations of each link");
  add(given.num_sources, " other sources of each link");
  add(given.num_pairs(), " pairs of all links");
  return text;
}

/// Counts negatives that are links, and keeps the first.
class LinksAmong {
 public:
  explicit LinksAmong(const Dataset& dataset) : dataset_(dataset), known_(dataset) {}

  void count(std::size_t split) {
    const GivenNegatives given = open_negatives(dataset_, split);
    const LinkTable& links = dataset_.links[split];
    for (std::size_t i = 0; given.of_link() > 0 && i < links.size(); ++i)
      for (std::size_t j = 0; j < given.of_link(); ++j) {
        const auto [source, destination] = given.negative(links, i, j);
        const bool is_destination = j < given.num_destinations;
        const NegativeArrays& files = kNegativeArrays[split];
        check(links.relations.empty() ? 0 : links.relations[i], source, destination,
              is_destination ? files.destinations.file : files.sources.file, i);
      }
    for (std::size_t p = 0; p < given.num_pairs(); ++p)
      check(0, given.pairs[2 * p], given.pairs[2 * p + 1], kNegativeArrays[split].pairs.file, p);
  }

  void refuse(const DatasetChecks& checks) const {
    if (number_ > 0)
      checks.refuse(file_, std::to_string(number_) + (number_ == 1 ? " negative is a link" : " negatives are links") +
                               " of the data set: the first is " + first_);
  }

 private:
  void check(std::uint32_t relation, NodeId source, NodeId destination, const char* file, std::size_t record) {
    if (!known_.has(relation, source, destination) || number_++ > 0) return;
    file_ = file;
    first_ =
        "(" + std::to_string(source) + ", " + std::to_string(destination) + ") of record " + std::to_string(record);
  }

  const Dataset& dataset_;
  const KnownPairs known_;
  std::uint64_t number_ = 0;
  std::string file_{}, first_{};
};

}  // namespace

GivenNegatives open_negatives(const Dataset& dataset, std::size_t split) {
  GivenNegatives given;
  const NegativeArrays& arrays = kNegativeArrays[split];
  auto files = std::make_shared<Files>();
  files->reserve(3);
  const std::uint64_t num_links = dataset.links[split].size();
  given.destinations = map_array(dataset, arrays.destinations, num_links, 0, *files);
  given.sources = map_array(dataset, arrays.sources, num_links, 0, *files);
  given.pairs = map_array(dataset, arrays.pairs, 0, 2, *files);
  given.num_destinations = num_links == 0 ? 0 : given.destinations.size() / num_links;
  given.num_sources = num_links == 0 ? 0 : given.sources.size() / num_links;
  given.storage = std::move(files);
  return given;
}

void verify_negatives(const Dataset& dataset, const DatasetChecks& checks) {
  LinksAmong among(dataset);
  for (const std::size_t split : {kTrainLinks, kValidLinks, kTestLinks}) among.count(split);
  among.refuse(checks);
}

std::string negatives_text(const Dataset& dataset) {
  constexpr std::array kNames = {"  train", "  valid", "  test"};
  std::string text;
  for (std::size_t split = 0; split < kNames.size(); ++split)
    if (const GivenNegatives given = open_negatives(dataset, split); !given.empty())
      text += summary_line(kNames[split], "negatives: " + number_text(given));
  return text;
}

}  // namespace salient
