// tests/engine/plan/fanouts_of_test.cpp - fanouts of relations as text, as a rule, and which types they leave out.
#include "engine/plan/fanouts_of.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace salient {
namespace {

/// papers cite papers; authors write them; a journal has authors; nothing leads from journals to papers but by authors.
GraphSchema schema() {
  GraphSchema schema{.node_types = {{.name = "author", .count = 2}, {.name = "paper", .count = 2}, {.name = "journal"}},
                     .relations = {{.src = 1, .dst = 1, .name = "cites", .num_entries = 1},
                                   {.src = 0, .dst = 1, .name = "wrote", .num_entries = 1},
                                   {.src = 2, .dst = 0, .name = "has", .num_entries = 1}},
                     .target_type = 1};
  number_slots(schema);
  return schema;
}

FanoutsOf read(const std::vector<std::string>& texts) {
  FanoutsOf fanouts;
  for (const std::string& text : texts) EXPECT_TRUE(from_text(text, fanouts)) << text;
  return fanouts;
}

TEST(FanoutsOf, AreTextThatReadsBack) {
  const FanoutsOf fanouts = read({"a:b:c=5,-1,0", "d:e:f=1"});
  EXPECT_EQ(to_text(fanouts), "a:b:c=5,-1,0,d:e:f=1");
  EXPECT_EQ(read({to_text(fanouts)}), fanouts);
  EXPECT_EQ(to_text(read({"a:b:c=5,5", "d:e:f=1,1", "a:b:c=2,2"})), "d:e:f=1,1,a:b:c=2,2") << "the last one counts";
  EXPECT_EQ(to_text(read({""})), "");
}

TEST(FanoutsOf, OtherTextIsRefused) {
  for (const char* text : {"5,5", "a:b:c", "a:b:c=", "a:b:c=5,", "a:b:c=x", "a:b:c=5,5,x", "a:b:c=1.5"}) {
    FanoutsOf fanouts;
    EXPECT_FALSE(from_text(text, fanouts)) << text;
  }
  EXPECT_TRUE(are_fanouts_of(read({"a:b:c=0,-1", "d:e:f=65535,1"}), 2));
  EXPECT_FALSE(are_fanouts_of(read({"a:b:c=0,-1,1"}), 2));
  EXPECT_FALSE(are_fanouts_of(read({"a:b:c=0,-2"}), 2));
  EXPECT_FALSE(are_fanouts_of(read({"a:b:c=0,65536"}), 2));
}

TEST(FanoutsOf, ReplaceThoseOfNamedRelations) {
  const SamplingRule rule{.fanouts = {7, 8}};
  EXPECT_EQ(with_fanouts_of(rule, {}, schema()), rule);
  const SamplingRule found = with_fanouts_of(rule, read({"author:wrote:paper=0,3"}), schema());
  EXPECT_EQ(found.fanouts, rule.fanouts);
  EXPECT_EQ(found.relation_fanouts, (std::vector<std::vector<int>>{{7, 8}, {0, 3}, {7, 8}}));
  try {
    (void)with_fanouts_of(rule, read({"paper:wrote:paper=1,1"}), schema());
    FAIL() << "no such relation";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("paper:cites:paper, author:wrote:paper, journal:has:author"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW((void)with_fanouts_of(rule, read({"a:b:c=1,1"}), {}), Error) << "of a plain graph";
}

TEST(UnreachedTypes, AreThoseThatNoKeptRelationLeadsFrom) {
  const auto unreached = [](std::vector<int> fanouts, const std::vector<std::string>& of_relations) {
    return unreached_types(schema(), with_fanouts_of({.fanouts = std::move(fanouts)}, read(of_relations), schema()));
  };
  EXPECT_EQ(unreached({5, 5}, {}), std::vector<int>{});
  EXPECT_EQ(unreached({5}, {}), std::vector<int>{2}) << "two hops away";
  EXPECT_EQ(unreached({5, 5}, {"author:wrote:paper=0,5"}), std::vector<int>{2}) << "met too late";
  EXPECT_EQ(unreached({5, 5}, {"author:wrote:paper=0,0"}), (std::vector<int>{0, 2}));
  EXPECT_EQ(unreached_types({}, {.fanouts = {5}}), std::vector<int>{});
}

}  // namespace
}  // namespace salient
