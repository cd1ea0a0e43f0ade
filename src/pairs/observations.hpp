#pragma once
// Missing values, pair by pair: which values each row has, and the cuts and tests by the number of
// columns that a pair shares.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/index_range.hpp"
#include "base/keep_range.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::inline v0::detail {

/// Which values of the rows of a call are there, a bit each; those of y behind those of x.
class present_values {
 public:
  present_values() = default;
  /// Of tables in host memory. Reads them once, in parallel.
  present_values(const pair_tables& tables, index_t least_shared, int threads);

  [[nodiscard]] index_t rows() const { return rows_; }
  [[nodiscard]] index_t cols() const { return cols_; }
  /// The values of row i that are there, a bit each.
  [[nodiscard]] const std::uint64_t* row(index_t i) const {
    return bits_.data() + static_cast<std::size_t>(i * words_);
  }
  /// Columns that rows i and j share.
  [[nodiscard]] index_t shared(index_t i, index_t j) const;
  /// The same of every row with every row of `others`, by `threads` (0: the default).
  [[nodiscard]] matrix<node_id> shared_of(index_range rows, index_range others, int threads) const;
  /// The same of the rows of each edge, whose col counts from row `first`.
  [[nodiscard]] std::vector<node_id> shared_of(std::span<const edge> edges, index_t first,
                                               int threads) const;
  /// Pairs that share least_shared columns share at least so many.
  [[nodiscard]] index_t fewest_shared() const {
    return std::max(least_shared_, 2 * fewest_ - cols_);
  }
  /// And at most so many: where that is more than there are columns, no pair has a statistic.
  [[nodiscard]] index_t most_shared() const { return std::max(cols_, fewest_shared()); }

 private:
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t words_ = 0;
  index_t least_shared_ = 0;
  index_t fewest_ = 0;  // values of a row that has least_shared_
  std::vector<std::uint64_t> bits_;
};

/// A value for each number of columns that a pair can share, made when it is first asked for: most
/// numbers never are, and a table of p takes long to make. `of` is const although it fills a place,
/// since no caller can tell: a value follows from the number alone, is made once, and never
/// changes. Safe to call from several threads.
template <class Value>
class by_observations {
 public:
  by_observations(index_t least, index_t most)
      : least_(least),
        most_(std::max(least, most)),
        slots_(std::make_unique<slot[]>(static_cast<std::size_t>(most_ - least_ + 1))) {}

  [[nodiscard]] index_t least() const { return least_; }
  [[nodiscard]] index_t most() const { return most_; }

  /// `make` gives the same value for a number in every call.
  template <class Make>
  [[nodiscard]] const Value& of(index_t shared, const Make& make) const {
    slot& own = slots_[static_cast<std::size_t>(shared - least_)];
    if (!own.is_made.load(std::memory_order_acquire)) {
      std::call_once(own.once, [&] { own.value = make(shared); });
      own.is_made.store(true, std::memory_order_release);
    }
    return own.value;
  }

 private:
  struct slot {
    std::once_flag once;
    std::atomic<bool> is_made = false;
    Value value{};
  };
  index_t least_;
  index_t most_;
  std::unique_ptr<slot[]> slots_;
};

/// p of the pairs that share n columns, by the test of a measure.
class observation_tests {
 public:
  observation_tests(significance test, index_t least, index_t most, tail side)
      : test_(test), side_(side), tables_(least, most) {}

  [[nodiscard]] index_t least() const { return tables_.least(); }
  [[nodiscard]] index_t most() const { return tables_.most(); }
  [[nodiscard]] tail side() const { return side_; }
  [[nodiscard]] const stats::p_table& table_of(index_t shared) const;
  [[nodiscard]] double p(double statistic, index_t shared) const {
    return stats::p_function{&table_of(shared), side_}(statistic);
  }

 private:
  significance test_;
  tail side_;
  by_observations<std::shared_ptr<const stats::p_table>> tables_;
};

/// What is kept of the pairs that share n columns: a cut of statistics for every n.
class observation_cuts {
 public:
  using maker = std::function<keep_range(index_t shared)>;
  observation_cuts(index_t least, index_t most, maker make)
      : make_(std::move(make)), cuts_(least, most) {}

  [[nodiscard]] index_t least() const { return cuts_.least(); }
  [[nodiscard]] index_t most() const { return cuts_.most(); }
  [[nodiscard]] const keep_range& of(index_t shared) const { return cuts_.of(shared, make_); }

 private:
  maker make_;
  by_observations<keep_range> cuts_;
};

/// What stands for p of a pair without a statistic where p is binned: above every p.
inline constexpr double no_p = 2.0;

}  // namespace gpu::inline v0::detail
