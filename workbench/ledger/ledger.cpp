// workbench/ledger/ledger.cpp - see ledger.h.
#include "workbench/ledger/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/ledger/sha256.h"

namespace salient::workbench {
namespace {

constexpr std::uint64_t kMaxLedger = std::uint64_t{64} << 20;

/// JSON text whatever bytes the strings have: what is no UTF-8 is replaced.
std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool is_hash(const std::string& text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void replace_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path part = path.string() + ".part";
  (void)std::filesystem::remove(part);
  (void)write_text_file(part, text);
  std::filesystem::rename(part, path);
}

long long now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Ledger::Ledger(const std::filesystem::path& folder) : folder_(folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder_ / "objects", ignored);
  const std::filesystem::path path = folder_ / "ledger.jsonl";
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && errno == EEXIST)
    fail(ErrorKind::kUsage, folder_.string() + ": has a ledger already", Topic::kRunDirectory);
  if (descriptor_ < 0) fail_with_errno(path, "create");
  lock();
}

Ledger::Ledger(const std::filesystem::path& folder, std::vector<Json>& records) : folder_(folder) {
  const std::filesystem::path path = folder_ / "ledger.jsonl";
  const std::string text = read_text_file(path, kMaxLedger);
  const std::size_t whole = text.rfind('\n') + 1;  // 0 if there is none
  descriptor_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) fail_with_errno(path, "open");
  lock();
  if (whole < text.size() && ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) fail_with_errno(path, "shorten");
  records = load_ledger(folder_);
  next_ = records.size();
  last_hash_ = records.back()["hash"].get<std::string>();
}

void Ledger::lock() {
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
    fail(ErrorKind::kUsage, folder_.string() + ": another process works on this run", Topic::kRunDirectory);
}

Ledger::~Ledger() { (void)close(descriptor_); }

void Ledger::append(const std::string& kind, Json facts) {
  facts["n"] = next_;
  facts["kind"] = kind;
  facts["at"] = now();
  facts["prev"] = last_hash_;
  facts = Json::parse(dump(facts));  // as it will be read again, also where a string was no UTF-8
  facts["hash"] = hash_of_record(facts);
  const std::string line = dump(facts) + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t got = write(descriptor_, line.data() + sent, line.size() - sent);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(folder_ / "ledger.jsonl", "write");
    sent += static_cast<std::size_t>(got);
  }
  if (fsync(descriptor_) != 0) fail_with_errno(folder_ / "ledger.jsonl", "fsync");
  last_hash_ = facts["hash"].get<std::string>();
  ++next_;
}

std::string Ledger::put(const std::string& text) {
  if (text.empty()) return {};
  const std::string hash = sha256(text);
  const std::filesystem::path path = folder_ / "objects" / hash;
  if (!std::filesystem::exists(path)) replace_file(path, text);
  return hash;
}

void Ledger::set_best(const Json& facts, const std::string& source, const std::string& extension) {
  for (const char* other : kSourceExtensions)
    if (other != extension) (void)std::filesystem::remove(folder_ / (std::string("best") + other));
  replace_file(folder_ / ("best" + extension), source);
  replace_file(folder_ / "best.json", facts.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string hash_of_record(const Json& record) {
  Json rest = record;
  rest.erase("hash");
  return sha256(dump(rest));
}

std::vector<Json> parse_ledger(const std::string& text, const std::string& name) {
  std::vector<Json> records;
  std::string prev;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, to - from);
    from = to + 1;
    const auto refuse = [&](const char* rule) {
      fail(ErrorKind::kBadData, name + ":" + std::to_string(records.size() + 1) + ": " + rule);
    };
    Json record = Json::parse(line, nullptr, false);
    if (!record.is_object()) refuse("not a JSON object");
    const auto is_text = [&](const char* key) { return record.contains(key) && record[key].is_string(); };
    if (!is_text("kind") || !is_text("prev") || !is_text("hash")) refuse("a record has kind, prev and hash");
    if (!record.contains("n") || record["n"] != records.size()) refuse("records are numbered from 0");
    if (record["prev"].get<std::string>() != prev)
      refuse("the chain is broken: a record was changed, added or taken away");
    prev = record["hash"].get<std::string>();
    if (hash_of_record(record) != prev) refuse("the record was changed: its hash differs");
    records.push_back(std::move(record));
  }
  if (records.empty()) fail(ErrorKind::kBadData, name + ": no record");
  return records;
}

std::string read_object(const std::filesystem::path& folder, const std::string& hash) {
  if (hash.empty()) return {};
  if (!is_hash(hash))
    fail(ErrorKind::kBadData, folder.string() + ": the ledger names a text by '" + hash.substr(0, 16) + "'");
  std::string text = read_text_file(folder / "objects" / hash);
  if (sha256(text) != hash)
    fail(ErrorKind::kBadData, (folder / "objects" / hash).string() + ": the content was changed");
  return text;
}

Json first_record(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "ledger.jsonl";
  const std::string text = read_text_file(path, kMaxLedger);
  return parse_ledger(text.substr(0, text.find('\n')), path.string()).front();
}

std::string text_of(const Json& record, const char* key) {
  if (!record.contains(key)) return {};
  if (!record[key].is_string()) fail(ErrorKind::kBadData, std::string("a record's '") + key + "' is no text");
  return record[key].get<std::string>();
}

int number_of(const Json& record, const char* key) {
  if (!record.contains(key)) return 0;
  if (!record[key].is_number_integer() || record[key] < 0 || record[key] > INT32_MAX)
    fail(ErrorKind::kBadData, std::string("a record's '") + key + "' is no whole number");
  return record[key].get<int>();
}

std::vector<Json> load_ledger(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "ledger.jsonl";
  std::vector<Json> records = parse_ledger(read_text_file(path, kMaxLedger), path.string());
  for (const Json& record : records)
    for (const char* key : {"request", "answer", "source", "start", "case_text", "prompts", "against", "log"})
      if (record.contains(key) && record[key].is_string()) (void)read_object(folder, record[key].get<std::string>());
  return records;
}

namespace {

/// x of the start kernel; 0 where that is not said.
double factor_of(const Json& json) {
  const auto found = json.find("of_start");
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

void verify_best(const std::filesystem::path& folder, const std::vector<Json>& records) {
  std::string source = text_of(records.front(), "start");
  int candidate = 0;
  double of_start = 1;
  for (const Json& record : records)
    if (record["kind"] == "best") {
      of_start = factor_of(record);
      source = text_of(record, "source");
      candidate = number_of(record, "candidate");
    }
  const std::filesystem::path path = folder / "best.json";
  const Json best = Json::parse(read_text_file(path), nullptr, false);
  if (!best.is_object() || number_of(best, "candidate") != candidate || factor_of(best) != of_start)
    fail(ErrorKind::kBadData, path.string() + ": not the best of the ledger");
  for (const char* extension : kSourceExtensions) {
    const std::filesystem::path copy = folder / (std::string("best") + extension);
    if (std::filesystem::exists(copy) && sha256(read_text_file(copy)) != source)
      fail(ErrorKind::kBadData, copy.string() + ": not the best source of the ledger");
  }
}

}  // namespace salient::workbench
