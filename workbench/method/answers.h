// workbench/method/answers.h - finds in a generator's answer what was asked for, prose around it or not.
#pragma once

#include <string>
#include <vector>

#include "workbench/referee/referee.h"

namespace salient::workbench {

/// Lines [from, to] of a file, counted from 1, become `lines`. to == from - 1 inserts before `from`.
struct LineEdit {
  std::size_t from = 1, to = 0;
  std::vector<std::string> lines{};
};

// Each @throws Error{kBadData}, one line, for an answer without it.

/// {"source": "..."} anywhere in the answer, else the longest fenced block of code, else an answer that is nothing but
/// code.
std::string source_in(const std::string& answer);

/// {"edits": [{"from": 3, "to": 5, "lines": ["..."]}]}, at most 64, none overlapping another.
std::vector<LineEdit> edits_in(const std::string& answer);

/// {"shapes": [{"n": 17}, ...], "seeds": [3, ...]}: at most 8 shapes and 4 seeds, whole numbers from 0; one of the two
/// may be left out.
MoreTests tests_in(const std::string& answer);

/// `source` with the edits made; line numbers are those of `source`.
/// @throws Error{kBadData} if an edit lies beyond the end, or two overlap
std::string apply_edits(const std::string& source, std::vector<LineEdit> edits);

/// What a candidate says of itself: the comment lines that it begins with, before those that declare launches, as one
/// line of at most 300 characters.
std::string opening_comment(const std::string& source);

/// `source` with "12| " in front of its lines, as prompts show it.
std::string with_line_numbers(const std::string& source);

}  // namespace salient::workbench
