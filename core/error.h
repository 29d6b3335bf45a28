// core/error.h - the one exception type, the two functions that throw it, and what main() prints.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace salient {

/// Who has to act, as the exit code of the process. Values follow sysexits.h where it has one.
enum class ErrorKind {
  kDiverged = 1,       ///< training failed: the loss is not a number
  kUsage = 2,          ///< option or configuration; the message names it and what is allowed
  kBadData = 65,       ///< a file has the wrong content; the message names file, record and rule
  kNoInput = 66,       ///< a file is missing
  kNoDevice = 69,      ///< no usable GPU
  kInternal = 70,      ///< our own contract is broken: please report
  kHostMemory = 71,    ///< the message has the bytes
  kDeviceMemory = 72,  ///< likewise
  kIo = 74,            ///< read or write failed, disk full
  kComm = 75,          ///< a peer or the network failed; starting again may help
};

/// What an error is about. A library states facts; a program, which knows the options that change them, adds advice.
enum class Topic {
  kNone,
  kTrainingMemory,   ///< what a run needs in all: batches, activations, parameters
  kBatch,            ///< the size of one batch: its memory, its edges
  kDevice,           ///< the choice between CPU and GPU
  kDeviceFeatures,   ///< feature rows in GPU memory
  kDeviceGraph,      ///< the graph in GPU memory
  kActivations,      ///< where exact inference keeps a layer's results
  kScratch,          ///< the file in which it may keep them
  kCommBackend,      ///< the choice between NCCL, MPI and a single rank
  kCommTimeout,      ///< how long ranks wait for each other
  kLearningRate,     ///< a loss that is not finite
  kRocAuc,           ///< a metric that the labels do not allow
  kRunDirectory,     ///< a run directory that exists, or that is missing
  kOutputExists,     ///< an output folder with earlier results
  kOutputForeign,    ///< an output folder with something else in it
  kMissingDataset,   ///< a data set that is not there
  kPrepareMemory,    ///< memory that preparation may use
  kHalfRange,        ///< features beyond the range of f16
  kEdgeColumns,      ///< which columns of an edge file are the edge
  kNodeIds,          ///< ids that are text where numbers are expected
  kLabelColumn,      ///< which column of a table of nodes is the label
  kTableColumn,      ///< what a column of a table of nodes means
  kHeader,           ///< whether the first line of a table has the names of its columns
  kParts,            ///< the parts of a data set, one for each rank
  kDamagedStore,     ///< files of a store that break its rules
  kMissingSplit,     ///< a data set without training, validation and test nodes
  kMissingFeatures,  ///< a data set whose nodes have no features
  kSourceFolder,     ///< the folder of a foreign data set
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, Topic topic = Topic::kNone)
      : std::runtime_error(what), kind_(kind), topic_(topic) {}
  ErrorKind kind() const noexcept { return kind_; }
  Topic topic() const noexcept { return topic_; }

 private:
  ErrorKind kind_;
  Topic topic_;
};

/// For what the world got wrong. `what` is one line of facts, without any option of a program: what, where, which rule.
[[noreturn]] inline void fail(ErrorKind kind, const std::string& what, Topic topic = Topic::kNone) {
  throw Error(kind, what, topic);
}

/// What a program advises on an error, from apps/advice.h; null or "" = nothing.
using Advice = const char* (*)(ErrorKind kind, Topic topic);

/// The caller's file and line. Stands in for std::source_location, which clang 14 cannot use with libstdc++ 12.
struct Spot {
  const char* file;
  int line;
  static constexpr Spot here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

/// For what we got wrong: throws Error{kInternal}. On in every build, so keep it out of inner loops. `rule` says what
/// must hold; it is a literal, so that a check that holds costs nothing.
inline void require(bool holds, const char* rule, Spot spot = Spot::here()) {
  if (!holds) [[unlikely]]
    fail(ErrorKind::kInternal, std::string(spot.file) + ":" + std::to_string(spot.line) + ": broken rule: " + rule);
}

/// An exception as kind, topic and one line. For std::bad_alloc, and what LibTorch throws for it, kHostMemory.
Error as_error(const std::exception_ptr& exception);

/// Prints "program: error: what; advice" to standard error. @return the exit code.
int report(const char* program, const Error& error, Advice advice = nullptr) noexcept;

/// For main() alone, inside `catch (...)`: the same for the current exception.
int report_current_exception(const char* program, Advice advice = nullptr) noexcept;

}  // namespace salient
