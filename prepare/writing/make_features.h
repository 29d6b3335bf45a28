// prepare/writing/make_features.h - features for nodes that have none: from the graph, or drawn at random.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/csr_graph.h"
#include "core/enum_names.h"
#include "prepare/importers/raw_graph.h"
#include "store/data_schema.h"

namespace salient {

enum class MadeFeatures {
  kNone,
  kDegree,      ///< how many neighbours a node has
  kRandom,      ///< draws
  kPositional,  ///< where in the graph a node is
};

constexpr auto names_of(MadeFeatures) {
  return std::to_array<EnumName<MadeFeatures>>({{MadeFeatures::kNone, "none"},
                                                {MadeFeatures::kDegree, "degree"},
                                                {MadeFeatures::kRandom, "random"},
                                                {MadeFeatures::kPositional, "positional"}});
}

struct FeatureRecipe {
  MadeFeatures kind = MadeFeatures::kNone;
  int width = 0;  ///< of kRandom and kPositional
  bool operator==(const FeatureRecipe&) const = default;
};

inline constexpr int kMaxMadeWidth = 4096;

/// "none", "degree", "random:K", "positional:K"; nullopt for anything else.
std::optional<FeatureRecipe> feature_recipe(std::string_view text);

std::string text_of(const FeatureRecipe& recipe);  ///< the inverse

/// What a store says about features made so; the seed where it decides them.
FeatureOrigin origin_of(const FeatureRecipe& recipe, std::uint32_t seed);

/// One row a node, of a graph whose row v has the neighbours of v:
///
///   kDegree      log2(1 + d) of its degree d, divided by the largest; then a column for each number of binary digits
///                of d, 1 for that of the node
///   kRandom      independent draws of mean 0 and deviation 1
///   kPositional  the leading eigenvectors of D^-1/2 A D^-1/2 but the first, times sqrt(V): of nodes close to each
///                other the rows are alike. Approximate: 32 steps of orthogonal iteration from a random start (Golub
///                and Van Loan, Matrix Computations, section 8.2.4)
///
/// @throws as MemoryLimit::check()
/// Determinism: a function of graph, recipe and seed, whatever the number of threads.
/// Cost:        kPositional: 32 passes over the graph with K numbers an entry; 8 K bytes a node beside the result.
RawFeatures make_features(const CsrGraph& graph, const FeatureRecipe& recipe, FeatureType type, std::uint32_t seed,
                          const MemoryLimit& memory);

}  // namespace salient
