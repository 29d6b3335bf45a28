// models/describe/typed_layers.h - the convolutions of models of typed graphs as operations, for describe.cpp.
#pragma once

#include <string>

#include "models/describe/writer.h"

namespace salient {

/// Rows of all types, options.hidden_dim wide: maps of features, and learned rows. models/typed_stack.h
OpId typed_input(Writer& write, const ModelOptions& options);

/// @param name       "convs.0"
/// @param is_hidden  false: its result are the logits
OpId rgcn_convolution(Writer& write, const ModelOptions& options, const std::string& name, OpId x, bool is_hidden);
OpId rsage_convolution(Writer& write, const ModelOptions& options, const std::string& name, OpId x, bool is_hidden);
OpId rgat_convolution(Writer& write, const ModelOptions& options, const std::string& name, OpId x);
OpId hgt_convolution(Writer& write, const ModelOptions& options, const std::string& name, OpId x);

}  // namespace salient
