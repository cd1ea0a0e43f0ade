#pragma once
// Text tables: numbers separated by spaces, tabs or commas, read by all cores.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/row_source.hpp"
#include "io/table.hpp"
#include "io/text/text_layout.hpp"

namespace gpu::io {

struct block_values;
struct value_range;

/// The rows of the text that a source delivers, a block of lines at a time.
class text_rows final : public row_source {
 public:
  /// Reads the first lines. `file` is named in errors.
  text_rows(std::unique_ptr<line_source> source, const read_options& options,
            const std::string& file);
  [[nodiscard]] index_t cols() const override { return layout_.cols; }
  [[nodiscard]] std::optional<index_t> rows() const override { return std::nullopt; }
  [[nodiscard]] bool names_rows() const override { return layout_.row_names; }
  [[nodiscard]] bool is_float() const override { return false; }
  [[nodiscard]] const column_names& columns() const override { return columns_; }
  [[nodiscard]] const table_reading& reading() const override { return reading_; }
  std::optional<table> next() override;
  table rest() override;

 private:
  void take_sample_lines();
  block_values read_lines(value_range& range, table& out);

  std::unique_ptr<line_source> source_;
  std::string file_;
  int threads_;
  std::string_view block_;  // of the source, not read yet; empty at the end
  std::string joined_;      // the first blocks of the source, where one does not tell the layout
  text_layout layout_;
  column_names columns_;
  table_reading reading_;
  index_t lines_before_ = 0;  // lines in front of the block
};

/// Reads the text that `source` delivers; `file` is named in errors.
[[nodiscard]] table read_text(std::unique_ptr<line_source> source, const read_options& options,
                              const std::string& file);

}  // namespace gpu::io
