// apps/advice.cpp - see advice.h.
#include "apps/advice.h"

#include <algorithm>
#include <iterator>

namespace salient {
namespace {

/// One row for each topic: what salient-train, salient-infer and salient-prepare advise. "" = the facts are enough.
/// salient-serve and salient-doctor say what salient-infer does, but for what depends on options that they lack.
struct Row {
  Topic topic;
  const char* train;
  const char* infer;
  const char* prepare;
};

constexpr Row kTable[] = {
    {Topic::kTrainingMemory, "lower --batch-size, --eval-batch-size, --fanout, --hidden, --workers or --slots",
     "lower --batch-size, --fanout, --workers or --slots", "lower --memory-gb"},
    {Topic::kBatch, "lower --batch-size, --eval-batch-size, --fanout or --slots",
     "lower --batch-size, --fanout or --slots", ""},
    {Topic::kDevice, "use --device cpu", "use --device cpu", ""},
    {Topic::kDeviceFeatures, "use --features cached or --features host", "use --features cached or --features host",
     ""},
    {Topic::kDeviceGraph, "use --sampler host or another --graph-gb", "use --sampler host or another --graph-gb", ""},
    {Topic::kActivations, "", "use --activations auto or file, or lower --block-mb or --slots", ""},
    {Topic::kScratch, "", "name another folder with --scratch", ""},
    {Topic::kCommBackend, "use --comm mpi, which needs no GPU, or --comm self for one rank",
     "use --comm mpi, which needs no GPU, or --comm self for one rank", ""},
    {Topic::kCommTimeout, "raise --comm-timeout if the others are only slow",
     "raise --comm-timeout if the others are only slow", ""},
    {Topic::kLearningRate, "lower --lr", "", ""},
    {Topic::kRocAuc, "use --metric accuracy", "", "--target takes numbers that are to be predicted (regression)"},
    {Topic::kRunDirectory, "name a new folder with --out, or continue a run with --resume",
     "name the directory of a run of salient-train with --run", ""},
    {Topic::kOutputExists, "", "--force replaces it, or choose another --out",
     "--force replaces it, or choose another --out"},
    {Topic::kOutputForeign, "", "remove it yourself or choose another --out",
     "remove it yourself or choose another --out"},
    {Topic::kMissingDataset, "make it with salient-prepare", "make it with salient-prepare", ""},
    {Topic::kPrepareMemory, "", "", "raise --memory-gb"},
    {Topic::kHalfRange, "", "use --activation-dtype f32",
     "use --feature-dtype f32, or of edges and typed --scale-features standard"},
    {Topic::kEdgeColumns, "", "call the two columns source and target",
     "choose them with --columns I,J, by name or counted from 0"},
    {Topic::kNodeIds, "", "", "--ids text reads ids of any characters"},
    {Topic::kLabelColumn, "", "choose it with --id-column, NAME or number from 0",
     "choose it with --id-column, --label-column or --label-id-column, NAME or number from 0"},
    {Topic::kTableColumn, "", "",
     "--missing WORD where it means none, --categorical COLUMN for words, --drop-columns COLUMN to leave it out"},
    {Topic::kHeader, "", "", "say which with --header yes or no"},
    {Topic::kParts, "salient-prepare partition makes a part for each rank, and their files of rows with --write-rows",
     "salient-prepare partition makes a part for each rank, and their files of rows with --write-rows", ""},
    {Topic::kDamagedStore, "run salient-prepare verify on it", "run salient-prepare verify on it", ""},
    {Topic::kMissingSplit, "", "--nodes all takes every node", "draw one with --split 0.6,0.2,0.2"},
    {Topic::kMissingFeatures, "prepare it with features, or with salient-prepare's --make-features degree", "",
     "give it features, or make some with --make-features degree, random:64 or positional:32"},
    {Topic::kSourceFolder, "", "", "name another folder with --raw or --source"},
};

const char* advice_of(ErrorKind kind, Topic topic, const char* Row::*program) {
  if (kind == ErrorKind::kNoDevice && topic == Topic::kDeviceFeatures) return "use --features host";  // caches need one
  if (kind == ErrorKind::kNoDevice && topic == Topic::kDeviceGraph) return "use --sampler host";
  const auto row = std::ranges::find(kTable, topic, &Row::topic);
  return row == std::end(kTable) ? "" : (*row).*program;
}

}  // namespace

const char* train_advice(ErrorKind kind, Topic topic) { return advice_of(kind, topic, &Row::train); }
const char* infer_advice(ErrorKind kind, Topic topic) { return advice_of(kind, topic, &Row::infer); }
const char* prepare_advice(ErrorKind kind, Topic topic) { return advice_of(kind, topic, &Row::prepare); }

const char* serve_advice(ErrorKind kind, Topic topic) {
  switch (topic) {
    case Topic::kDeviceFeatures:
    case Topic::kDeviceGraph: return "use --step eager, or --device cpu";
    case Topic::kTrainingMemory:
    case Topic::kBatch: return "lower --fanout or --workers";
    case Topic::kDevice:
    case Topic::kRunDirectory:
    case Topic::kMissingDataset:
    case Topic::kDamagedStore: return infer_advice(kind, topic);
    default: return "";
  }
}

const char* doctor_advice(ErrorKind kind, Topic topic) {
  switch (topic) {
    case Topic::kCommTimeout:
    case Topic::kMissingDataset:
    case Topic::kDamagedStore: return infer_advice(kind, topic);
    default: return "";
  }
}

}  // namespace salient
