// workbench/case/case_reference.h - what case files say of references that are not of this program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/case/case.h"

namespace salient::workbench {

/// reference NAME | formula | python FILE [FUNCTION] | command PROGRAM [ARGUMENT...]
/// @return why it is none
std::optional<std::string> read_reference(const std::vector<std::string>& words, Case& made);

/// Formulas and programs have rows of their own: rows and row_cost need not be said.
/// @throws Error{kBadData} for a formula that is none
void add_rows_of_reference(Case& made);

/// Of a case whose expressions were checked. @throws Error{kBadData} unless every output has one formula of its size
void check_formulas(const Case& made);

}  // namespace salient::workbench
