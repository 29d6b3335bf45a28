// prepare/importers/wordnet_importer.h - WordNet 3.0 as a graph: a real one that comes with the distribution.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "prepare/importers/raw_graph.h"

namespace salient {

enum class WordnetPointers {
  kSemantic,
  kAll,  ///< the lexical ones too
};

constexpr auto names_of(WordnetPointers) {
  return std::to_array<EnumName<WordnetPointers>>(
      {{WordnetPointers::kSemantic, "semantic"}, {WordnetPointers::kAll, "all"}});
}

struct WordnetOptions {
  std::filesystem::path source = "/usr/share/wordnet";
  WordnetPointers pointers = WordnetPointers::kSemantic;
  std::uint32_t rng_seed = 0;  ///< of node order and split
  FeatureType feature_type = FeatureType::kF16;
  std::string source_options{};  ///< for the store's records
  MemoryLimit memory{};
};

/// Reads data.noun, data.verb, data.adj and data.adv: a node per synset, an edge per pointer, the lexicographer file as
/// label, the words of the gloss as features. Node ids are a permutation of the order in the files, which is sorted by
/// label; original_ids gives the place in that order.
///
/// @throws Error{kNoInput} when the files are missing, with the command that brings them; Error{kBadData} for any line
///         that breaks a rule of the format, naming file and line.
/// Determinism: a function of files and options.
/// Oracle:      the measured figures of tests/prepare/importers/real_wordnet_test.cpp.
RawGraph import_wordnet(const WordnetOptions& options);

}  // namespace salient
