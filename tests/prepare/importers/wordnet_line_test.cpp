// tests/prepare/importers/wordnet_line_test.cpp - sound lines give their fields; each broken rule is named.
#include "prepare/importers/wordnet_line.h"

#include <gtest/gtest.h>

#include <string>

namespace salient {
namespace {

const std::string kNoun =
    "00001740 03 n 01 entity 0 003 ~ 00001930 n 0000 ~ 00002137 n 0000 #m 04424418 n 0000 | that which is  ";
const std::string kVerb =
    "00002084 29 v 02 respire 1 take_a_breath b 002 $ 00001740 v 0000 + 00832852 n 0201 02 + 02 00 + 08 0a | draw; "
    "\"Draw a "
    "deep breath\"    ";

std::string rule_of(const std::string& line, char part) {
  WordnetSynset synset;
  const char* rule = parse_wordnet_line(line, part, synset);
  return rule ? rule : "sound";
}

/// `line` with the first `from` replaced.
std::string with(std::string line, const std::string& from, const std::string& to) {
  const std::size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return line.replace(at, from.size(), to);
}

TEST(WordnetLine, FieldsOfANoun) {
  WordnetSynset synset;
  ASSERT_EQ(parse_wordnet_line(kNoun, 'n', synset), nullptr);
  EXPECT_EQ(synset.offset, 1740u);
  EXPECT_EQ(synset.lex_file, 3);
  EXPECT_EQ(synset.num_words, 1);
  ASSERT_EQ(synset.pointers.size(), 3u);
  EXPECT_EQ(synset.pointers[2].symbol, "#m");
  EXPECT_EQ(synset.pointers[2].offset, 4424418u);
  EXPECT_EQ(synset.pointers[2].part, 'n');
  EXPECT_FALSE(synset.pointers[2].is_lexical());
  EXPECT_EQ(synset.gloss, "that which is");
}

TEST(WordnetLine, FieldsOfAVerb) {
  WordnetSynset synset;
  ASSERT_EQ(parse_wordnet_line(kVerb, 'v', synset), nullptr);
  EXPECT_EQ(synset.num_words, 2);
  ASSERT_EQ(synset.pointers.size(), 2u);
  EXPECT_FALSE(synset.pointers[0].is_lexical());
  EXPECT_TRUE(synset.pointers[1].is_lexical());
  EXPECT_EQ(synset.pointers[1].source_word, 2);
  EXPECT_EQ(synset.pointers[1].target_word, 1);
  EXPECT_EQ(synset.gloss, "draw; \"Draw a deep breath\"");
  EXPECT_EQ(rule_of(with(kVerb, "02 + 02 00 + 08 0a", "00"), 'v'), "sound");
}

TEST(WordnetLine, WordCountsAreHexadecimalAndPointerCountsDecimal) {
  std::string words, pointers;
  for (int i = 0; i < 0x1c; ++i) words += "w" + std::to_string(i) + " 0 ";
  for (int i = 0; i < 10; ++i) pointers += "! 00000000 r 0000 ";
  EXPECT_EQ(rule_of("00000000 02 r 1c " + words + "010 " + pointers + "| not  ", 'r'), "sound");
  EXPECT_NE(rule_of("00000000 02 r 1c " + words + "00a " + pointers + "| not  ", 'r'), "sound");
}

TEST(WordnetLine, SatellitesAreAdjectives) {
  const std::string satellite = "00003829 00 s 01 emergent(a) 0 000 | coming into existence  ";
  EXPECT_EQ(rule_of(satellite, 'a'), "sound");
  EXPECT_EQ(rule_of(with(kNoun, " n 01", " s 01"), 'n'), "ss_type belongs to another file");
  EXPECT_EQ(rule_of(with(satellite, " s ", " v "), 'a'), "ss_type belongs to another file");
}

TEST(WordnetLine, EveryBrokenRuleIsNamed) {
  const auto expect = [](const std::string& rule, const std::string& from, const std::string& to) {
    EXPECT_EQ(rule_of(with(kNoun, from, to), 'n'), rule) << from << " -> " << to;
  };
  for (const char* bad : {"0001740", "000017400", "0000174x", "-0001740", " 0001740", ""})
    expect("synset_offset is not 8 decimal digits", "00001740", bad);
  for (const char* bad : {"3", "003", "0x", "+3"}) expect("lex_filenum is not 2 decimal digits", "03", bad);
  expect("lex_filenum is above 44", "03", "45");
  for (const char* bad : {"00", "02", "29", "44"}) expect("lex_filenum belongs to another part of speech", "03", bad);
  for (const char* bad : {"x", "nn", ""})
    expect("ss_type is not one of n v a s r", " n ", std::string(" ") + bad + " ");
  expect("w_cnt is not 2 hexadecimal digits", " 01 ", " 1 ");
  expect("w_cnt is not 2 hexadecimal digits", " 01 ", " 0g ");
  expect("w_cnt is 0", " 01 ", " 00 ");
  expect("a word is missing", "entity", "");
  expect("lex_id is not 1 hexadecimal digit", "entity 0", "entity 00");
  expect("lex_id is not 1 hexadecimal digit", " 01 ", " 02 ");
  expect("p_cnt is not 3 decimal digits", " 003 ", " 03 ");
  expect("p_cnt is not 3 decimal digits", " 003 ", " 00c ");
  expect("the gloss does not begin with '| ' after the last pointer or frame", " 003 ", " 002 ");
  expect("a pointer's offset is not 8 decimal digits", " 003 ", " 004 ");
  expect("a pointer's symbol is longer than 2 characters", "#m", "#mm");
  expect("a pointer's symbol is missing", "#m", "");
  expect("a pointer's offset is not 8 decimal digits", "04424418", "4424418");
  for (const char* bad : {"s", "N", "nn"})
    expect("a pointer's pos is not one of n v a r", "00001930 n", std::string("00001930 ") + bad);
  expect("a pointer's source/target is not 4 hexadecimal digits", "0000 ~", "000 ~");
  expect("a pointer's source/target has one zero; both or none", "n 0000 ~", "n 0100 ~");
  expect("a pointer's source/target has one zero; both or none", "n 0000 ~", "n 0001 ~");
  expect("a pointer's source is not a word of this synset", "n 0000 ~", "n 0201 ~");
  expect("the line does not end with two blanks", "which is  ", "which is ");
  expect("a second bar", "which", "|");
  expect("the gloss is empty", "that which is", "");
  expect("the gloss does not begin with '| ' after the last pointer or frame", " | ", " |");
  for (std::size_t length = 0; length < kNoun.size(); ++length)
    EXPECT_NE(rule_of(kNoun.substr(0, length), 'n'), "sound") << length;
}

TEST(WordnetLine, EveryBrokenFrameIsNamed) {
  EXPECT_EQ(rule_of(with(kVerb, "02 + 02 00", "2 + 02 00"), 'v'), "f_cnt is not 2 decimal digits");
  EXPECT_EQ(rule_of(with(kVerb, "02 + 02 00", "02 - 02 00"), 'v'), "a verb frame does not begin with +");
  EXPECT_EQ(rule_of(with(kVerb, "02 + 02 00", "02 + 0a 00"), 'v'), "f_num is not 2 decimal digits");
  EXPECT_EQ(rule_of(with(kVerb, "08 0a", "08 0x"), 'v'), "w_num is not 2 hexadecimal digits");
  EXPECT_NE(rule_of(with(kVerb, "02 + 02 00 + 08 0a ", ""), 'v'), "sound");
}

}  // namespace
}  // namespace salient
