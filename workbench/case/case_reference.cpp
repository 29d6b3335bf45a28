// workbench/case/case_reference.cpp - see case_reference.h.
#include "workbench/case/case_reference.h"

#include <algorithm>

#include "core/error.h"
#include "workbench/case/formula.h"

namespace salient::workbench {
namespace {

constexpr const char* kStepCost = "4";  // of one step of a formula, in operations of the program's own references

/// Rows of `elements` in every output, one after the other.
std::string rows_of(const Case& made, std::size_t elements) {
  std::string rows;
  for (const BufferSpec& buffer : made.buffers)
    if (buffer.role != BufferRole::kIn)
      rows.append(rows.empty() ? "" : "+").append("ceil(").append(buffer.count).append(",") +=
          std::to_string(elements) + ")";
  return rows.empty() ? "0" : rows;
}

[[noreturn]] void refuse(const Case& made, const std::string& why) {
  fail(ErrorKind::kBadData, made.file.string() + ": " + why);
}

}  // namespace

std::optional<std::string> read_reference(const std::vector<std::string>& words, Case& made) {
  if (words.size() < 2) return "reference NAME | formula | python FILE [FUNCTION] | command PROGRAM [ARGUMENT...]";
  made.reference = words[1];
  made.program.assign(words.begin() + 2, words.end());
  const std::size_t more = made.program.size();
  if (made.reference == "python")
    return more == 1 || more == 2 ? std::nullopt : std::optional("reference python FILE [FUNCTION]");
  if (made.reference == "command")
    return more > 0 ? std::nullopt : std::optional("reference command PROGRAM [ARGUMENT...]");
  return more == 0 ? std::nullopt : std::optional("reference: one word, or python or command and more");
}

void add_rows_of_reference(Case& made) {
  const bool is_program = made.reference == "python" || made.reference == "command";
  if (!is_program && made.reference != "formula") return;
  made.rows = rows_of(made, is_program ? kProgramRow : kFormulaRow);
  made.row_cost = std::to_string(kProgramRow);
  if (is_program) return;
  std::string cost = "1";
  for (const std::string& text : made.formulas) {
    try {
      cost = "max(" + cost + "," + Formula(text, made).cost() + ")";
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadData) throw;
      refuse(made, error.what());
    }
  }
  made.row_cost = std::to_string(kFormulaRow) + "*" + kStepCost + "*" + cost;
}

void check_formulas(const Case& made) {
  if (made.reference != "formula") {
    if (!made.formulas.empty()) refuse(made, "a formula is of 'reference formula'");
    return;
  }
  if (made.exact == Exact::kBits) refuse(made, "exact bits: formulas give numbers, say exact values");
  std::vector<int> written(made.buffers.size(), 0);
  for (const std::string& text : made.formulas) {
    const Formula formula(text, made);
    ++written[formula.output()];
    for (const ShapeSpec& shape : made.shapes) {
      Variables low, high;
      for (const DimRange& dim : shape.dims) low[dim.name] = dim.low, high[dim.name] = dim.high;
      try {
        formula.check(low);
        formula.check(high);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kBadData) throw;
        refuse(made, error.what());
      }
    }
  }
  for (std::size_t b = 0; b < written.size(); ++b)
    if (written[b] != (made.buffers[b].role == BufferRole::kIn ? 0 : 1))
      refuse(made, made.buffers[b].name + " has " + std::to_string(written[b]) + " formulas");
}

}  // namespace salient::workbench
