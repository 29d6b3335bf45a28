// store/dataset_sharing.cpp - see dataset_sharing.h.
#include "store/dataset_sharing.h"

#include <memory>
#include <span>

#include "store/dataset_arrays.h"
#include "store/schema_fields.h"
#include "store/shared_arrays.h"

namespace salient {

std::string describe_shared(const Dataset& dataset, const SharedMemory& memory) {
  SharedArrays::Json text = {{"fingerprint", dataset.fingerprint}};
  visit_facts(dataset.facts(), [&](const char* name, const auto& fact) { text["facts"][name] = fact; });
  visit_arrays(dataset, {}, [&](const DatasetArray& array, const auto& items) {
    text["arrays"][array.name] = SharedArrays::describe(items, memory);
  });
  return text.dump();
}

Dataset map_described(const std::string& description) {
  const auto text = SharedArrays::Json::parse(description);
  const auto arrays = std::make_shared<SharedArrays>();
  Dataset dataset;
  dataset.fingerprint = text["fingerprint"];
  visit_facts(dataset.facts(), [&](const char* name, auto& fact) { text["facts"][name].get_to(fact); });
  visit_arrays(dataset, {}, [&]<class T>(const DatasetArray& array, std::span<const T>& items) {
    items = arrays->map<T>(text["arrays"][array.name]);
  });
  complete(dataset);
  dataset.storage = arrays;
  return dataset;
}

}  // namespace salient
