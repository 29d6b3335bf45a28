// core/files/replace_text_file.h - small files that are rewritten while others read them.
#pragma once

#include <filesystem>
#include <string_view>

namespace salient {

/// Writes PATH.tmp, fsyncs it and renames it to `path`, so that a reader sees the old or the new text, also after a
/// crash.
/// Programs that replace the same file at the same time take turns, by a lock on PATH.tmp. What a crash leaves under
/// that name is used up by the next call.
/// @throws Error{kIo}: `path` is as before, and PATH.tmp is removed.
void replace_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace salient
