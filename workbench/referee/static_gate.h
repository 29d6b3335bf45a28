// workbench/referee/static_gate.h - what a candidate's text, object file or PTX must not contain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"

namespace salient::workbench {

// Each returns the reason to reject, one line, or nothing.

/// Of a source as it is written: includes off the list, inline assembly of the host, attributes, pragmas, pasted
/// tokens, macros in place of the language's own words, and other ways round this gate.
std::optional<std::string> reject_text(const std::string& source, BackendKind backend);

/// Of a source in another language, which a gate of its own reads: characters that hide what it says.
std::optional<std::string> reject_characters(const std::string& source);

/// Likewise of a candidate of the host as the preprocessor leaves it: what macros make is seen here.
std::optional<std::string> reject_preprocessed(const std::string& text);

/// Headers that a source includes, with their brackets or quotes, in their order, each once.
/// @throws Error{kBadData} for what reject_text() refuses to read
std::vector<std::string> included_headers(const std::string& source);

/// Whether the name means something to the language, its compilers or this workbench: no macro may replace it.
bool is_reserved(std::string_view name);

/// Compiled files of more than 64 MiB, which nothing here reads.
std::optional<std::string> reject_size(const std::filesystem::path& compiled);

enum class LibraryKind : std::uint8_t { kPlain, kSanitized };

/// Of a shared library of the host back end, by its program headers and its dynamic section, which are all that the
/// loader reads: writable memory (a planted cache), code that runs at load time, calls outside of the arithmetic
/// library, relocations out of place. A sanitized one may have memory of its own and one function at load time, both
/// of AddressSanitizer.
/// @throws Error{kBadData} if the file is no ELF library of this machine
std::optional<std::string> reject_library(const std::filesystem::path& library, LibraryKind kind);

/// Module variables above one byte, calls of printf, malloc and the like, clocks, sleeps, entries whose parameters do
/// not fit. @param num_parameters  64-bit parameters that each launched entry must have
std::optional<std::string> reject_ptx(const std::string& ptx, const Candidate& candidate, std::size_t num_parameters);

/// Of the cubin that is run, whatever language and compiler it is from, by its sections and symbols alone: memory of
/// the module, functions from outside of it, launched kernels that are not there, have other parameters, or do not say
/// their threads where the compiler chooses them.
/// @param cubin  contents of the file
std::optional<std::string> reject_cubin(const std::string& cubin, const Candidate& candidate,
                                        std::size_t num_parameters);

/// Whether threads are said neither by a launch line nor by its warps.
bool has_threads_of_compiler(Language language);

/// Threads of a block, by kernel, as the compiler of a cubin fixed them (.reqntid).
/// @throws Error{kBadData} if the contents are no cubin
std::map<std::string, std::int64_t> threads_of_cubin(const std::string& cubin);

/// Of a cubin whose compiler gives no PTX, by its instructions: clocks, counters, sleeps, addresses of the module's
/// memory, calls outside of it, lines that are to outlive a launch in the second-level cache.
/// @param sass  what nvdisasm prints of it
std::optional<std::string> reject_sass(const std::string& sass, const Candidate& candidate);

}  // namespace salient::workbench
