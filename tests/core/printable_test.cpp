// tests/core/printable_test.cpp - foreign text stays on its line, and stays readable.
#include "core/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace salient {
namespace {

using namespace std::string_literals;

TEST(Printable, ControlCharactersAreWritten) {
  EXPECT_EQ(printable("a\nb\tc\rd\x1b[31me\x07\x7f"), "a\\nb\\tc\\rd\\x1b[31me\\x07\\x7f");
  EXPECT_EQ(printable("\0"s), "\\x00");
  EXPECT_EQ(printable("\u0085\u009b"), "\\xc2\\x85\\xc2\\x9b") << "C1: a terminal takes U+009B for ESC [";
  EXPECT_EQ(printable("\u2028\u202e\u2067"), "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa7");
}

TEST(Printable, WhatPeopleReadStays) {
  const std::string text = "data/K\u00e4fer \u0442\u0435\u0441\u0442 \u6e2c\u8a66 \U0001F41D 'a\\b' \u00a0 50 %";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, BytesThatAreNoUtf8AreWritten) {
  EXPECT_EQ(printable("\xff"
                      "a\x9b"),
            "\\xffa\\x9b");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a") << "a newline in two bytes";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "U+009B in three bytes";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(printable("\xe2\x82"
                      "a"),
            "\\xe2\\x82"
            "a");
}

TEST(Printable, OnceIsEnough) { EXPECT_EQ(printable(printable("a\x1b\n")), printable("a\x1b\n")); }

TEST(Printable, Utf8IsToldFromOtherBytes) {
  for (const char* text : {"", "a\x1b", "\u00e4\u6e2c\U0001F41D"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"caf\xe9", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "a\x9b"}) EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace
}  // namespace salient
