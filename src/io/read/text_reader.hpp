#pragma once
// Text tables, read by all cores.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/row_reader.hpp"
#include "io/table.hpp"
#include "io/text/text_layout.hpp"
#include "io/text/text_segment.hpp"

namespace gpu::io {

struct block_values;
struct value_range;

/// The rows of the text that a source delivers, a block of lines at a time.
class text_rows final : public row_reader {
 public:
  /// Reads the first lines. `file` is named in errors.
  text_rows(std::unique_ptr<line_source> source, const read_options& options,
            const std::string& file);
  std::optional<table> next() override;
  table rest() override;

 private:
  [[nodiscard]] found_layout layout_of(std::string_view text, const text_options& options) const;
  [[noreturn]] void refuse_returns(input_position where) const;
  [[nodiscard]] std::string column_text(index_t field) const;
  [[nodiscard]] std::string other_readings(input_position where) const;
  void take_sample_lines();
  void take_block();
  void keep_whole_records();
  void leave_rows_out();
  static bool has_breaks_in_quotes(const block_values& read);
  block_values read_records();
  block_values read_lines(value_range& range, table& out);
  void check_rows() const;

  std::unique_ptr<line_source> source_;
  std::string file_;
  int threads_;
  bool has_returns_alone_ = false;  // \r and no \n: an old line ending
  std::string_view block_;          // of the source, not read yet; empty at the end
  std::string sample_;              // of several blocks, where one does not hold it
  std::string joined_;              // where the block is not one of the source
  std::string carried_;             // the begin of a record that the next block goes on with
  text_layout layout_;
  record_breaks breaks_ = record_breaks::every_line;  // until one is found in quotes
  index_t may_be_header_ = 0;  // the first line, taken for a row by the rule of names; else 0
  index_t lines_before_ = 0;   // lines in front of the block
  index_t rows_ = 0;           // read so far
  row_range chosen_;           // what is read of them
  index_t seen_ = 0;           // rows that were read or left out, where some are chosen
  bool is_behind_ = false;     // all that are chosen were seen
};

}  // namespace gpu::io
