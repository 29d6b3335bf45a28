// models/resident/row_source.cuh - row_source.h for kernels: the row of a node and those of its entries, eight columns
// at a time. A source is a kernel's argument; source.reader() is what its threads read with.
#pragma once

#include <type_traits>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/fp8_pack.cuh"
#include "models/resident/masks.cuh"
#include "models/resident/row_source.h"

namespace salient {

/// Which row to read. Of the table `row` is the node's, or that of its copy.
struct RowRef {
  NodeId node;
  std::uint32_t row;  ///< of a table or a level, which have fewer than 2^32
};

template <class T, int kPack>
struct TableReader {
  /// Rows of a node that are requested together. Usual fanouts are multiples of it: their last turn is a whole one.
  static constexpr int kInFlight = 5;
  static constexpr bool kIsLevel = false;
  using P = Pack<T, kPack>;
  struct Raw {
    typename P::Word words[8 / kPack];
  };
  LastHop hop;
  const T* features;
  NearRows near;
  std::int64_t width;
  LocalId count;
  float unit;

  __device__ std::int64_t capacity() const { return hop.capacity; }
  __device__ int num_entries(std::int64_t i) const { return hop.num_entries[i]; }
  __device__ bool has(std::int64_t chunk) const { return chunk * 8 < width; }
  /// Of nodes and entries that there are: of others the ids are not written.
  __device__ RowRef own(std::int64_t i) const { return ref(hop.nodes[i]); }
  __device__ RowRef entry(std::int64_t i, int k) const { return ref(hop.entries[i * hop.fanout + k]); }
  __device__ RowRef ref(NodeId node) const { return {node, near.row_of(node)}; }
  /// Zeros behind the row's end.
  __device__ Raw load(RowRef ref, std::int64_t chunk) const {
    Raw raw{};
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      const std::int64_t column = chunk * 8 + i * kPack;
      if (column < width)
        raw.words[i] =
            __ldg(reinterpret_cast<const typename P::Word*>(features + std::int64_t{ref.row} * width + column));
    }
    return raw;
  }
  /// For the first reading of a row, and for later ones.
  __device__ void first_values(const Raw& raw, RowRef, std::int64_t, float (&values)[8]) const { unpack(raw, values); }
  __device__ void values_again(const Raw& raw, RowRef, std::int64_t, float (&values)[8]) const { unpack(raw, values); }

  __device__ void unpack(const Raw& raw, float (&values)[8]) const {
#pragma unroll
    for (int i = 0; i < 8 / kPack; ++i) {
      float some[kPack];
      P::unpack(raw.words[i], some);
#pragma unroll
      for (int k = 0; k < kPack; ++k) values[i * kPack + k] = std::is_same_v<T, Fp8> ? some[k] * unit : some[k];
    }
  }
};

template <class T, int kPack>
struct TableSource {
  TableRows rows;
  __device__ TableReader<T, kPack> reader() const {
    const FeatureRows& table = rows.features;
    const LocalId count = *rows.hop.num_nodes;
    LastHop hop = rows.hop;
    if (rows.behind == RowsBehind::kAsTheyWere) hop.capacity = min(hop.capacity, std::int64_t{count});
    return {hop, reinterpret_cast<const T*>(table.data), table.near, table.width, count, table.unit};
  }
};

/// @tparam kRelu  LevelRows::kept is there
template <class T, bool kRelu>
struct LevelReader {
  static constexpr int kInFlight = StepMask::kShared;
  static constexpr bool kIsLevel = true, kIsRelu = kRelu;
  using Raw = EightWords<T>;
  TreeGrowth growth;
  const NodeId* nodes;
  const T* z;
  std::int64_t chunks;
  std::uint8_t* kept;
  StepMask mask;
  float scale;
  LocalId count;

