// prepare/importers/wordnet_line.cpp - the grammar of one line, field by field
#include "prepare/importers/wordnet_line.h"

#include <charconv>

namespace salient {

namespace {

/// Takes fields off the front of a line; once a field was wrong, `rule` keeps the first complaint.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  std::string_view text(const char* complaint) {
    const std::size_t end = rest_.find(' ');
    if (end == 0 || end == std::string_view::npos) return refuse(complaint), std::string_view();
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }
  /// Exactly `width` digits.
  std::uint32_t number(std::size_t width, int base, const char* complaint) {
    const std::string_view field = text(complaint);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, base);
    if (field.size() != width || error != std::errc{} || end != field.data() + field.size()) refuse(complaint);
    return value;
  }
  int small_number(std::size_t width, int base, const char* complaint) {
    return static_cast<int>(number(width, base, complaint));
  }
  /// One character out of `allowed`.
  char letter(std::string_view allowed, const char* complaint) {
    const std::string_view field = text(complaint);
    if (field.size() != 1 || allowed.find(field[0]) == std::string_view::npos) return refuse(complaint), '\0';
    return field[0];
  }

  void refuse(const char* complaint) {
    if (rule_ == nullptr) rule_ = complaint;
  }
  const char* rule() const { return rule_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  const char* rule_ = nullptr;
};

char part_of_lex_file(int lex_file) {
  if (lex_file == 2) return 'r';
  if (lex_file <= 1 || lex_file == 44) return 'a';
  return lex_file <= 28 ? 'n' : 'v';
}

void read_head(Fields& fields, char part, WordnetSynset& synset) {
  synset.offset = fields.number(8, 10, "synset_offset is not 8 decimal digits");
  synset.lex_file = fields.small_number(2, 10, "lex_filenum is not 2 decimal digits");
  if (synset.lex_file >= kNumWordnetLexFiles) return fields.refuse("lex_filenum is above 44");
  if (part_of_lex_file(synset.lex_file) != part) return fields.refuse("lex_filenum belongs to another part of speech");
  const char type = fields.letter("nvasr", "ss_type is not one of n v a s r");
  if (type != part && !(type == 's' && part == 'a')) fields.refuse("ss_type belongs to another file");
}

void read_words(Fields& fields, WordnetSynset& synset) {
  synset.num_words = fields.small_number(2, 16, "w_cnt is not 2 hexadecimal digits");
  if (synset.num_words == 0) fields.refuse("w_cnt is 0");
  for (int word = 0; word < synset.num_words && !fields.rule(); ++word) {
    fields.text("a word is missing");
    fields.number(1, 16, "lex_id is not 1 hexadecimal digit");
  }
}

void read_pointers(Fields& fields, WordnetSynset& synset) {
  synset.pointers.clear();
  const int count = fields.small_number(3, 10, "p_cnt is not 3 decimal digits");
  for (int i = 0; i < count && !fields.rule(); ++i) {
    WordnetPointer pointer;
    pointer.symbol = fields.text("a pointer's symbol is missing");
    if (pointer.symbol.size() > 2) fields.refuse("a pointer's symbol is longer than 2 characters");
    pointer.offset = fields.number(8, 10, "a pointer's offset is not 8 decimal digits");
    pointer.part = fields.letter("nvar", "a pointer's pos is not one of n v a r");
    const std::uint32_t words = fields.number(4, 16, "a pointer's source/target is not 4 hexadecimal digits");
    pointer.source_word = static_cast<int>(words >> 8);
    pointer.target_word = static_cast<int>(words & 0xFF);
    if ((pointer.source_word == 0) != (pointer.target_word == 0))
      fields.refuse("a pointer's source/target has one zero; both or none");
    if (pointer.source_word > synset.num_words) fields.refuse("a pointer's source is not a word of this synset");
    synset.pointers.push_back(pointer);
  }
}

void read_frames(Fields& fields) {
  const int count = fields.small_number(2, 10, "f_cnt is not 2 decimal digits");
  for (int i = 0; i < count && !fields.rule(); ++i) {
    fields.letter("+", "a verb frame does not begin with +");
    fields.number(2, 10, "f_num is not 2 decimal digits");
    fields.number(2, 16, "w_num is not 2 hexadecimal digits");
  }
}

void read_gloss(Fields& fields, WordnetSynset& synset) {
  fields.letter("|", "the gloss does not begin with '| ' after the last pointer or frame");
  std::string_view gloss = fields.rest();
  if (!gloss.ends_with("  ")) fields.refuse("the line does not end with two blanks");
  if (gloss.find('|') != std::string_view::npos) fields.refuse("a second bar");
  while (gloss.starts_with(' ')) gloss.remove_prefix(1);
  while (gloss.ends_with(' ')) gloss.remove_suffix(1);
  if (gloss.empty()) fields.refuse("the gloss is empty");
  synset.gloss = gloss;
}

}  // namespace

const char* parse_wordnet_line(std::string_view line, char part, WordnetSynset& synset) {
  Fields fields(line);
  read_head(fields, part, synset);
  if (!fields.rule()) read_words(fields, synset);
  if (!fields.rule()) read_pointers(fields, synset);
  if (!fields.rule() && part == 'v') read_frames(fields);
  if (!fields.rule()) read_gloss(fields, synset);
  return fields.rule();
}

}  // namespace salient
