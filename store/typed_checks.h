// store/typed_checks.h - the rules that the arrays of a typed graph keep beside those of every store.
#pragma once

#include <filesystem>

#include "store/dataset.h"
#include "store/dataset_checks.h"

namespace salient {

/// What opening a store checks: entries of a slot are nodes of its relation's source type, and as many as the schema
/// says; columns of sparse features. Runs in the caller's oneTBB arena.
/// @param dataset  use_slots() was called, its rows were checked by check_indptr()
/// @throws Error{kBadData} naming file, record and rule
/// Cost: indptr once for each relation into a type, and every entry once
void check_typed(const Dataset& dataset, const DatasetChecks& checks);

/// The remaining checks: values of features are finite, and relations that are reverses have the other's entries.
void verify_typed(const std::filesystem::path& directory, const Dataset& dataset);

}  // namespace salient
