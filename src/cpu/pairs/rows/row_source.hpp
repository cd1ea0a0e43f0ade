#pragma once
// Rows of an input too large to be packed at once: any two ranges of them are packed when asked
// for, straight from the caller's input.

#include <memory>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::cpu {

class pair_rows;

/// Packed rows [begin, end).
struct row_range {
  index_t begin = 0;
  index_t end = 0;
  [[nodiscard]] index_t size() const { return end - begin; }
  [[nodiscard]] bool is_empty() const { return begin == end; }
  friend bool operator==(const row_range&, const row_range&) = default;
};

class row_source {
 public:
  virtual ~row_source() = default;
  /// Number of rows that have a statistic.
  [[nodiscard]] virtual index_t size() const = 0;
  /// Packs the rows of `first` and behind them, as row_layout has it, those of `second`; the places
  /// `asked` are the rows of the first whose pairs are asked for. `original` receives for each
  /// place what row_preparation::original says.
  [[nodiscard]] virtual std::unique_ptr<pair_rows> pack(row_range first, row_range second,
                                                        row_range asked,
                                                        std::vector<node_id>& original) const = 0;
};

}  // namespace gpu::cpu
