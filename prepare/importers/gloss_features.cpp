// prepare/importers/gloss_features.cpp - tokens, document frequencies, rows
#include "prepare/importers/gloss_features.h"

#include <algorithm>
#include <cmath>

namespace salient {

namespace {

/// Lower case for ASCII letters, 0 for everything else; free of locales.
char letter_of(char c) {
  if (c >= 'a' && c <= 'z') return c;
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : '\0';
}

}  // namespace

std::uint32_t WordCounts::id_of(std::string_view word) {
  if (const auto known = id_of_.find(word); known != id_of_.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(word_of_.size());
  word_of_.push_back(&id_of_.emplace(word, id).first->first);
  num_texts_with_.push_back(0);
  return id;
}

void WordCounts::add_text(std::string_view text) {
  const std::size_t begin = words_.size();
  texts_begin_.push_back(begin);
  std::string token;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char letter = i < text.size() ? letter_of(text[i]) : '\0';
    if (letter != '\0') {
      token += letter;
    } else {
      if (token.size() >= 2) words_.push_back(id_of(token));
      token.clear();
    }
  }
  const auto first = words_.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, words_.end());
  words_.erase(std::unique(first, words_.end()), words_.end());
  for (std::size_t i = begin; i < words_.size(); ++i) ++num_texts_with_[words_[i]];
}

std::vector<std::string> WordCounts::vocabulary(std::size_t max_words) const {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < word_of_.size(); ++id)
    if (std::size_t{10} * num_texts_with_[id] <= num_texts()) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), [this](std::uint32_t a, std::uint32_t b) {
    if (num_texts_with_[a] != num_texts_with_[b]) return num_texts_with_[a] > num_texts_with_[b];
    return *word_of_[a] < *word_of_[b];
  });
  ids.resize(std::min(ids.size(), max_words));
  std::vector<std::string> words;
  for (const std::uint32_t id : ids) words.push_back(*word_of_[id]);
  return words;
}

WordCounts::Rows WordCounts::rows(const std::vector<std::string>& vocabulary) const {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<std::uint32_t> column_of(word_of_.size(), kNone);
  for (std::uint32_t column = 0; column < vocabulary.size(); ++column)
    column_of[id_of_.find(vocabulary[column])->second] = column;
  Rows rows;
  for (std::size_t text = 0; text < num_texts(); ++text) {
    const std::size_t end = text + 1 < num_texts() ? texts_begin_[text + 1] : words_.size();
    for (std::size_t i = texts_begin_[text]; i < end; ++i)
      if (column_of[words_[i]] != kNone) rows.columns_.push_back(column_of[words_[i]]);
    std::sort(rows.columns_.begin() + static_cast<std::ptrdiff_t>(rows.begin_.back()), rows.columns_.end());
    rows.begin_.push_back(rows.columns_.size());
  }
  return rows;
}

void WordCounts::Rows::write(std::size_t text, float* out) const {
  const auto value = static_cast<float>(1 / std::sqrt(static_cast<double>(begin_[text + 1] - begin_[text])));
  for (std::size_t i = begin_[text]; i < begin_[text + 1]; ++i) out[columns_[i]] = value;
}

}  // namespace salient
