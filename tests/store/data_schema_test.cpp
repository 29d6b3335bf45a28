// tests/store/data_schema_test.cpp - how a data set fits a run: every way in which classes and columns may differ.
#include "store/data_schema.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "store/name_list.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using Names = std::vector<std::string>;
using Classes = std::vector<std::int32_t>;
using Columns = std::vector<std::uint32_t>;

bool one_says(const Names& lines, const std::string& text) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// There is one line, and it says this.
bool only_line_says(const Names& lines, const std::string& text) { return lines.size() == 1 && one_says(lines, text); }

DataSchema classes(int count, Names names = {}, Task task = Task::kMultiClass) {
  return {.task = task,
          .num_classes = count,
          .feature_dim = 2,
          .class_names = std::move(names),
          .column_names = {"x", "y"}};
}

DataSchema columns(Names names, FeatureOrigin origin = {}) {
  return {.num_classes = 2,
          .feature_dim = static_cast<int>(names.size()),
          .class_names = {"no", "yes"},
          .column_names = std::move(names),
          .feature_origin = std::move(origin)};
}

DataSchema nameless(int width, FeatureOrigin origin = {}) {
  return {.num_classes = 2, .feature_dim = width, .class_names = {"no", "yes"}, .feature_origin = std::move(origin)};
}

TEST(DataSchema, OfTheRunItselfIsNeitherMappedNorSpokenOf) {
  const SchemaMatch match = match_schemas(classes(3, {"ant", "bee", "cat"}), classes(3, {"ant", "bee", "cat"}));
  EXPECT_TRUE(match.reasons.empty());
  EXPECT_TRUE(match.remarks.empty());
  EXPECT_TRUE(match.class_of.empty());
  EXPECT_TRUE(match.column_of.empty());
  EXPECT_TRUE(match.has_comparable_labels);
}

TEST(DataSchema, ClassesWithNamesAreMatchedByThem) {
  const DataSchema run = classes(3, {"ant", "bee", "cat"});
  EXPECT_EQ(match_schemas(run, classes(3, {"cat", "ant", "bee"})).class_of, (Classes{2, 0, 1}));
  EXPECT_EQ(match_schemas(run, classes(2, {"bee", "cat"})).class_of, (Classes{1, 2}));
  EXPECT_TRUE(match_schemas(run, classes(2, {"ant", "bee"})).class_of.empty()) << "the first two of the run's";
  const SchemaMatch more = match_schemas(run, classes(4, {"bee", "cat", "dog", "eel"}));
  EXPECT_EQ(more.class_of, (Classes{1, 2, 3, 4}));
  EXPECT_EQ(more.unknown_classes, (Names{"dog", "eel"}));
  EXPECT_TRUE(one_says(more.remarks, "classes in another order, or others: they are compared by name"));
  const SchemaMatch none = match_schemas(run, classes(2, {"Bee", "dog"}));
  EXPECT_EQ(none.class_of, (Classes{3, 4})) << "never right";
  EXPECT_TRUE(none.reasons.empty()) << "nodes can be predicted";
}

TEST(DataSchema, ANameThatTheRunHasTwiceIsOfNoClass) {
  const SchemaMatch match = match_schemas(classes(3, {"a", "b", "a"}), classes(2, {"b", "a"}));
  EXPECT_EQ(match.class_of, (Classes{1, 3}));
  EXPECT_EQ(match.unknown_classes, (Names{"a"}));
  EXPECT_TRUE(match_schemas(classes(3, {"a", "b", "a"}), classes(3, {"a", "b", "a"})).class_of.empty());
}

TEST(DataSchema, ClassesWithoutNamesAreMatchedByNumber) {
  const SchemaMatch same = match_schemas(classes(3), classes(3));
  EXPECT_TRUE(same.class_of.empty());
  EXPECT_TRUE(one_says(same.remarks, "compared by number"));
  EXPECT_TRUE(match_schemas(classes(3), classes(2)).class_of.empty());
  const SchemaMatch more = match_schemas(classes(2), classes(4));
  EXPECT_TRUE(more.class_of.empty()) << "2 and 3 are behind the run's, as they are";
  EXPECT_EQ(more.unknown_classes, (Names{"2", "3"}));
  EXPECT_TRUE(one_says(match_schemas(classes(3, {"a", "b", "c"}), classes(3)).remarks,
                       "has no names of classes, as the run has: they are compared by number, from 0"));
  EXPECT_TRUE(one_says(match_schemas(classes(3), classes(3, {"a", "b", "c"})).remarks,
                       "has names of classes, the run has none: they are compared by number, from 0"));
}

