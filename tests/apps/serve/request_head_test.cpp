// tests/apps/serve/request_head_test.cpp - heads come out as they are however they are cut, or are refused.
#include "apps/serve/request_head.h"

#include <gtest/gtest.h>

namespace salient::serve {
namespace {

/// "GET /path 1.1 name=value;" or the status of a refusal, "" where the head is not whole.
std::string outcome(std::string_view bytes, std::size_t step = std::string_view::npos) {
  HeadReader reader;
  try {
    while (!bytes.empty()) {
      std::string_view part = bytes.substr(0, step);
      bytes.remove_prefix(part.size());
      if (!reader.take(part)) continue;
      const RequestHead head = reader.release();
      std::string text = head.method + " " + head.target + (head.is_1_0 ? " 1.0" : " 1.1");
      for (const HeaderField& field : head.fields) text += " " + field.name + "=" + field.value + ";";
      return text;
    }
  } catch (const HttpRefusal& refusal) {
    return std::to_string(refusal.status);
  }
  return "";
}

std::string with_field(const std::string& line) { return outcome("GET / HTTP/1.1\r\n" + line + "\r\n\r\n"); }

TEST(RequestHead, ComesOutHoweverItIsCut) {
  const std::string bytes = "\r\nPOST /a?b HTTP/1.0\r\nHost: x\r\nX-Note_1:\t y, z \r\nEmpty:\r\nABC:\xC3\xA4:\r\n\r\n";
  for (const std::size_t step : {1U, 2U, 3U, 7U, 1000U})
    EXPECT_EQ(outcome(bytes, step), "POST /a?b 1.0 host=x; x-note_1=y, z; empty=; abc=\xC3\xA4:;") << step;
  EXPECT_EQ(outcome(bytes.substr(0, bytes.size() - 1)), "");
}

TEST(RequestHead, OneReaderHoldsOneHeadAfterTheOther) {
  HeadReader reader;
  std::string_view bytes = "GET /1 HTTP/1.1\r\nA: 1\r\n\r\nGET /2 HTTP/1.1\r\nB: 2\r\n\r\nrest";
  ASSERT_TRUE(reader.take(bytes));
  EXPECT_EQ(reader.release().target, "/1");
  ASSERT_TRUE(reader.take(bytes));
  EXPECT_EQ(bytes, "rest");
  const RequestHead second = reader.release();
  EXPECT_EQ(second.target, "/2");
  EXPECT_EQ(second.values("b"), std::vector<std::string_view>{"2"});
  EXPECT_TRUE(second.values("a").empty());
}

TEST(RequestHead, AFirstLineOfAnotherFormIsRefusedBeforeTheNextOne) {
  for (const std::string line :
       {"HELLO", "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET / x HTTP/1.1", "GET / HTTP/1.",
        "GET / HTTP/1.10", "GET / http/1.1", "GET / HTTP/11", "G(T / HTTP/1.1", "GET\t/ HTTP/1.1",
        "GET /\xC3\xA4 HTTP/1.1", "/ HTTP/1.1", "GET /\tHTTP/1.1", ":", "  "})
    EXPECT_EQ(outcome(line + "\r\n"), "400") << line;
  for (const std::string line : {"PRI * HTTP/2.0", "GET / HTTP/0.9", "GET / HTTP/3.0"})
    EXPECT_EQ(outcome(line + "\r\n"), "505") << line;
  EXPECT_EQ(outcome("GET / HTTP/1.2\r\n\r\n"), "GET / 1.1");
}

TEST(RequestHead, AHeaderThatMayBeReadInTwoWaysIsRefused) {
  for (const std::string line : {"Name : x", "Name\t: x", " folded", "\tfolded", "no colon", ": x", "(X): y", "a b: y",
                                 "X: y\rZ: w", "X\r: y", "\xC3\xA4: y"})
    EXPECT_EQ(with_field(line), "400") << line;
  EXPECT_EQ(outcome("GET / HTTP/1.1\nHost: x\n\n"), "400");
  EXPECT_EQ(outcome("GET / HTTP/1.1\r\nHost: x\n\r\n"), "400");
  EXPECT_EQ(outcome("GET / HTTP/1.1\r\n\n"), "400");
}

TEST(RequestHead, AControlCharacterIsRefusedAtOnceWhereverItIs) {
  const std::string sound = "GET /path HTTP/1.1\r\nHost: name\r\n\r\n";
  for (const char byte : {'\0', '\x01', '\x0B', '\x1B', '\x7F'})
    for (std::size_t at = 0; at + 1 < sound.size(); ++at) {
      std::string bytes = sound;
      bytes.insert(at, 1, byte);
      EXPECT_EQ(outcome(bytes), "400") << at;
      EXPECT_EQ(outcome(bytes.substr(0, at + 1)), "400") << at;
    }
  EXPECT_EQ(outcome({"\x16\x03\x01\x02\x00\x01", 6}), "400");  // TLS
}

TEST(RequestHead, ItsSizeHasALimit) {
  const std::string fitting(kMaxHead - 100, 'x');
  EXPECT_NE(outcome("GET / HTTP/1.1\r\nA: " + fitting + "\r\n\r\n"), "431");
  EXPECT_EQ(outcome("GET / HTTP/1.1\r\nA: " + fitting + fitting), "431");
  EXPECT_EQ(outcome("GET /" + fitting + fitting), "414");
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 20'000; ++i) many += "a:b\r\n";
  EXPECT_EQ(outcome(many, 1000), "431");
  std::string empty;
  for (int i = 0; i < 20'000; ++i) empty += "\r\n";
  EXPECT_EQ(outcome(empty, 1000), "414");
}

}  // namespace
}  // namespace salient::serve
