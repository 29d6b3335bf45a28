// prepare/importers/id_table.cpp - see id_table.h.
#include "prepare/importers/id_table.h"

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/field_values.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/name_map.h"
#include "store/graph_schema.h"

namespace salient {

NameTable read_id_table(const std::filesystem::path& path, const MemoryLimit& memory) {
  LineReader reader(path);
  NameMap names(memory);
  std::vector<std::uint64_t> numbers;  // of the names in the order of the lines
  std::optional<std::uint64_t> said;
  std::string_view line;
  while (reader.next(line)) {
    if (line.empty()) continue;
    std::uint64_t number = 0;
    if (reader.line_number() == 1 && parse_number(line, number)) {
      said = number;
      continue;
    }
    const std::size_t at = line.find_last_of("\t ");
    if (at == std::string_view::npos || !parse_number(line.substr(at + 1), number))
      fail_at_line(path, reader.line_number(), line, "expected a name, a tab and a number");
    if (!is_relation_name(line.substr(0, at)))
      fail_at_line(path, reader.line_number(), line, "the name is empty, too long, or has a control character");
    if (names.add(line.substr(0, at)) != numbers.size())
      fail_at_line(path, reader.line_number(), line, "this name has a line already");
    numbers.push_back(number);
  }
  if (said && *said != numbers.size())
    fail(ErrorKind::kBadData, path.string() + ": line 1 says " + std::to_string(*said) + " names, there are " +
                                  std::to_string(numbers.size()));
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  memory.check(numbers.size() * sizeof(std::uint64_t), path.string());
  std::vector<std::uint64_t> name_of(numbers.size(), kNone);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= numbers.size() || name_of[numbers[i]] != kNone)
      fail(ErrorKind::kBadData, path.string() + ": the number of " + in_quotes(names.names()[i]) + " is " +
                                    std::to_string(numbers[i]) + "; numbers are 0 to " +
                                    std::to_string(numbers.size() - 1) + ", each once");
    name_of[numbers[i]] = i;
  }
  NameTable ordered;
  for (const std::uint64_t i : name_of) ordered.append(names.names()[i]);
  return ordered;
}

}  // namespace salient
