// workbench/case/reference.cpp - finds the reference of a case; see reference.h.
#include "workbench/case/reference.h"

#include "core/error.h"

namespace salient::workbench {

std::unique_ptr<Reference> make_reference(const Problem& problem) {
  const std::string& name = problem.definition().reference;
  for (const auto make : {make_elementwise, make_dense, make_graph, make_attention, make_hash, make_of_case_file})
    if (std::unique_ptr<Reference> found = make(name, problem)) return found;
  fail(ErrorKind::kBadData, "case " + problem.definition().name + ": there is no reference '" + name + "'");
}

}  // namespace salient::workbench
