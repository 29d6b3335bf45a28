// tests/prepare/importers/wordnet_importer_test.cpp - a WordNet of five synsets, by hand, and what may be wrong with
// one.
#include "prepare/importers/wordnet_importer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "prepare/importers/gloss_features.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

const std::string kLicence = "  1 This software and database is being provided to you ...  \n  2   \n";

std::string eight_digits(std::size_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%08zu", number);
  return text;
}

/// A data file of these lines; each is given without its offset.
std::string data_file(const std::vector<std::string>& lines) {
  std::string text = kLicence;
  for (const std::string& line : lines) text += eight_digits(text.size()) + line + "\n";
  return text;
}

class WordnetImporterTest : public ::testing::Test {
 protected:
  WordnetImporterTest() {
    const auto dog = [](const std::string& animal) {
      return " 05 n 01 dog 0 002 @ " + animal + " n 0000 + " + kFirst + " v 0101 | barks  ";
    };
    const std::string animal_at = eight_digits(kLicence.size() + 8 + dog("12345678").size() + 1);
    write({dog(animal_at), " 05 n 02 animal 0 beast 0 001 ~ " + kFirst + " n 0000 | it lives  "},
          {" 38 v 01 dog 0 001 + " + kFirst + " n 0101 01 + 01 00 | follow a dog  "},
          {" 00 a 01 wild 0 001 & " + kFirst + " a 0000 | a  "},
          {" 02 r 01 wildly 0 001 \\ " + kFirst + " a 0101 | barks; BARKS it lives  "});
  }
  void write(const std::vector<std::string>& nouns, const std::vector<std::string>& verbs,
             const std::vector<std::string>& adjectives, const std::vector<std::string>& adverbs) {
    test::write_bytes(folder_ / "data.noun", data_file(nouns));
    test::write_bytes(folder_ / "data.verb", data_file(verbs));
    test::write_bytes(folder_ / "data.adj", data_file(adjectives));
    test::write_bytes(folder_ / "data.adv", data_file(adverbs));
  }
  RawGraph import(WordnetPointers pointers = WordnetPointers::kSemantic) {
    return import_wordnet({.source = folder_.path(), .pointers = pointers});
  }
  /// Edges between places in the files, both ways.
  static std::set<std::pair<std::uint64_t, std::uint64_t>> edges_of(const RawGraph& graph) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> edges;
    for (std::size_t m = 0; m < graph.sources.size(); ++m)
      edges.insert(std::minmax(graph.original_ids[graph.sources[m]], graph.original_ids[graph.destinations[m]]));
    return edges;
  }
  void replace_in(const char* file, const std::string& from, const std::string& to) {
    std::string text = test::read_bytes(folder_ / file);
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    test::write_bytes(folder_ / file, text.replace(place, from.size(), to));
  }
  void expect_bad(const std::string& message) {
    EXPECT_COMPLAINT(import(WordnetPointers::kAll), ErrorKind::kBadData, message);
  }

  inline static const std::string kFirst = eight_digits(kLicence.size());  ///< offset of a file's first synset
  const test::Scratch folder_;
};

TEST_F(WordnetImporterTest, NodesEdgesLabels) {
  const RawGraph graph = import();
  ASSERT_EQ(graph.num_nodes, 5u);
  using Edges = std::set<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(edges_of(graph), (Edges{{0, 1}}));  // dog - animal; wild - wild points to itself
  EXPECT_EQ(edges_of(import(WordnetPointers::kAll)), (Edges{{0, 1}, {0, 2}, {3, 4}}));
  EXPECT_TRUE(graph.symmetrise);
  const std::vector<std::int32_t> labels = {5, 5, 38, 0, 2};
  for (std::size_t node = 0; node < 5; ++node) EXPECT_EQ(graph.labels[node], labels[graph.original_ids[node]]);
  EXPECT_EQ(graph.num_classes, 45);
  EXPECT_EQ(graph.class_names[38], "verb.motion");
  EXPECT_EQ(graph.train.size() + graph.valid.size() + graph.test.size(), 5u);
}

TEST_F(WordnetImporterTest, WhatMayBeWrong) {
  replace_in("data.verb", kFirst + " n 0101", kFirst + " n 0102");
  expect_bad("data.verb: line 3: a pointer leads to word 2 of synset " + std::to_string(kLicence.size()) +
             " of data.noun, which does not exist");
  replace_in("data.verb", kFirst + " n 0102", "00000003 n 0101");
  expect_bad("data.verb: line 3: a pointer leads to synset 3 of data.noun, which does not exist");
  replace_in("data.verb", "38 v", "38 x");
  expect_bad("data.verb: line 3: ss_type is not one of n v a s r: '" + kFirst + " 38 x 01 dog");
  replace_in("data.noun", "barks", "barkss");
  expect_bad("data.noun: line 4: synset_offset is not the line's place in the file: '");
  replace_in("data.noun", "\n" + kFirst, "\n  3 licence  \n" + kFirst);
  expect_bad("data.noun: line 4: synset_offset is not the line's place in the file: '");
  std::filesystem::remove(folder_ / "data.adv");
  EXPECT_COMPLAINT(import(), ErrorKind::kNoInput,
                   "data.adv is missing; apt-get install --no-install-recommends wordnet-base");
}

}  // namespace
}  // namespace salient
