// workbench/method/answers.h - finds in a generator's answer what was asked for, prose around it or not.
#pragma once

#include <string>
#include <vector>

#include "workbench/generator/generator.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {

/// Lines [from, to] of a file, counted from 1, become `lines`. to == from - 1 inserts before `from`.
struct LineEdit {
  std::size_t from = 1, to = 0;
  std::vector<std::string> lines{};
};

// Each @throws Error{kBadData}, one line, for an answer without it.

/// {"source": "..."} anywhere in the answer, else the last block between ``` or ~~~ fences with a launch line, else an
/// answer that is nothing but code. What ends with </think> is not looked at, here and in the next two.
std::string source_in(const std::string& answer);

/// {"edits": [{"from": 3, "to": 5, "lines": ["..."]}]}, at most 64, none overlapping another.
std::vector<LineEdit> edits_in(const std::string& answer);

/// {"shapes": [{"n": 17}, ...], "seeds": [3, ...]}: at most 8 shapes and 4 seeds, whole numbers from 0; one of the two
/// may be left out.
MoreTests tests_in(const std::string& answer);

/// What is wrong with an answer of a kind, one line; "" = nothing.
std::string problem_of(AnswerKind kind, const std::string& answer);

/// `source` with the edits made; line numbers are those of `source`.
/// @throws Error{kBadData} if an edit lies beyond the end, or two overlap
std::string apply_edits(const std::string& source, std::vector<LineEdit> edits);

/// What a candidate says of itself: the comment lines that it begins with, before those that declare launches, as one
/// line of at most 300 characters.
std::string opening_comment(const std::string& source);

/// `source` for a block of a prompt, which nothing in it can end: a blank stands inside of three backticks or tildes.
std::string quoted(std::string source);

/// `source` with "12| " in front of its lines, as prompts show it.
std::string with_line_numbers(const std::string& source);

}  // namespace salient::workbench