  __device__ std::int64_t capacity() const { return growth.capacity; }
  __device__ int num_entries(std::int64_t i) const { return growth.first_child[i + 1] - growth.first_child[i]; }
  __device__ bool has(std::int64_t chunk) const { return chunk < chunks; }
  __device__ RowRef own(std::int64_t i) const { return {nodes[i], static_cast<std::uint32_t>(i)}; }
  __device__ RowRef entry(std::int64_t i, int k) const {
    const auto row = static_cast<std::uint32_t>(count + growth.first_child[i] + k);
    return {nodes[row], row};
  }
  __device__ Raw load(RowRef ref, std::int64_t chunk) const {
    return has(chunk) ? Raw::load(z + (ref.row * chunks + chunk) * 8) : Raw{};
  }
  __device__ void first_values(const Raw& raw, RowRef ref, std::int64_t chunk, float (&values)[8]) const {
    first_values(raw, ref, chunk, kRelu && has(chunk) ? mask.kept(ref.node, chunk) : 0xFF, values);
  }
  /// @param bits  mask.kept() of the row's chunk
  __device__ void first_values(const Raw& raw, RowRef ref, std::int64_t chunk, unsigned bits,
                               float (&values)[8]) const {
    raw.unpack(values);
    if constexpr (kRelu) {
      if (!has(chunk)) return;
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        if (values[c] <= 0) bits &= ~(1U << c);  // so that a value that is not a number stays one
        values[c] = (bits >> c & 1) != 0 ? values[c] * scale : 0.0f;
      }
      kept[ref.row * chunks + chunk] = static_cast<std::uint8_t>(bits);
    }
  }
  __device__ void values_again(const Raw& raw, RowRef ref, std::int64_t chunk, float (&values)[8]) const {
    raw.unpack(values);
    if (has(chunk)) backward(bits_of(ref.row, chunk), values);
  }
  /// Which values of a row the layer passes on, of a chunk that there is.
  __device__ unsigned bits_of(std::int64_t row, std::int64_t chunk) const {
    return kRelu ? kept[row * chunks + chunk] : 0xFFU;
  }
  /// What comes behind z, applied to a row's values or to its gradients.
  __device__ void backward(unsigned bits, float (&values)[8]) const {
    if constexpr (kRelu) keep(bits, scale, values);
  }
};

template <class T, bool kRelu>
struct LevelSource {
  LevelRows rows;
  __device__ LevelReader<T, kRelu> reader() const {
    const StepMask mask = StepMask::of(rows.dropout);
    return {rows.growth, rows.nodes, static_cast<const T*>(rows.z),           rows.width / 8,
            rows.kept,   mask,       mask.is_none() ? 1.0f : mask.mask.scale, *rows.growth.num_nodes};
  }
};

/// launch(TableSource<T, kPack>{rows}) for the widest words that the table's rows consist of.
template <class Launch>
void with_table_source(const TableRows& rows, Launch&& launch) {
  const FeatureRows& features = rows.features;
  if (features.type == FeatureType::kF16) {
    if (is_packable<Half, 8>(features.data, features.width)) return launch(TableSource<Half, 8>{rows});
    if (is_packable<Half, 4>(features.data, features.width)) return launch(TableSource<Half, 4>{rows});
    return launch(TableSource<Half, 1>{rows});
  }
  if (features.type == FeatureType::kFp8) {
    if (is_packable<Fp8, 8>(features.data, features.width)) return launch(TableSource<Fp8, 8>{rows});
    if (is_packable<Fp8, 4>(features.data, features.width)) return launch(TableSource<Fp8, 4>{rows});
    return launch(TableSource<Fp8, 1>{rows});
  }
  if (is_packable<float, 4>(features.data, features.width)) return launch(TableSource<float, 4>{rows});
  launch(TableSource<float, 1>{rows});
}

/// launch(LevelSource<T, kRelu>{rows}); T is the type of the activations.
template <class Launch>
void with_level_source(const LevelRows& rows, Launch&& launch) {
  if (rows.type == ActivationType::kF32)
    return rows.kept != nullptr ? launch(LevelSource<float, true>{rows}) : launch(LevelSource<float, false>{rows});
  rows.kept != nullptr ? launch(LevelSource<Bf16, true>{rows}) : launch(LevelSource<Bf16, false>{rows});
}

}  // namespace salient
