// loaders/known_datasets.cpp - see known_datasets.h.
#include "loaders/known_datasets.h"

#include <array>
#include <string_view>

namespace salient {
namespace {

struct KnownDataset {
  std::string_view name;
  std::string_view archive;   ///< in OGB's download folder
  std::string_view unpacked;  ///< the folder in that archive
  std::string_view download;  ///< size of the archive
};

constexpr std::array kKnown = {
    KnownDataset{"ogbn-arxiv", "arxiv.zip", "arxiv", "82 MB"},
    KnownDataset{"ogbn-products", "products.zip", "products", "1.4 GB"},
    KnownDataset{"ogbn-papers100M", "papers100M-bin.zip", "papers100M-bin", "56.2 GiB, then 45 GB for the store"},
};

std::string leaf_of(const std::filesystem::path& directory) {
  const std::filesystem::path normal = directory.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

}  // namespace

std::string how_to_get(const std::filesystem::path& directory) {
  const std::string name = leaf_of(directory);
  if (name == "wordnet")
    return "prepare it (seconds): sudo apt-get install --no-install-recommends wordnet-base && salient-prepare wordnet "
           "--out " +
           directory.string();
  for (const KnownDataset& known : kKnown) {
    if (name != known.name) continue;
    std::string text = "fetch it (";
    text.append(known.download).append(") and prepare it: wget -c http://snap.stanford.edu/ogb/data/nodeproppred/");
    text.append(known.archive).append(" && unzip ").append(known.archive).append(" && salient-prepare ogb --raw ");
    return text.append(known.unpacked).append(" --out ").append(directory.string());
  }
  return "make it with salient-prepare (see salient-prepare --help)";
}

}  // namespace salient
