// apps/prepare_triples.cpp - see prepare_triples.h.
#include "apps/prepare_triples.h"

#include <iostream>
#include <string>

#include "apps/prepare_steps.h"

namespace salient::prepare {

TriplesOptions triples_options(const TriplesArguments& given) {
  require_option(given.write.symmetric == Symmetric::kAuto,
                 "--symmetric: of plain graphs; --reverse says it of relations");
  std::string source_options = given.reverse == Reverses::kNone ? "--reverse none" : "";
  if (given.repeats_between != RepeatsBetween::kRefuse)
    source_options.append(source_options.empty() ? "" : " ")
        .append("--repeats-between ")
        .append(name_of(given.repeats_between));
  return {.train = given.train,
          .valid = given.valid,
          .test = given.test,
          .columns = given.columns,
          .entities = given.entities,
          .relations = given.relations,
          .reverses = given.reverse,
          .between = given.repeats_between,
          .name = set_name(given.name, given.write),
          .source_options = source_options,
          .memory = limit_of_importer(given.write)};
}

void print_repeats(const ImportedTriples& imported) {
  constexpr const char* kFiles[] = {"train", "valid", "test"};
  for (std::size_t s = 0; s < imported.repeats.size(); ++s) {
    if (imported.repeats[s] + imported.dropped[s] == 0) continue;
    std::cout << "repeats         --" << kFiles[s] << ": " << imported.repeats[s]
              << " triples that it has before are left out, and " << imported.dropped[s]
              << " that an earlier split has\n";
  }
}

}  // namespace salient::prepare
