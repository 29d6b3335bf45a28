// tests/core/files/sealed_json_test.cpp - every change of the text is noticed.
#include "core/files/sealed_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/scratch.h"

namespace salient {
namespace {

const nlohmann::ordered_json kObject = {{"epoch", 3}, {"files", {{"a", 1}}}};

TEST(SealedJson, TheFieldIsTheLastOfTheObject) {
  const std::string text = sealed_json(kObject.dump(2));
  EXPECT_TRUE(check_seal(text, "file"));
  auto read = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(read["checksum"].get<std::string>().size(), 16U);
  read.erase("checksum");
  EXPECT_EQ(read, kObject);
}

TEST(SealedJson, AnyChangedByteIsRefusedOrLeavesNoSeal) {
  const std::string text = sealed_json(kObject.dump(2));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 2);
    const std::size_t key = text.rfind("\"checksum\"");
    if (at + 4 >= key && at < key + 13)
      EXPECT_FALSE(check_seal(changed, "file")) << "the text before it is as it was";
    else
      EXPECT_COMPLAINT((void)check_seal(changed, "file"), 65, "file: is damaged or was edited");
  }
  EXPECT_COMPLAINT((void)check_seal(text + " ", "file"), 65, "file: is damaged");
}

TEST(SealedJson, OtherJsonHasNone) {
  EXPECT_FALSE(check_seal(kObject.dump(2), "file"));
  EXPECT_FALSE(check_seal("", "file"));
}

}  // namespace
}  // namespace salient
