// tests/fuzz/dataset_json_fuzz.cpp - any bytes as dataset.json: refused, or equal after writing and reading.
#include "store/store_manifest.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  StoreManifest manifest;
  manifest.name = "a \"name\"\n\u00e4";
  manifest.num_nodes = 3;
  manifest.num_edges = 4;
  manifest.source_kind = "edges";
  manifest.created_by = "salient-prepare 0.1.0";
  for (const char* file : {"indptr.npy", "indices.npy", "labels.npy", "train.npy", "valid.npy", "test.npy"})
    manifest.files[file] = {4100, 0x0123456789ABCDEF};
  StoreManifest multi_label = manifest;
  multi_label.task = Task::kMultiLabel;
  multi_label.num_classes = 112;
  StoreManifest sparse = manifest;
  sparse.feature_layout = FeatureLayout::kCsr;
  sparse.feature_dim = 60'000;
  for (const char* file : {"feature_begin.npy", "feature_columns.npy", "feature_values.npy"}) sparse.files[file] = {};
  StoreManifest fp8 = manifest;
  fp8.feature_type = FeatureType::kFp8;
  fp8.fp8_scale = 0.25F;
  StoreManifest typed = manifest;
  typed.types = {.node_types = {{.name = "a", .count = 2}, {.name = "b", .count = 1, .features = {.dim = 2}}},
                 .relations = {{.src = 0, .dst = 1, .name = "r", .num_entries = 2},
                               {.src = 1, .dst = 0, .name = "rev_r", .num_entries = 2, .reverse_of = 0}}};
  typed.files["features.1.npy"] = {};
  return {manifest_text(manifest),
          manifest_text(typed),
          manifest_text(multi_label),
          manifest_text(sparse),
          manifest_text(fp8),
          R"({"format": "salient dataset", "files": {"a": [1, {"b": 2}]}})",
          "{\"a\":" + std::string(100, '[')};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  (void)fuzz::succeeds([&] {
    const StoreManifest manifest = parse_manifest({reinterpret_cast<const char*>(data), size}, "dataset.json");
    for (const auto& [name, digest] : manifest.files)
      fuzz::claim(name.find('/') == std::string::npos && name != "..", "file names stay in the folder");
    fuzz::claim(parse_manifest(manifest_text(manifest), "again") == manifest, "written and read again it is the same");
  });
  return 0;
}
