// apps/graph_file.h - graph.toml: the types, relations, labels and split of a typed graph in one file.
#pragma once

#include <string>

#include "apps/prepare_options.h"

namespace salient::prepare {

/// The options of salient-prepare typed that the file stands for, added to `given`. Paths in it are relative to its
/// folder.
///
///     name = "acm"
///     [nodes]
///     paper = { features = "p.npy", labels = "y.npy" }
///     author = { count = 7167 }
///     [edges]
///     "paper:written_by:author" = { file = "pa.txt" }
///     [split]
///     of = "paper"
///     train = "train.npy"
///
/// @throws Error{kUsage} for what is no such file, and for what options beside it say, too; Error{kNoInput}
void read_graph_file(const std::string& path, TypedArguments& given);

}  // namespace salient::prepare