TEST(DataSchema, CompactedClassesAreMatchedByTheNumbersThatTheyWere) {
  EXPECT_EQ(match_schemas(classes(2, {"2", "5"}), classes(3, {"1", "2", "5"})).class_of, (Classes{2, 0, 1}));
  EXPECT_EQ(match_schemas(classes(2, {"2", "5"}), classes(6)).class_of, (Classes{2, 3, 0, 4, 5, 1}));
  EXPECT_EQ(match_schemas(classes(6), classes(2, {"2", "5"})).class_of, (Classes{2, 5}));
  EXPECT_TRUE(match_schemas(classes(3), classes(2, {"02", "1"})).class_of.empty()) << "02 is a word: by number";
}

TEST(DataSchema, LabelsOfSeveralANodeAreMatchedAsClassesAre) {
  const Task multi = Task::kMultiLabel;
  const SchemaMatch match = match_schemas(classes(3, {"a", "b", "c"}, multi), classes(2, {"c", "d"}, multi));
  EXPECT_EQ(match.class_of, (Classes{2, 3}));
  EXPECT_EQ(match.unknown_classes, (Names{"d"}));
  EXPECT_TRUE(one_says(match.remarks, "labels in another order"));
}

TEST(DataSchema, LabelsThatSayNothingOfTheRunsClassesAreNotCompared) {
  for (const DataSchema& data : {classes(0), classes(3, {}, Task::kMultiLabel)}) {
    const SchemaMatch match = match_schemas(classes(3, {"a", "b", "c"}), data);
    EXPECT_FALSE(match.has_comparable_labels);
    EXPECT_TRUE(match.reasons.empty());
    EXPECT_TRUE(one_says(match.remarks, "label"));
  }
  EXPECT_FALSE(match_schemas(classes(3, {}, Task::kMultiLabel), classes(3)).has_comparable_labels);
  EXPECT_FALSE(match_schemas(classes(3, {}, Task::kMultiLabel), classes(0)).has_comparable_labels);
}

TEST(DataSchema, ColumnsWithNamesAreFoundByThem) {
  const DataSchema run = columns({"a", "b", "c"});
  EXPECT_EQ(match_schemas(run, columns({"c", "a", "b"})).column_of, (Columns{1, 2, 0}));
  const SchemaMatch more = match_schemas(run, columns({"c", "new", "a", "b", "other"}));
  EXPECT_EQ(more.column_of, (Columns{2, 3, 0}));
  EXPECT_TRUE(more.reasons.empty());
  EXPECT_TRUE(one_says(more.remarks, "has the columns 'new', 'other', which the run does not use"));
}

TEST(DataSchema, ColumnsThatAreMissingAreNamedWithThoseThatAreNew) {
  const DataSchema run = columns({"a", "b", "c"});
  EXPECT_EQ(match_schemas(run, columns({"a", "B", "c"})).reasons,
            (Names{"lacks the column 'b' that the run was trained on; it has the column 'B', which the run "
                   "lacks"}));
  EXPECT_EQ(match_schemas(run, columns({"c"})).reasons,
            (Names{"lacks the columns 'a', 'b' that the run was trained on"}));
  Names many;
  for (int i = 0; i < 20; ++i) many.push_back("column" + std::to_string(i));
  EXPECT_TRUE(only_line_says(match_schemas(columns(many), run).reasons, "'column7' and 12 others that"));
}

TEST(DataSchema, ColumnsWithOneNameAreNotGuessed) {
  EXPECT_TRUE(only_line_says(match_schemas(columns({"a", "b"}), columns({"b", "a", "a"})).reasons,
                             "column 'a' is there, or in the run, twice"));
  EXPECT_TRUE(only_line_says(match_schemas(columns({"a", "a", "b"}), columns({"b", "a", "c"})).reasons,
                             "column 'a' is there, or in the run, twice"));
  const SchemaMatch same = match_schemas(columns({"a", "a"}), columns({"a", "a"}));
  EXPECT_TRUE(same.reasons.empty());
  EXPECT_TRUE(same.column_of.empty());
}

TEST(DataSchema, ColumnsWithoutNamesAreTakenAsTheyComeIfThereAreAsMany) {
  for (const auto& [run, data] : {std::pair(nameless(2), nameless(2)), std::pair(nameless(2), columns({"a", "b"})),
                                  std::pair(columns({"a", "b"}), nameless(2))}) {
    const SchemaMatch match = match_schemas(run, data);
    EXPECT_TRUE(match.reasons.empty());
    EXPECT_TRUE(match.column_of.empty());
    EXPECT_TRUE(only_line_says(match.remarks, "they are taken as they come"));
  }
  EXPECT_EQ(match_schemas(nameless(2), nameless(3)).reasons, (Names{"has 3 features, the run was trained on 2"}));
  EXPECT_EQ(match_schemas(nameless(2), nameless(0)).reasons, (Names{"has no features to predict from"}));
}

