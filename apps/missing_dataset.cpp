// apps/missing_dataset.cpp - see missing_dataset.h.
#include "apps/missing_dataset.h"

#include <array>
#include <string_view>

namespace salient {
namespace {

struct KnownDataset {
  std::string_view name;
  std::string_view unpacked;  ///< the folder that scripts/fetch_ogb.sh makes below data/ogb
  std::string_view sizes;
};

constexpr std::array kKnown = {
    KnownDataset{"ogbn-arxiv", "arxiv", "83 MB to download, 55 MB as a store"},
    KnownDataset{"ogbn-products", "products", "1.4 GB to download, 1.0 GB as a store"},
    KnownDataset{"ogbn-papers100M", "papers100M-bin",
                 "56.2 GiB to download, as much again unpacked, 43 GB as a store and 26 GB more while it is made"},
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
    std::string text = "fetch it and prepare it (";
    text.append(known.sizes).append("): scripts/fetch_ogb.sh ").append(known.name);
    text.append(" && salient-prepare ogb --raw data/ogb/").append(known.unpacked).append(" --name ").append(known.name);
    return text.append(" --out ").append(directory.string());
  }
  return "make it with salient-prepare (see salient-prepare --help)";
}

}  // namespace salient
