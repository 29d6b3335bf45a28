// python/bindings/bind_schema.cpp - another data set in the classes and columns of a run.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"
#include "store/data_schema.h"
#include "store/seen_by_run.h"

namespace salient::python {
namespace {

std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text.append(text.empty() ? "" : "; it ").append(reason);
  return text;
}

/// What is said of the data set, in texts to follow its name, and the data set as the run sees it.
using Seen = std::pair<std::vector<std::string>, std::shared_ptr<OpenDataset>>;

/// @param schema       JSON of to_json_text(), of `file`
/// @param is_complete  false: of a run of an older version
/// @throws Error{kBadData} where the data set does not fit
Seen see(const OpenDataset& dataset, const std::string& schema, const std::string& file, bool is_complete,
         bool by_place) {
  DataSchema run = schema_from_json(schema, file);
  run.is_complete = is_complete;
  SchemaMatch match = match_schemas(run, dataset.data->schema(), by_place ? FeatureMatch::kPlace : FeatureMatch::kName);
  if (!match.reasons.empty())
    fail(ErrorKind::kBadData,
         "the data set " + dataset.data->name + " does not fit the run: it " + joined(match.reasons));
  auto seen = std::make_shared<const Dataset>(seen_by_run(*dataset.data, run, match));
  return {std::move(match.remarks), std::make_shared<OpenDataset>(OpenDataset{std::move(seen)})};
}

}  // namespace

void bind_schema(nb::module_& module) {
  module.def(
      "printable", [](const nb::bytes& text) { return printable(text_of(text)); }, nb::arg("text"));
  module.def(
      "seen_by_run",
      [](const OpenDataset& dataset, const std::string& schema, const std::string& file, bool is_complete,
         bool by_place) {
        Seen seen;
        {
          const LockReleased others_run;
          seen = see(dataset, schema, file, is_complete, by_place);
        }
        nb::list remarks;
        for (const std::string& text : seen.first) remarks.append(printable(text));
        return nb::make_tuple(remarks, seen.second);
      },
      nb::arg("dataset"), nb::arg("schema"), nb::arg("file"), nb::arg("is_complete"), nb::arg("by_place"));
}

}  // namespace salient::python
