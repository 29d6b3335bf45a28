// workbench/ledger/ledger.h - the append-only record of a run: JSON lines in a hash chain, texts by their hash.
//
// RUN/ledger.jsonl   one record a line: n, kind, at (seconds since 1970), prev (hash of the record before), its facts,
// hash
// RUN/objects/HASH   sources, requests, answers and logs; the name is the SHA-256 of the content
// RUN/best.json      the best kernel so far; RUN/best.cpp, .cu, .ptx or .py a copy of its source, which may be missing
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace salient::workbench {

using Json = nlohmann::json;

/// Of sources, by their languages.
inline constexpr const char* kSourceExtensions[] = {".cpp", ".cu", ".ptx", ".py"};

/// Writes a run's folder. Every record is on disk when append() returns.
class Ledger {
 public:
  /// @throws Error{kUsage} if `folder` has a ledger already, Error{kIo}
  explicit Ledger(const std::filesystem::path& folder);
  /// Goes on with the ledger of `folder`; a last line that was not finished is taken away.
  /// @param records  set to what it holds   @throws Error{kNoInput}, Error{kBadData}
  Ledger(const std::filesystem::path& folder, std::vector<Json>& records);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Adds n, kind, at, prev and hash to `facts`. @throws Error{kIo}
  void append(const std::string& kind, Json facts);
  /// Stores a text once. @return its hash, or "" for an empty text
  std::string put(const std::string& text);
  /// Replaces best.json and best.EXTENSION, one of kSourceExtensions, each by one rename; those of others go.
  void set_best(const Json& facts, const std::string& source, const std::string& extension);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void lock();  ///< one writer at a time

  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::size_t next_ = 0;
  std::string last_hash_;
};

/// Hash of a record: of its JSON text with sorted keys and without the field "hash".
std::string hash_of_record(const Json& record);

/// The records of a text, checked: JSON objects, numbers ascending, chain unbroken.
/// @param name  for messages   @throws Error{kBadData} "NAME:LINE: rule"
std::vector<Json> parse_ledger(const std::string& text, const std::string& name);

/// The records of RUN/ledger.jsonl, and that every text they name is there and has its hash.
/// @throws Error{kNoInput}, Error{kBadData}
std::vector<Json> load_ledger(const std::filesystem::path& folder);

/// The first record alone: what the run is. @throws Error{kNoInput}, Error{kBadData}
Json first_record(const std::filesystem::path& folder);

/// A field of a record; "" if it is not there. @throws Error{kBadData} if it is no text
std::string text_of(const Json& record, const char* key);
/// Likewise; 0 if it is not there. @throws Error{kBadData} if it is no whole number
int number_of(const Json& record, const char* key);

/// That best.json and the best source, if it is there, are those of the last record of kind "best".
/// @throws Error{kNoInput}, Error{kBadData}
void verify_best(const std::filesystem::path& folder, const std::vector<Json>& records);

/// A text by hash; "" for "". @throws Error{kNoInput}, Error{kBadData} if its content has another hash
std::string read_object(const std::filesystem::path& folder, const std::string& hash);

}  // namespace salient::workbench
