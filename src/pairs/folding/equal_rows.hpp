#pragma once
// Rows of equal bytes, grouped in parallel: how ranks in host memory are folded into patterns.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gpu/index.hpp>

#include "pairs/folding/row_patterns.hpp"

namespace gpu::inline v0::detail {

/// Rows of `row_bytes` bytes each, one after the other, with a gap of `gap_rows` places in front of
/// row `gap_begin`.
struct byte_rows {
  const std::byte* data;
  std::size_t row_bytes;
  index_t count;
  index_t gap_begin = 0;
  index_t gap_rows = 0;
  [[nodiscard]] index_t place(index_t i) const { return i < gap_begin ? i : i + gap_rows; }
  [[nodiscard]] const std::byte* row(index_t i) const {
    return data + static_cast<std::size_t>(place(i)) * row_bytes;
  }
};

/// Rows that are numbered section by section. Those of one section are folded with each other,
/// never with those of another.
struct fold_sections {
  std::vector<index_t> rows;  ///< Of each section.
  std::size_t own;            ///< The section whose rows meet each other and those of the others.
  bool is_across;             ///< Whether they meet those of the others alone.
  double most_share;          ///< Patterns per row up to which folding pays, on average.

  /// The patterns of each section.
  [[nodiscard]] std::vector<index_t> count(const row_patterns& patterns) const;
  /// Whether these patterns of each section have at most most_share^2 of the pairs of the rows.
  [[nodiscard]] bool pays(std::span<const double> patterns) const;
  /// Whether folding may pay, by a sample of the hashes of all rows. Sections of fewer rows than a
  /// sample needs count as if no row repeated, unless all are small.
  [[nodiscard]] bool promises(std::span<const std::uint64_t> hashes) const;
};

/// A 64-bit hash of each row.
std::vector<std::uint64_t> hash_rows(const byte_rows& rows, int threads);

/// Whether two rows are equal; called from several threads, each with its number, from 0 on.
using row_comparison = std::function<bool(node_id, node_id, int thread)>;

/// The patterns of rows of these hashes, if folding pays. Rows of equal hash are compared. Each of
/// the passes takes a part of the hashes. Memory besides the hashes: rows x (16 / passes + 4)
/// bytes.
std::optional<row_patterns> find_patterns(std::vector<std::uint64_t> hashes,
                                          const row_comparison& equal,
                                          const fold_sections& sections, int passes, int threads);
/// The same of rows in memory.
std::optional<row_patterns> find_patterns(const byte_rows& rows, const fold_sections& sections,
                                          int threads);

/// Numbers the rows of an input of `input_rows` rows anew: row i of `found` is row original[i] of
/// the input; the others have no pattern.
row_patterns renumber_rows(row_patterns found, std::span<const node_id> original,
                           index_t input_rows);

}  // namespace gpu::inline v0::detail
