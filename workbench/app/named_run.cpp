// workbench/app/named_run.cpp - see named_run.h.
#include "workbench/app/named_run.h"

#include "workbench/ledger/archive.h"

namespace salient::workbench {

NamedRun::NamedRun(const std::string& word, const KernelOptions& options) : folder_(word) {
  if (std::filesystem::exists(folder_)) return;
  const std::filesystem::path named = folder_.has_filename() ? folder_ : folder_.parent_path();  // "NAME/"
  const bool is_name = !named.has_parent_path();
  const std::filesystem::path results = is_name ? workbench_folder(options) / "results" : named.parent_path();
  if (is_name && std::filesystem::is_directory(results / named)) {
    folder_ = results / named;
  } else if (std::filesystem::exists(results / kArchiveName)) {
    unpacked_.emplace();
    folder_ = RunArchive(results).unpack(named.filename().string(), unpacked_->path());
  }
}

}  // namespace salient::workbench
