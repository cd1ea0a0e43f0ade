#pragma once
// Rows of equal bytes, grouped in parallel: how the CPU backend folds ranks into patterns.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "pairs/folding/row_patterns.hpp"

namespace gpu::inline v0::detail {

/// Rows of `row_bytes` bytes each, one after the other.
struct byte_rows {
  const std::byte* data;
  std::size_t row_bytes;
  index_t count;
  [[nodiscard]] const std::byte* row(index_t i) const {
    return data + static_cast<std::size_t>(i) * row_bytes;
  }
};

/// A 64-bit hash of each row.
std::vector<std::uint64_t> hash_rows(const byte_rows& rows, int threads);

/// Whether the sample of promises_patterns() takes this hash.
bool is_sampled(std::uint64_t hash);
/// The number of patterns that the sampled ones among these hashes promise; unbiased.
double estimated_patterns(std::span<const std::uint64_t> hashes);
/// Whether `rows` rows of these hashes may be at most `most` patterns, by a sample of many rows:
/// see plan/fold_choice.hpp. Needs those hashes alone that are sampled.
bool promises_patterns(std::span<const std::uint64_t> hashes, index_t rows, double most);

/// Whether two rows are equal; called from several threads, each with its number, from 0 on.
using row_comparison = std::function<bool(node_id, node_id, int thread)>;

/// Groups equal rows exactly: rows of equal hash are compared. Each of the passes takes a part of
/// the hashes. Memory beside the hashes: rows x (16 / passes + 4) bytes.
row_patterns group_equal_rows(const row_comparison& equal, std::vector<std::uint64_t> hashes,
                              int passes, int threads);

/// The patterns of `rows` where they are at most `most_share` of them; a finite share is first
/// compared with a sample of many rows.
std::optional<row_patterns> find_patterns(const byte_rows& rows, double most_share, int threads);

/// Numbers the rows of an input of `input_rows` rows anew: row i of `found` is row original[i] of
/// the input; the others have no pattern.
row_patterns renumber_rows(row_patterns found, std::span<const node_id> original,
                           index_t input_rows);

}  // namespace gpu::inline v0::detail
