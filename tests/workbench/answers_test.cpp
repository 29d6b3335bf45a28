// tests/workbench/answers_test.cpp - sources, edits and shapes found in answers, whatever is around them.
#include "workbench/method/answers.h"

#include <gtest/gtest.h>

#include "tests/support/scratch.h"

namespace salient::workbench {
namespace {

TEST(Answers, ASourceIsFoundInJsonInAFenceAndBare) {
  const std::string code = "// launch k block=1 grid=1\nvoid k();\n";
  EXPECT_EQ(source_in(R"({"source": "// launch k"})"), "// launch k");
  EXPECT_EQ(source_in("Sure! {not json} Here:\n{\"thoughts\": \"{\", \"source\": \"x\"} bye"), "x");
  EXPECT_EQ(source_in("Here it is:\n```cpp\n" + code + "```\nand a shorter one\n```\nlaunch\n```\n"), code);
  EXPECT_EQ(source_in("\n" + code), code);
}

TEST(Answers, WhatIsNoSourceIsRefused) {
  for (const std::string answer :
       {"", "I cannot do that.", "{\"source\": 3}", "{\"source\": \"x\"", "```\nint main() {}\n```"})
    EXPECT_COMPLAINT(source_in(answer), ErrorKind::kBadData, "the answer");
  EXPECT_COMPLAINT(source_in(std::string(std::size_t{10} << 20, '{')), ErrorKind::kBadData, "too long");
}

TEST(Answers, EditsAreAppliedByTheLineNumbersOfTheListing) {
  const std::string source = "a\nb\nc\nd\n";
  const auto edits = edits_in(R"(Two changes: {"edits": [{"from": 4, "to": 4, "lines": ["D", "E"]},
                                 {"from": 2, "to": 1, "lines": ["before b"]}, {"from": 3, "to": 3, "lines": []}]})");
  EXPECT_EQ(apply_edits(source, edits), "a\nbefore b\nb\nD\nE\n");
  EXPECT_EQ(apply_edits("a", {{2, 1, {"b"}}}), "a\nb\n");
  EXPECT_EQ(with_line_numbers("a\nb\n"), "1| a\n2| b\n");
}

TEST(Answers, EditsThatOverlapOrLieBeyondTheEndAreRefused) {
  EXPECT_COMPLAINT(edits_in(R"({"edits": [{"from": 1, "to": 3, "lines": []}, {"from": 2, "to": 2, "lines": []}]})"),
                   ErrorKind::kBadData, "overlap");
  EXPECT_COMPLAINT(apply_edits("a\n", {{2, 2, {}}}), ErrorKind::kBadData, "beyond");
  for (const char* answer : {"{\"edits\": []}", "{\"edits\": [{\"from\": -1, \"to\": 2, \"lines\": []}]}",
                             "{\"edits\": [{\"from\": 1, \"to\": 2, \"lines\": [3]}]}", "{\"edits\": 1}",
                             "{\"edits\": [{\"from\": 5, \"to\": 2, \"lines\": []}]}"})
    EXPECT_COMPLAINT(edits_in(answer), ErrorKind::kBadData, "the answer");
}

TEST(Answers, ShapesAreWholeNumbers) {
  const auto shapes = shapes_in(R"({"shapes": [{"n": 17, "d": 0}]})");
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes[0].at("n"), 17);
  EXPECT_COMPLAINT(shapes_in(R"({"shapes": [{"n": -1}]})"), ErrorKind::kBadData, "2^32");
  EXPECT_COMPLAINT(shapes_in(R"({"shapes": [{"n": 1.5}]})"), ErrorKind::kBadData, "2^32");
}

}  // namespace
}  // namespace salient::workbench
