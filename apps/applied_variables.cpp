// apps/applied_variables.cpp - see applied_variables.h.
#include "apps/applied_variables.h"

#include "apps/train_command.h"

namespace salient {
namespace {

/// Options of a training that are no choice of what it computes.
struct LocalOptions {
  std::string data_root{};
  MachineOptions machine{};
  CommOptions comm{};
  ConsoleOptions console{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, LocalOptions>
void visit_fields(Self& self, Visit&& field) {
  field("data-root", self.data_root, "");
  visit_fields(self.machine, field);
  visit_fields(self.comm, field);
  visit_fields(self.console, field);
}

template <class Options>
bool has_field(std::string_view name) {
  const Options fields;
  bool found = false;
  visit_fields(fields, [&](std::string_view field, const auto&, std::string_view) { found |= field == name; });
  return found;
}

}  // namespace

bool is_of_trainings(std::string_view field) {
  return has_field<TrainOptions>(field) && !has_field<LocalOptions>(field);
}

}  // namespace salient
