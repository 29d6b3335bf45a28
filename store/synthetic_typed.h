// store/synthetic_typed.h - generated typed graphs the size and shape of well-known ones, for tests and speed.
//
// Every value is a function of (options, what it is about), as of the plain ones of synthetic.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/host_memory.h"
#include "store/dataset.h"
#include "store/synthetic_relation.h"

namespace salient {

struct SyntheticTypedOptions {
  struct Type {
    std::string name{};
    std::uint64_t count = 0;
    int feature_dim = 0;  ///< 0 = none
  };
  /// Edges from nodes of type `src` to nodes of type `dst`. The graph has them both ways: the reverse relation
  /// dst:rev_NAME:src comes behind the others.
  struct Edges {
    int src = 0, dst = 0;
    std::string name{};
    std::uint64_t count = 0;                ///< before repeats are dropped
    std::uint64_t max_out = 0, max_in = 0;  ///< of a source, of a destination, as DegreeLaw::max
  };
  std::string name{};
  std::vector<Type> types{};
  std::vector<Edges> edges{};
  int target_type = 0;
  int num_classes = 0;
  std::array<std::uint64_t, 3> split{};  ///< train, valid, test; nodes outside have no label
  FeatureType feature_type = FeatureType::kF16;
  double homophily = 0.6, label_fidelity = 0.7;  ///< as in SyntheticOptions; every type has all communities
  int feature_signal = 36;                       ///< likewise
  std::uint32_t seed = 0;
};

/// The types, relations, degrees and widths of ogbn-mag ("mag") and of IGBH-full ("igbh", in fp8), times `scale`.
/// @throws Error{kUsage} for another name, or a scale that is not above 0 and at most 1
SyntheticTypedOptions synthetic_typed_like(std::string_view name, double scale = 1);

/// Whether it is "synthetic:mag[:SCALE]" or "synthetic:igbh[:SCALE]".
bool is_synthetic_typed_name(std::string_view dataset);
/// @throws Error{kUsage} saying what is allowed
SyntheticTypedOptions parse_synthetic_typed_name(std::string_view dataset);

/// Types and relations, the reverse ones behind the others, and slots; no numbers of entries, which repeats decide.
GraphSchema schema_of(const SyntheticTypedOptions& options);

/// Bytes of the arrays, before repeats are dropped.
std::uint64_t synthetic_bytes(const SyntheticTypedOptions& options);

/// Generates graph, features, labels and split in memory, without self loops. A type without features is learnable
/// through its neighbours, as communities are those of all types.
/// @param num_threads, memory  as of make_synthetic_dataset()
/// Cost: 60 ns per entry on a core, and 12 bytes beside the result for each node and relation that it is an end of
Dataset make_synthetic_dataset(const SyntheticTypedOptions& options, int num_threads = 0,
                               std::shared_ptr<HostMemory> memory = nullptr);

}  // namespace salient
