// workbench/case/reference.h - the right answers of a case, in double precision, row by row.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "workbench/case/problem.h"

namespace salient::workbench {

/// Errors of a sum grow with its terms. Where their number differs from row to row, magnitudes have this factor and
/// the case a bound c of at least 16: c * growth is then more than the terms - 1 roundings of additions in any order.
/// Equal terms, as sorted indices give them, can make nearly all of them to the same side.
inline double growth_of_errors(std::size_t terms) { return 1 + static_cast<double>(terms) / 16; }

/// Consecutive elements of one output.
struct ResultPart {
  std::size_t buffer = 0;
  std::size_t first = 0;
  std::vector<double> value{};
  std::vector<double> magnitude{};  ///< sum of the absolute terms of each value: what rounding errors scale with
  std::vector<double> worst{};      ///< in place of magnitude in the bound of one element; empty = the same

  std::vector<std::uint32_t> bits{};  ///< of each value, where the case copies bits

  void add(double v, double m) {
    value.push_back(v);
    magnitude.push_back(m);
  }
};

/// Computes rows of a problem's result. The rows together give every element of every output exactly once.
class Reference {
 public:
  virtual ~Reference() = default;
  virtual std::vector<ResultPart> row(std::size_t row) const = 0;
};

/// @param problem  outlives the result
/// @throws Error{kBadData} if there is no reference of the case's name
std::unique_ptr<Reference> make_reference(const Problem& problem);

/// For the table in reference.cpp: one maker per kind of reference. Each returns null for names of others.
std::unique_ptr<Reference> make_elementwise(const std::string& name, const Problem& problem);
std::unique_ptr<Reference> make_dense(const std::string& name, const Problem& problem);
std::unique_ptr<Reference> make_graph(const std::string& name, const Problem& problem);
std::unique_ptr<Reference> make_attention(const std::string& name, const Problem& problem);
std::unique_ptr<Reference> make_hash(const std::string& name, const Problem& problem);
/// Of the name "formula": the expressions of the case file; of "python" and "command": a program of the user.
std::unique_ptr<Reference> make_of_case_file(const std::string& name, const Problem& problem);

}  // namespace salient::workbench
