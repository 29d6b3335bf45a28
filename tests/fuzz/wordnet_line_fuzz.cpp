// tests/fuzz/wordnet_line_fuzz.cpp - any bytes as a line of a data file; what is accepted keeps what it promises.
#include "prepare/importers/wordnet_line.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

namespace {

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

void check(std::string_view line, const WordnetSynset& synset) {
  claim(synset.lex_file >= 0 && synset.lex_file < kNumWordnetLexFiles, "labels are classes");
  claim(synset.num_words >= 1 && synset.num_words <= 255, "a synset has words");
  claim(!synset.gloss.empty() && lies_in(synset.gloss, line), "a synset has a gloss");
  claim(synset.pointers.size() <= 999, "p_cnt has three digits");
  for (const WordnetPointer& pointer : synset.pointers) {
    claim(lies_in(pointer.symbol, line) && !pointer.symbol.empty(), "a pointer has a symbol");
    claim(pointer.offset <= 99'999'999, "an offset has eight digits");
    claim((pointer.source_word == 0) == (pointer.target_word == 0), "lexical pointers name both words");
    claim(pointer.source_word <= synset.num_words, "the source is a word of the synset");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {
      "00001740 03 n 01 entity 0 003 ~ 00001930 n 0000 ~ 00002137 n 0000 #m 04424418 n 0000 | that which is  ",
      "00002084 29 v 02 respire 1 take_a_breath b 002 $ 00001740 v 0000 + 00832852 n 0201 02 + 02 00 + 08 0a | draw  ",
      "00003829 00 s 01 emergent(a) 0 000 | coming into existence; \"an emergent republic\"    ",
      "00001837 02 r 02 a_cappella 0 x f 001 ;u 07085810 n 0000 | without musical accompaniment  "};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  WordnetSynset synset;
  for (const char part : {'n', 'v', 'a', 'r'})
    if (parse_wordnet_line(line, part, synset) == nullptr) fuzz::check(line, synset);
  return 0;
}