TEST(DataSchema, FeaturesThatWereMadeInAnotherWayAreRefused) {
  const FeatureOrigin made{{"kind", "random"}, {"seed", "0"}, {"width", "4"}};
  const SchemaMatch same = match_schemas(nameless(4, made), nameless(4, made));
  EXPECT_TRUE(same.reasons.empty());
  EXPECT_TRUE(only_line_says(same.remarks, "are made: kind random seed 0 width 4, from another graph"));
  for (const auto& [name, value] : {std::pair("kind", "positional"), {"seed", "1"}, {"width", "5"}, {"scale", "2"}}) {
    FeatureOrigin other = made;
    other[name] = value;
    EXPECT_TRUE(
        only_line_says(match_schemas(nameless(4, made), nameless(4, other)).reasons, std::string(name) + " " + value));
    EXPECT_TRUE(
        only_line_says(match_schemas(nameless(4, other), nameless(4, made)).reasons, std::string(name) + " " + value));
  }
  EXPECT_TRUE(only_line_says(match_schemas(nameless(4), nameless(4, made)).reasons,
                             "those of the run's data set come from its source"));
  EXPECT_TRUE(only_line_says(match_schemas(nameless(4, made), columns({"a", "b", "c", "d"})).reasons,
                             "has features that come from its source"));
}

TEST(DataSchema, AUserMaySayThatColumnsAreTheRuns) {
  const FeatureOrigin made{{"kind", "random"}};
  for (const auto& [run, data] :
       {std::pair(nameless(2, made), nameless(2)), std::pair(columns({"a", "b"}), columns({"b", "c"}))}) {
    const SchemaMatch match = match_schemas(run, data, FeatureMatch::kPlace);
    EXPECT_TRUE(match.reasons.empty());
    EXPECT_TRUE(match.column_of.empty());
    EXPECT_TRUE(only_line_says(match.remarks, "as asked for"));
  }
  EXPECT_EQ(match_schemas(nameless(2), nameless(3), FeatureMatch::kPlace).reasons,
            (Names{"has 3 features, the run was trained on 2"}));
}

TEST(DataSchema, ARunOfAnOlderVersionIsComparedByNumbers) {
  DataSchema run{.num_classes = 2, .feature_dim = 2};
  run.is_complete = false;
  const SchemaMatch match = match_schemas(run, columns({"a", "b"}, {{"kind", "random"}}));
  EXPECT_TRUE(match.reasons.empty()) << "it may have been trained on such features";
  EXPECT_TRUE(one_says(match.remarks, "did not keep names of classes and columns, nor how features"));
  EXPECT_TRUE(only_line_says(match_schemas(run, nameless(3)).reasons, "3 features"));
}

TEST(DataSchema, IsKeptAsJson) {
  DataSchema schema = columns({"a", "tab\there", "caf\xE9"}, {{"kind", "random"}, {"seed", "0"}});
  const std::string text = to_json_text(schema);
  schema.column_names[2] = "caf\xEF\xBF\xBD";
  const DataSchema kept = schema_from_json(text, "FILE");
  EXPECT_EQ(kept, schema);
  EXPECT_EQ(match_schemas(kept, columns({"caf\xE9", "a", "tab\there"}, schema.feature_origin)).column_of,
            (Columns{1, 2, 0}))
      << "bytes that JSON cannot hold are the same on both sides";
  for (const char* bad : {"", "[]", "{}", R"({"task":"multi-class"})"})
    EXPECT_THROW(schema_from_json(bad, "FILE"), Error) << bad;
  DataSchema wrong = columns({"a"});
  wrong.class_names.pop_back();
  EXPECT_THROW(schema_from_json(to_json_text(wrong), "FILE"), Error);
}

TEST(NameList, IsTakenWhenThereIsOnePerClass) {
  const test::Scratch scratch;
  const auto path = test::write_bytes(scratch / "class_names.txt", "noun.animal\nnoun.plant\n");
  EXPECT_EQ(read_names(path, 2), (Names{"noun.animal", "noun.plant"}));
  EXPECT_TRUE(read_names(path, 3).empty());
  EXPECT_TRUE(read_names(scratch / "absent.txt", 2).empty());
}

}  // namespace
}  // namespace salient
