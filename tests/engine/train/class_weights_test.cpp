// tests/engine/train/class_weights_test.cpp - weights of classes: scikit-learn's "balanced", files by name and number.
#include "engine/train/class_weights.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

/// 10 training nodes: 7 of class 0, 2 of class 1, 1 of class 2, none of class 3.
struct Shop {
  Shop() {
    std::iota(train.begin(), train.end(), NodeId{0});
    dataset.name = "shop";
    dataset.num_classes = 4;
    dataset.labels = labels;
    dataset.train = train;
    dataset.class_names = {"retail", "a, b", "7", "dormant"};
  }
  std::vector<std::int32_t> labels = {0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3};
  std::vector<NodeId> train = std::vector<NodeId>(10);
  Dataset dataset{};
};

class ClassWeights : public testing::Test {
 protected:
  std::string file(const std::string& text) { return test::write_bytes(scratch_ / "weights.csv", text).string(); }
  test::Scratch scratch_;
  Shop shop_;
};

TEST_F(ClassWeights, NoneAreNone) { EXPECT_TRUE(class_weights_of("none", shop_.dataset).empty()); }

TEST_F(ClassWeights, BalancedAreThoseOfScikitLearn) {
  // compute_class_weight("balanced", classes=[0, 1, 2], y=[0]*7 + [1]*2 + [2]): 10 / (3 * n)
  const std::vector<float> weights = class_weights_of("balanced", shop_.dataset);
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_FLOAT_EQ(weights[0], 0.47619047F);
  EXPECT_FLOAT_EQ(weights[1], 1.6666666F);
  EXPECT_FLOAT_EQ(weights[2], 3.3333333F);
  EXPECT_FLOAT_EQ(weights[3], 1) << "a class without training nodes";
}

TEST_F(ClassWeights, AFileNamesClassesOrCountsThem) {
  const std::vector<float> expected = {0.5F, 2, 3, 0};
  EXPECT_EQ(class_weights_of(file("retail,0.5\n\"a, b\",2\n7,3\ndormant,0\n"), shop_.dataset), expected);
  EXPECT_EQ(class_weights_of(file("\xEF\xBB\xBF"
                                  "class,weight\r\n0, 0.5\r\na, b, 2\r\n2,3\r\n3,0\r\n"),
                             shop_.dataset),
            expected);
  EXPECT_EQ(class_weights_of(file("dormant,4"), shop_.dataset), (std::vector<float>{1, 1, 1, 4}))
      << "without a line a class counts 1";
}

TEST_F(ClassWeights, BadLinesAreRefusedByNumber) {
  const auto refuse = [&](const std::string& text, const std::string& why) {
    EXPECT_COMPLAINT((void)class_weights_of(file(text), shop_.dataset), ErrorKind::kBadData, why);
  };
  refuse("retail,1\nwholesale,2\n", "line 2: 'wholesale' is no class of shop");
  refuse("retail,1\n9,2\n", "line 2: '9' is no class of shop");
  refuse("retail,much\n", "line 1: 'much' is no weight");
  refuse("retail,-1\n", "line 1: '-1' is no weight");
  refuse("retail,nan\n", "line 1: 'nan' is no weight");
  refuse("class,weight\nretail\n", "line 2: a class and its weight, with a comma between");
  refuse("retail,1\n0,2\n", "line 2: class '0' has a weight already, in line 1");
  refuse("0,0\n1,0\n2,0\n3,0\n", "no class has a weight above 0");
  EXPECT_COMPLAINT((void)class_weights_of("no_such_file.csv", shop_.dataset), ErrorKind::kNoInput,
                   "no_such_file.csv: no such file");
}

TEST_F(ClassWeights, AreForOneClassANode) {
  shop_.dataset.task = Task::kMultiLabel;
  EXPECT_COMPLAINT((void)class_weights_of("balanced", shop_.dataset), ErrorKind::kUsage, "one class a node");
}

TEST_F(ClassWeights, AreNamed) {
  EXPECT_EQ(class_weights_text({0.5F, 2, 3, 0.25F}, shop_.dataset), "'retail' 0.5, 'a, b' 2, '7' 3, 'dormant' 0.25");
}

}  // namespace
}  // namespace salient
