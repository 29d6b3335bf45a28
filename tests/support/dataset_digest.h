// tests/support/dataset_digest.h - all arrays of a data set as one line of text, to compare two of them.
#pragma once

#include <span>
#include <string>

#include "core/files/file_io.h"
#include "store/dataset.h"

namespace salient::test {

inline std::string digest_text(const Dataset& dataset) {
  std::string text;
  const auto add = [&text](auto items) { text.append(" ").append(to_hex(digest_of(std::as_bytes(items)).xxh3)); };
  const auto add_rows = [&add](const RowTable& rows) { add(std::span(rows.data, rows.num_rows * rows.row_bytes)); };
  add(dataset.graph.indptr);
  add(dataset.graph.indices);
  add_rows(dataset.features);
  if (dataset.edge_feature_dim > 0) add_rows(dataset.edge_features);
  for (const FeatureTable& table : dataset.type_features) add_rows(table.rows);
  add(dataset.labels);
  add(dataset.train);
  add(dataset.valid);
  add(dataset.test);
  return text;
}

}  // namespace salient::test
