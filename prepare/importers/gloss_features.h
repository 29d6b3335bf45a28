// prepare/importers/gloss_features.h - bags of words from short texts: the node features of the WordNet graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace salient {

/// The texts' words, counted. Tokens are maximal runs of letters, as ASCII lower case, of length 2 at least.
class WordCounts {
 public:
  void add_text(std::string_view text);

  std::size_t num_texts() const { return texts_begin_.size(); }
  std::size_t num_words() const { return word_of_.size(); }

  /// The words in at most a tenth of all texts, by (number of texts descending, word ascending), `max_words` at most.
  std::vector<std::string> vocabulary(std::size_t max_words) const;

  /// Per text the columns of its words in `vocabulary`, ascending.
  class Rows {
   public:
    std::size_t size() const { return begin_.size() - 1; }
    std::size_t num_nonzeros() const { return columns_.size(); }
    /// Writes the row of a text: 1 where a word is present, divided by the row's L2 norm.
    ///
    /// @param out  [vocabulary size], all zero before
    void write(std::size_t text, float* out) const;

   private:
    friend class WordCounts;
    std::vector<std::size_t> begin_{0};
    std::vector<std::uint32_t> columns_;
  };
  Rows rows(const std::vector<std::string>& vocabulary) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::uint32_t id_of(std::string_view word);

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> id_of_;
  std::vector<const std::string*> word_of_;    ///< keys of id_of_, which never move
  std::vector<std::uint32_t> num_texts_with_;  ///< per word
  std::vector<std::size_t> texts_begin_;       ///< per text, into words_
  std::vector<std::uint32_t> words_;           ///< distinct word ids of text after text
};

}  // namespace salient
