// apps/prepare_typed.h - what salient-prepare typed is asked for.
#pragma once

#include "apps/prepare_options.h"
#include "prepare/importers/typed_importer.h"

namespace salient::prepare {

/// @throws Error{kUsage} for text that is not TYPE=FILE, TYPE=count:N or SRC:NAME:DST=FILE
TypedOptions typed_options(const TypedArguments& given);

}  // namespace salient::prepare
