// python/bindings/bind_node_lookup.cpp - what the source of a data set calls its nodes, and which node is called so.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/printable.h"
#include "python/bindings/bindings.h"
#include "python/bindings/python_lock.h"
#include "store/node_lookup.h"

namespace salient::python {
namespace {

/// A lookup and how many nodes it knows: all, of a typed graph those of the target type.
struct Lookup {
  NodeLookup nodes;
  std::size_t num_nodes;
};

std::shared_ptr<Lookup> make_lookup(const OpenDataset& dataset) {
  const LockReleased others_run;
  const Dataset& data = *dataset.data;
  if (!data.types.is_typed()) return std::make_shared<Lookup>(Lookup{NodeLookup(data), data.num_nodes()});
  const auto count = static_cast<std::size_t>(data.types.target().count);
  return std::make_shared<Lookup>(Lookup{NodeLookup(NodeIds::of(data).part(data.first_target(), count), count), count});
}

NodesBy by(bool by_row) { return by_row ? NodesBy::kRow : NodesBy::kId; }

/// Ids as Python's bytes: they need not be UTF-8.
nb::list names_of(const Lookup& lookup) {
  nb::list names;
  const NodeIds& ids = lookup.nodes.ids();
  for (std::size_t node = 0; node < lookup.num_nodes; ++node) {
    const std::string_view name = ids.name(static_cast<NodeId>(node));
    names.append(nb::bytes(name.data(), name.size()));
  }
  return names;
}

/// The methods of both kinds of ids; `read` makes what NodeLookup takes of what Python gives.
template <class Said, class Read>
void bind_find(nb::class_<Lookup>& type, const std::string& kind, Read read) {
  type.def(
      ("find_" + kind).c_str(),
      [read](const Lookup& self, const Said& said, bool by_row) { return self.nodes.find(read(said), by(by_row)); },
      nb::arg("said"), nb::arg("by_row"));
  type.def(("rule_of_" + kind).c_str(),
           [read](const Lookup& self, const Said& said, bool by_row) {
             return printable(self.nodes.rule_of(read(said), by(by_row)));
           },
           nb::arg("said"), nb::arg("by_row"));
}

}  // namespace

void bind_node_lookup(nb::module_& module) {
  nb::class_<Lookup> type(module, "NodeLookup");
  type.def_prop_ro("kind", [](const Lookup& self) {
    const NodeIds& ids = self.nodes.ids();
    return std::string(ids.empty() ? "rows" : ids.numbers().empty() ? "text" : "numbers");
  });
  type.def("numbers", [](nb::pointer_and_handle<Lookup> self) {
    const auto numbers = self.p->nodes.ids().numbers();
    return array_of(numbers.data(), {numbers.size()}, self.h, nb::dtype<std::int64_t>());  // torch 2.2 has no uint64
  });
  type.def("names", &names_of);
  bind_find<nb::bytes>(type, "text", [](const nb::bytes& said) { return std::string_view(said.c_str(), said.size()); });
  bind_find<std::uint64_t>(type, "number", [](std::uint64_t said) { return said; });
  module.def("node_lookup", &make_lookup, nb::arg("dataset"));
}

}  // namespace salient::python
