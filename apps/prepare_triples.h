// apps/prepare_triples.h - what salient-prepare triples is asked for, and what it says of triples met twice.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "apps/prepare_options.h"
#include "prepare/importers/triples_importer.h"

namespace salient::prepare {

struct TriplesArguments {
  std::string train{}, valid{}, test{};
  std::vector<std::string> columns{};
  std::string entities{}, relations{};
  Reverses reverse = Reverses::kAdd;
  RepeatsBetween repeats_between = RepeatsBetween::kRefuse;
  std::string name{};
  WriteOptions write{};
};
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TriplesArguments>
void visit_fields(Self& self, Visit&& field) {
  field("train", self.train,
        "text (also .gz), a triple a line: head, relation, tail by tabs, commas or blanks; needed");
  field("valid", self.valid, "likewise");
  field("test", self.test, "likewise");
  field("columns", self.columns,
        "what the fields are, such as r,h,t, and - for one that is not read; empty = h,r,t, and h,t,r of files whose "
        "first line is their number of triples");
  field("entities", self.entities, "NAME <tab> NUMBER a line, where triples are numbers; with --relations");
  field("relations", self.relations, "likewise");
  field("reverse", self.reverse, "of each relation: rev_NAME, with rows of its own in models");
  field("repeats-between", self.repeats_between,
        "a triple of the test set that training or validation has, likewise of validation: refused, or left out");
  field("name", self.name, "empty = by the folder's name, --out");
  visit_fields(self.write, field);
}

/// @throws Error{kUsage} for options of other graphs
TriplesOptions triples_options(const TriplesArguments& given);

/// A line for each file that had some.
void print_repeats(const ImportedTriples& imported);

}  // namespace salient::prepare
