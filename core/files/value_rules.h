// core/files/value_rules.h - what a value of a foreign file means to us: one table of rules for all readers.
//
//   value                   an id            a class              one of several labels   a mask
//   whole number from 0     itself           below 2^20: itself   0 and 1: no and yes     0 and 1: out and in
//   bool                    refused          0 or 1               no or yes               out or in
//   -1; other negative      refused          none; refused        not known; refused      refused
//   fraction, infinity      refused          refused              refused                 refused
//   NaN                     refused          none                 not known               refused
//   a float that stands for several whole numbers, such as 2^24 of float32: refused as an id
//
// Features are converted by prepare/importers/feature_rows.h, which counts what is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/npy.h"

namespace salient {

/// Labels from here on are refused as a mistake.
inline constexpr std::int32_t kLabelLimit = 1 << 20;

/// Each returns null, or the rule that the value breaks, to be read behind "is VALUE, ".
///
/// @param type_bytes  of the float that the value was: 2, 4 or 8; text counts as 8
const char* id_from(double value, int type_bytes, std::uint64_t& id);
const char* label_from(double value, std::int32_t& label);  ///< -1 = none
const char* flag_from(double value, std::int8_t& flag);     ///< 1, 0, or -1 = not known
const char* mask_of(std::int64_t value, bool& is_in);

/// Of errors about labels that break their rule: they do not allow what is asked of them, classes.
inline constexpr Topic kLabelTopic = Topic::kRocAuc;

/// A value of an array as its type has it: "18446744073709551615", "1e-09", "nan". Shortest that reads back.
std::string item_text(const NpyHeader& header, const std::byte* item);

/// The same of a value that convert_to_int64() made of one; the type is of integers or bools.
std::string integer_text(const NpyHeader& header, std::int64_t value);

/// "ARRAY: item 4 is 9, RULE" @throws Error{kBadData}, always
[[noreturn]] void fail_at_item(const std::string& array, std::uint64_t item, const std::string& value,
                               const std::string& rule, Topic topic = Topic::kNone);

/// The rule that an id of no node breaks, with a hint where it is the first behind the last one: "the graph has nodes 0
/// to 4, which count from 0; do the ids count from 1?".
std::string no_node(std::uint64_t id, std::uint64_t num_nodes);

/// Ids of any type of numbers. `raw` may have any alignment.
///
/// @param first  position of raw[0] in the array, for the message    @param array  named in the message
/// @throws Error{kBadData} for the first value that is none, and for bools
/// Cost: as convert_to_int64() for integers
void convert_to_ids(const NpyHeader& header, const std::byte* raw, std::size_t count, std::uint64_t first,
                    const std::string& array, std::uint64_t* out);

/// All values of a file. @throws as convert_to_ids()
std::vector<std::uint64_t> ids_of(const NpyFile& file);

/// Whether a float holds every value of the type as it is: of bools, integers of 16 bits and floats of 32.
bool fits_float(const NpyHeader& header);

}  // namespace salient
