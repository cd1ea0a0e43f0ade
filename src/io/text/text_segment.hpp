#pragma once
// One piece of a text table, read by one thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/table.hpp"
#include "io/text/text_layout.hpp"
#include "io/text/value_arena.hpp"

namespace gpu::io {

/// What is wrong with a line, and where in the segment.
struct segment_error {
  input_position where;        // the line is counted from the segment's first
  std::string what;            // of a field: what was got, ...
  std::string behind{};        // ... and behind its place, what was expected
  bool is_open_quote = false;  // a line break in quotes, where lines were taken for records
};

/// What ends a record: any line break, or only one that is not in quotes, which takes longer to
/// find.
enum class record_breaks { every_line, outside_quotes };

/// The numbers of some lines, in the narrowest type that holds them.
struct text_segment {
  std::variant<std::span<std::int8_t>, std::span<std::uint8_t>, std::span<std::int16_t>,
               std::span<std::uint16_t>, std::span<std::int32_t>, std::span<double>>
      values;  // in the arena
  index_t rows = 0;
  index_t lines = 0;    // blank ones too
  index_t missing = 0;  // values that are NaN
  std::int32_t smallest = 0;
  std::int32_t largest = 0;
  row_names names;
  std::optional<input_position> first_nan;  // the line is counted from the segment's first
  std::optional<segment_error> error;       // then the rest of the segment is not read
};

/// Reads text segments; keeps its buffers from one to the next.
class segment_reader {
 public:
  /// `text`: all that may be looked at, which the segments are parts of; it and `layout` outlive
  /// the reader. `arena` takes the values, at most `most_value_bytes` a character of text: a
  /// missing value takes no more than its separator.
  segment_reader(std::string_view text, const text_layout& layout, record_breaks breaks,
                 value_arena& arena)
      : text_(text),
        layout_(layout),
        breaks_(breaks),
        has_plain_values_(layout.values.are_plain()),
        has_fast_lines_(layout.roles.empty() && layout.values.missing_numbers.empty()),
        arena_(arena) {}
  static constexpr std::size_t most_value_bytes = sizeof(double);
  [[nodiscard]] text_segment read(std::string_view lines);

 private:
  const char* read_fast(const char* line, const char* end);
  std::string_view take_name(std::string_view line, std::string_view& name);
  [[nodiscard]] std::size_t record_size(std::string_view rest) const;
  void read_with_care(std::string_view record);
  enum class column_roles { plain, chosen };
  template <column_roles Roles>
  bool add_fields(field_cursor& cursor, index_t& column, index_t& values);
  bool add_name(std::string_view field, index_t column);
  bool add(std::string_view field, index_t column);
  void add_real(double value, index_t column);
  [[nodiscard]] bool is_without_text(std::string_view record) const;
  void refuse(std::string_view field, index_t column);
  void fail(index_t column, std::string what, std::string behind = {});
  void store_values();

  std::string_view text_;
  const text_layout& layout_;
  record_breaks breaks_;
  bool has_plain_values_;
  bool has_fast_lines_;
  value_arena& arena_;
  text_segment segment_;
  // Values are collected here: integers, until the first value that is none.
  std::vector<std::int32_t> integers_;
  std::size_t integer_count_ = 0;
  std::vector<double> reals_;
  bool is_real_ = false;
};

}  // namespace gpu::io
