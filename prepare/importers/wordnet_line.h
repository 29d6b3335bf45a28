// prepare/importers/wordnet_line.h - one line of WordNet's data.noun, data.verb, data.adj or data.adv, strictly.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace salient {

/// source_word = 0 is a semantic pointer, from synset to synset; else a lexical one, from word to word, both from 1.
struct WordnetPointer {
  std::string_view symbol{};  ///< "@", "~", ";c", ...
  std::uint32_t offset = 0;   ///< of the target's line, in the file of `part`
  char part = 'n';            ///< 'n' noun, 'v' verb, 'a' adjective, 'r' adverb
  int source_word = 0, target_word = 0;
  bool is_lexical() const { return source_word != 0; }
};

struct WordnetSynset {
  std::uint32_t offset = 0;  ///< the line's first byte in its file, as the line itself says
  int lex_file = 0;          ///< 0 to 44, the label
  int num_words = 0;
  std::vector<WordnetPointer> pointers{};
  std::string_view gloss{};  ///< without blanks around it
};

inline constexpr int kNumWordnetLexFiles = 45;

/// Splits one synset line into its fields; refills `synset`, whose views point into `line`.
///
/// @param part  of the file that the line is in: 'n', 'v', 'a' or 'r'
/// @return      nullptr when the line is sound, else the rule that it breaks; `synset` is then unspecified.
/// Format:      synset_offset lex_filenum ss_type w_cnt (word lex_id)* p_cnt (symbol offset pos source/target)*
///              [frames] | gloss                                     man page wndb.5WN; counts of words are hexadecimal
const char* parse_wordnet_line(std::string_view line, char part, WordnetSynset& synset);

}  // namespace salient
