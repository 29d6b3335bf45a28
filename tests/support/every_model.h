// tests/support/every_model.h - every model with every choice of what it computes, small.
#pragma once

#include <string>

#include "models/describe/costs.h"
#include "tests/support/small_types.h"

namespace salient::test {

/// Calls check(options, name) for each choice that a model has; a kind without a choice comes with its only one.
template <class Check>
void for_each_model(Check check) {
  for (const auto& [kind, kind_name] : names_of(ModelKind{}))
    for (const auto& [norm, norm_name] : names_of(NormKind{}))
      for (const auto& [jk, jk_name] : names_of(JumpingKnowledge{}))
        for (const bool residual : {false, true})
          for (const bool is_other :
               {false, true})  // aggregation, norm of gcn, sum of gin, bases, edges; the input and its width
            for (const int num_layers : {1, 2, 3}) {
              ModelOptions options{.kind = kind,
                                   .in_dim = is_other ? 12 : 7,
                                   .hidden_dim = 12,
                                   .num_classes = 5,
                                   .num_layers = num_layers,
                                   .norm = norm,
                                   .residual = residual,
                                   .jk = jk};
              const bool reads_edges = kind == ModelKind::kTransformer || (kind == ModelKind::kSage && num_layers > 1);
              options.edge_dim = reads_edges && is_other ? kEdgeDim : edge_dim_of(kind);
              if (is_typed(kind)) options.types = small_types();
              options.activate_input = is_typed(kind) && is_other;
              if (kind == ModelKind::kRgcn) (is_other ? options.blocks : options.bases) = num_layers > 1 ? 3 : 0;
              if (has_attention(kind)) options.heads = is_other ? 1 : 3;
              if (kind == ModelKind::kSage && is_other && num_layers != 2) options.aggr = Aggregation::kMax;
              if (kind == ModelKind::kGcn && is_other) options.gcn_norm = GcnNorm::kRow;
              if (kind == ModelKind::kGin && is_other) options.gin_sum = GinSum::kScaled;
              if (!problems_of(options).empty()) continue;  // sage-ri has no choices
              check(options, kind_name + std::string(", norm ") + norm_name + ", jk " + jk_name +
                                 (residual ? ", residual" : "") + (is_other ? ", other" : "") + ", layers " +
                                 std::to_string(num_layers));
            }
}

}  // namespace salient::test
