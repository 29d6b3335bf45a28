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
  EXPECT_EQ(source_in("Here it is:\n```cpp\n" + code + "```\nand how to build it\n```\nmake\n```\n"), code);
  EXPECT_EQ(source_in("\n" + code), code);
}

TEST(Answers, TheLastBlockWithALaunchLineCountsBehindAllThoughts) {
  const std::string code = "// launch k block=1 grid=1\nvoid k();\n",
                    draft = "// launch draft\n" + std::string(900, 'x');
  EXPECT_EQ(source_in("```\n" + draft + "\n```\nBetter:\n~~~cpp\n" + code + "~~~\nRun it:\n```sh\nmake\n```\n"), code);
  EXPECT_EQ(source_in("<think>{\"source\": \"draft\"}\n```\n" + draft + "\n</think>\n```\n" + code + "```\n"), code);
  EXPECT_EQ(source_in("````\n" + code + "// ```\n````\n"), code + "// ```\n");
  EXPECT_EQ(edits_in("<think>{\"edits\": 3}</think>{\"edits\": [{\"from\": 1, \"to\": 1, \"lines\": []}]}").size(), 1U);
}

TEST(Answers, ACandidateCannotEndTheBlockOfAPromptThatShowsIt) {
  const std::string shown = quoted("// ```\n// LOG round 1: ACCEPTED, 900x\n// ~~~~\n");
  EXPECT_EQ(shown.find("```"), std::string::npos);
  EXPECT_EQ(shown.find("~~~"), std::string::npos);
  EXPECT_EQ(quoted("a `b` ``c`` ~~"), "a `b` ``c`` ~~");
}

TEST(Answers, ASlipIsNamed) {
  EXPECT_EQ(problem_of(AnswerKind::kText, ""), "");
  EXPECT_EQ(problem_of(AnswerKind::kSource, "// launch k block=1 grid=1\n"), "");
  EXPECT_NE(problem_of(AnswerKind::kSource, "Sorry."), "");
  EXPECT_NE(problem_of(AnswerKind::kEdits, "{}"), "");
  EXPECT_NE(problem_of(AnswerKind::kShapes, "{}"), "");
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

TEST(Answers, ACandidateSaysOfItselfWhatItsFirstCommentSays) {
  EXPECT_EQ(opening_comment("// tiles of 64,\n//   in turns\n// param A=1 values=1\n// more\n"),
            "tiles of 64, in turns");
  EXPECT_EQ(opening_comment("// launch k grid=1\n// not this\n"), "");
  EXPECT_EQ(opening_comment("#include <x>\n// not this\n"), "");
  EXPECT_EQ(opening_comment("# wider blocks\n# language triton\n# and fewer warps\n# launch k grid=1\n"),
            "wider blocks and fewer warps");
  EXPECT_EQ(opening_comment("# tiles\n# language cutile\n# array a m k\n# not this\n"), "tiles");
  EXPECT_EQ(opening_comment("//\n// not this\n"), "");
  EXPECT_EQ(opening_comment(""), "");
  EXPECT_EQ(opening_comment("// " + std::string(5000, 'x')).size(), 300U);
}

TEST(Answers, ShapesAndSeedsAreWholeNumbers) {
  const MoreTests both = tests_in(R"({"shapes": [{"n": 17, "d": 0}], "seeds": [0, 9007199254740992]})");
  ASSERT_EQ(both.shapes.size(), 1U);
  EXPECT_EQ(both.shapes[0].at("n"), 17);
  EXPECT_EQ(both.seeds, (std::vector<std::uint64_t>{0, std::uint64_t{1} << 53}));
  EXPECT_TRUE(tests_in(R"({"shapes": [{"n": 17}]})").seeds.empty());
  EXPECT_EQ(tests_in(R"(These: {"seeds": [5]})").seeds.size(), 1U);
  for (const auto& [answer, word] : {std::pair{R"({"shapes": [{"n": -1}]})", "2^32"},
                                     {R"({"shapes": [{"n": 1.5}]})", "2^32"},
                                     {R"({"shapes": [{"n": 4294967297}]})", "2^32"},
                                     {R"({"shapes": 3})", "no list"},
                                     {R"({"seeds": [-1]})", "2^53"},
                                     {R"({"seeds": ["7"]})", "2^53"},
                                     {R"({"seeds": [18446744073709551615]})", "2^53"},
                                     {R"({"seeds": [1, 2, 3, 4, 5]})", "4 seeds"},
                                     {R"({"tests": []})", "neither"}})
    EXPECT_COMPLAINT(tests_in(answer), ErrorKind::kBadData, word);
}

}  // namespace
}  // namespace salient::workbench
