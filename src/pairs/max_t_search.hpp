#pragma once
// Max-T: shuffles of columns, rows that are shuffled, the largest statistics of shuffled tables,
// and what they say of a pair.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/max_t.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/index_range.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {

/// Fills `out` with permutation `number` of `seed`: Fisher and Yates's shuffle, from the last place
/// down, by SplitMix64 that begins at a hash of both. Every permutation is equally likely.
void shuffle_columns(std::uint64_t seed, index_t number, std::span<index_t> out);

/// What is large, of a statistic.
[[nodiscard]] double magnitude_of(double statistic, tail side);
/// No statistic has a smaller magnitude.
[[nodiscard]] double least_magnitude(tail side);

/// The least adjusted p that so many permutations give.
[[nodiscard]] double least_max_t_p(std::size_t permutations);
/// p of a statistic, and of those of edges. `maxima` descend.
[[nodiscard]] double max_t_p(std::span<const double> maxima, tail side, double statistic);
[[nodiscard]] std::vector<double> max_t_p(std::span<const double> maxima, tail side,
                                          std::span<const edge> edges);
/// The least magnitude whose p is at most `level`, which is not below least_max_t_p; infinity where
/// there is none.
[[nodiscard]] double max_t_cut(std::span<const double> maxima, tail side, double level);

/// A row of a table, and where each of its columns comes from.
struct shuffled_row {
  index_t row;
  std::span<const index_t> columns;
};

class shuffled_rows {
 public:
  /// Of a table in host memory, which outlives this.
  explicit shuffled_rows(const any_table& table) : rows_(table) {}

  [[nodiscard]] index_t rows() const { return rows_.rows(); }
  [[nodiscard]] index_t cols() const { return rows_.cols(); }
  /// How many rows take `bytes` at most; at least one.
  [[nodiscard]] index_t rows_in(std::size_t bytes) const;

  /// `count` rows one behind the other, row r as `row_at(r)` says, which several threads ask at a
  /// time; in the type that rows of the table are read as. They stand until the next call.
  [[nodiscard]] any_table make(index_t count, const std::function<shuffled_row(index_t)>& row_at,
                               int threads);

 private:
  host_rows rows_;
  std::variant<matrix<std::int8_t>, matrix<std::int16_t>, matrix<std::int32_t>,
               matrix<std::uint8_t>, matrix<std::uint16_t>, matrix<float>, matrix<double>>
      memory_;
};

/// All pairs of a table, in place of x, with the rows that are not shuffled.
struct max_t_passes {
  std::function<pair_counts(const any_table& x, const count_sink& sink)> count;
  std::function<pair_summary(const any_table& x, const stream_sink& sink)> stream;
};

/// A *group* is one permutation of the columns of x, and one pass over its rows with those of y. Of
/// one table, which then stands on both sides, it gives two maxima: see gpu/max_t.hpp.
class max_t_search {
 public:
  struct task {
    any_table x;        ///< What is shuffled; outlives the search.
    index_t rows_of_y;  ///< Of one table, its rows.
    bool is_against;    ///< Whether y is another table.
    max_t_options how;
    int threads;
    std::size_t bytes;  ///< Of shuffled rows at a time.
  };

  max_t_search(const task& what, max_t_passes passes);

  /// The maxima, descending.
  [[nodiscard]] std::vector<double> run();
  /// Shuffled tables that are done, of those that are asked for.
  [[nodiscard]] std::uint64_t done() const { return done_; }
  /// Of the last pass.
  [[nodiscard]] const std::string& device() const { return device_; }

 private:
  [[nodiscard]] index_t maxima_per_group() const { return task_.is_against ? 1 : 2; }
  [[nodiscard]] bool is_found(index_t group) const;
  /// Column k of what `group` shuffles is column out[k] of x.
  [[nodiscard]] std::vector<index_t> columns_of(index_t group) const;
  [[nodiscard]] index_t shift_of(index_t group) const;
  /// The statistics of some rows under the first permutation, by their size.
  [[nodiscard]] pair_counts count_sample();
  /// A cut that about so many pairs of a shuffled table reach; 0 where that is any.
  [[nodiscard]] double cut_for(const pair_counts& counts, double pairs) const;
  /// Raises the maxima of `groups` to those of all pairs that reach `least`.
  void sweep(const std::vector<index_t>& groups, double least);
  /// The same of some of the shuffled rows: those of all groups are numbered one behind the other.
  void pass(const std::vector<index_t>& groups, index_range items, double least);
  /// The statistic of row `col` of y with the shuffled row `row` of x.
  void take(index_t group, index_t row, index_t col, double statistic);

  task task_;
  max_t_passes passes_;
  shuffled_rows source_;
  index_t rows_;
  index_t most_rows_;
  std::vector<double> maxima_;
  std::uint64_t done_ = 0;
  std::string device_;
};

}  // namespace gpu::inline v0::detail
