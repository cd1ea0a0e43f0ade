// Biweight midcorrelation of rows with missing values: both rows of a pair are weighted and scaled
// anew in the columns that they share, one value behind the other without gaps, as complete rows
// are. So the statistic has the bits of a call over these columns alone.
//
// A row is sorted once. The values that a partner misses fall out of the order: the median of the
// others is in its middle, and the distances from it fall up to there and rise behind.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "cpu/pairs/unit/row_sums.hpp"
#include "stats/row_transform.hpp"
#include "stats/shared_columns.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

// Writes the values whose bit of word(w), w in [0, words), is set one behind the other; returns the
// end of what it wrote.
template <class Word>
double* gather(const double* from, index_t words, const Word& word, double* to) {
  for (index_t w = 0; w < words; ++w, from += 64) {
    for (std::uint64_t left = word(w); left != 0; left &= left - 1) {
      *to++ = from[std::countr_zero(left)];
    }
  }
  return to;
}

// How the values of a row are weighted.
struct row_spread {
  double scale;
  detail::biweight weigh;
};

// Of `count` sorted values.
row_spread spread_of(const double* sorted, index_t count) {
  const double scale =
      detail::power_of_two_scale(std::max(std::fabs(sorted[0]), std::fabs(sorted[count - 1])));
  const auto value = [&](index_t place) { return detail::in_scale(sorted[place], scale); };
  const detail::row_median median{value(detail::lower_middle(count)),
                                  value(detail::upper_middle(count))};
  const auto before = [&](index_t place) { return -median.twice_distance(value(place)); };
  const auto behind = [&](index_t place) { return median.twice_distance(value(place)); };
  // The values nearest to the median are neighbours [first, first + more]. Their largest distance
  // is that of an end, and of all such ranges the least of these is asked for: one end falls in
  // `first` and the other rises.
  const index_t more = detail::lower_middle(count);
  const index_t ranges = count - more;
  index_t first = 0;  // of the first range whose last value is at least as far as the first one
  for (index_t left = ranges; left > 0;) {
    const index_t half = left / 2;
    const index_t place = first + half;
    const bool is_before = before(place) > behind(place + more);
    first = is_before ? place + 1 : first;
    left = is_before ? left - half - 1 : half;
  }
  if (first == ranges || (first > 0 && before(first - 1) < behind(first + more))) --first;
  detail::row_median distance{std::max(before(first), behind(first + more)), 0};
  distance.upper = distance.lower;
  if (detail::upper_middle(count) != more) {
    // The next one is on either side.
    const bool has_before = first > 0;
    const bool has_behind = first + more + 1 < count;
    distance.upper = has_before ? before(first - 1) : behind(first + more + 1);
    if (has_before && has_behind) {
      distance.upper = std::min(distance.upper, behind(first + more + 1));
    }
  }
  return {scale, detail::biweight(median, distance)};
}

// Statistics of pairs that were computed, for the passes that follow. Threads that ask for a pair
// at the same time compute the same bits.
class kept_statistics {
 public:
  [[nodiscard]] static std::size_t bytes(index_t rows) {
    return static_cast<std::size_t>(rows * (rows + 1) / 2) * sizeof(double);
  }
  kept_statistics() = default;
  explicit kept_statistics(index_t rows) : values_(bytes(rows) / sizeof(double)) {
    std::memset(values_.data(), 0xff, bytes(rows));
  }

  // The statistic of a pair, or what compute() gives.
  template <class Compute>
  double of(index_t i, index_t j, const Compute& compute) {
    if (values_.size() == 0) return compute();
    const auto [less, more] = std::minmax(i, j);
    std::atomic_ref kept(values_[static_cast<std::size_t>(more * (more + 1) / 2 + less)]);
    const double found = kept.load(std::memory_order_relaxed);
    if (std::bit_cast<std::uint64_t>(found) != unknown) return found;
    const double computed = compute();
    kept.store(computed, std::memory_order_relaxed);
    return computed;
  }

 private:
  static constexpr auto unknown = ~std::uint64_t{0};  // a NaN that no statistic is
  aligned_buffer<double> values_;
};

class pairwise_biweight_rows final : public counted_pairwise_rows {
 public:
  pairwise_biweight_rows(double_rows values, index_t rows, index_t cols, const row_options& options)
      : counted_pairwise_rows(rows, cols, options.what.least_shared),
        stride_(unit_row_stride(cols)),
        values_(std::move(values)),
        sorted_(static_cast<std::size_t>(rows * cols)),
        places_(static_cast<std::size_t>(rows * cols)),
        present_(static_cast<std::size_t>(rows)),
        whole_(static_cast<std::size_t>(rows * stride_)),
        has_whole_(static_cast<std::size_t>(rows)) {
    const int threads = detail::thread_count(options.threads);
    for (int t = 0; t < threads; ++t) orders_.emplace_back(biweight_order_bytes(cols));
    detail::parallel_for(rows, threads, [&](index_t i, int thread) {
      set_bits(i, row(i));
      order_memory& memory = orders_[static_cast<std::size_t>(thread)];
      const index_t there = sort(i, reinterpret_cast<std::uint32_t*>(memory.data()));
      present_[static_cast<std::size_t>(i)] = there;
      has_whole_[static_cast<std::size_t>(i)] =
          make_row(i, bits(i), there, memory.data(), whole_.data() + i * stride_) ? 1 : 0;
    });
    if (take_masks(mask_transformed_bytes(cols), options.mask_bytes)) {
      of_masks_ =
          aligned_buffer<double>(static_cast<std::size_t>(rows * masks().count() * stride_));
      reduce_to_masks(threads);
    } else if (options.selection.sections.size() == 1 && !options.in_windows &&
               kept_statistics::bytes(rows) <= options.mask_bytes) {
      // A table whose passes meet the same pairs.
      kept_ = kept_statistics(rows);
    }
    orders_.clear();
  }

  [[nodiscard]] std::size_t kernel_bytes() const override {
    return pairwise_rows::kernel_bytes() + biweight_scratch_bytes(cols());
  }

 private:
  using order_memory = aligned_buffer<std::byte>;

  [[nodiscard]] const double* row(index_t i) const { return values_.data() + i * cols(); }
  [[nodiscard]] index_t words() const { return (cols() + 63) / 64; }
  [[nodiscard]] index_t place_of(index_t mask, index_t i) const {
    return (mask * size() + i) * stride_;
  }

  // Sorts what row i has, and returns how many values that is. `order` has room for a row.
  index_t sort(index_t i, std::uint32_t* order) {
    const double* const from = row(i);
    index_t count = 0;
    for (index_t k = 0; k < cols(); ++k) {
      if (from[k] == from[k]) order[count++] = static_cast<std::uint32_t>(k);
    }
    std::sort(order, order + count,
              [from](std::uint32_t a, std::uint32_t b) { return from[a] < from[b]; });
    for (index_t p = 0; p < count; ++p) {
      sorted_[static_cast<std::size_t>(i * cols() + p)] = from[order[p]];
      places_[static_cast<std::size_t>(i * cols() + order[p])] = static_cast<std::uint32_t>(p);
    }
    return count;
  }

  // Writes the values of row i that `others` have too, in their order, to `memory`, which has room
  // for biweight_order_bytes.
  const double* shared_in_order(index_t i, const std::uint64_t* others, std::byte* memory) const {
    auto* const sorted = reinterpret_cast<double*>(memory);
    auto* const left = reinterpret_cast<std::uint64_t*>(sorted + stride_);
    const index_t count = present_[static_cast<std::size_t>(i)];
    std::fill_n(left, count / 64, ~std::uint64_t{0});
    std::fill(left + count / 64, left + words(), std::uint64_t{0});
    if (count % 64 != 0) left[count / 64] = (std::uint64_t{1} << (count % 64)) - 1;
    const std::uint32_t* const places = places_.data() + i * cols();
    for (index_t w = 0; w < words(); ++w) {
      for (std::uint64_t gone = bits(i)[w] & ~others[w]; gone != 0; gone &= gone - 1) {
        const std::uint32_t place = places[64 * w + std::countr_zero(gone)];
        left[place / 64] &= ~(std::uint64_t{1} << (place % 64));
      }
    }
    gather(sorted_.data() + i * cols(), words(), [left](index_t w) { return left[w]; }, sorted);
    return sorted;
  }

  // The unit row of row i in the `shared` columns that it has and `others` have; false where it has
  // no statistic there.
  bool make_row(index_t i, const std::uint64_t* others, index_t shared, std::byte* memory,
                double* out) const {
    if (shared < least_shared()) return false;
    const double* const sorted = shared_in_order(i, others, memory);
    if (sorted[0] == sorted[shared - 1]) return false;
    const auto [scale, weigh] = spread_of(sorted, shared);
    const std::uint64_t* const own = bits(i);
    double* const end = gather(row(i), words(), [=](index_t w) { return own[w] & others[w]; }, out);
    if (weigh.reach > 0) {
      for (double* x = out; x < end; ++x) *x = weigh.of(detail::in_scale(*x, scale));
    } else {
      for (double* x = out; x < end; ++x) *x = detail::in_scale(*x, scale);
      take_off_mean(out, shared);
      take_off_mean(out, shared);
    }
    return make_unit_row(usable_pair_kernels(), detail::row_centre::none, out, out, shared) ==
           detail::row_kind::ordinary;
  }

  // Row i in the columns that it shares with `others`: its own row where these are all that it has.
  // Null where it has no statistic there.
  const double* shared_row(index_t i, const std::uint64_t* others, index_t shared,
                           std::byte* memory, double* out) const {
    if (present_[static_cast<std::size_t>(i)] != shared) {
      return make_row(i, others, shared, memory, out) ? out : nullptr;
    }
    return has_whole_[static_cast<std::size_t>(i)] != 0 ? whole_.data() + i * stride_ : nullptr;
  }

  [[nodiscard]] static double dot(const double* x, const double* y, index_t count) {
    double out = 0;
    usable_pair_kernels().ordered_dots(x, 1, y, 1, unit_row_stride(count), &out, 1);
    return out;
  }

  [[nodiscard]] double statistic(index_t i, index_t j, index_t shared, std::byte* memory) const {
    auto* const rows = reinterpret_cast<double*>(memory);
    std::byte* const order = memory + 2 * mask_transformed_bytes(cols());
    const double* const x = shared_row(i, bits(j), shared, order, rows);
    if (x == nullptr) return detail::no_statistic;
    const double* const y = shared_row(j, bits(i), shared, order, rows + stride_);
    return y == nullptr ? detail::no_statistic : detail::clip_correlation(dot(x, y, shared));
  }

  void compute(const pair_tile& tile, const double* counts, std::byte* memory,
               double* out) const override {
    constexpr index_t row_step = pair_policy::block_cols;
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        const index_t at = (i - tile.row_begin) * row_step + j - tile.col_begin;
        const auto shared = static_cast<index_t>(counts[at]);
        out[at] = shared < least_shared()
                      ? detail::no_statistic
                      : kept_.of(i, j, [&] { return statistic(i, j, shared, memory); });
      }
    }
  }

  // Unit rows have a sum of squares of 1, whose root divides a product without a rounding.
  double reduce(index_t i, index_t mask, index_t shared, int thread) override {
    return make_row(i, masks().bits(mask), shared, orders_[static_cast<std::size_t>(thread)].data(),
                    of_masks_.data() + place_of(mask, i))
               ? 1
               : 0;
  }

  void visit_by_masks(const pair_tile& tile, mask_row* rows, double* /*memory*/, double* /*out*/,
                      mask_visitor visit) const override {
    for (index_t r = 0; r < tile.rows(); ++r) {
      const mask_row& own = rows[r];
      const index_t mask = masks().of(own.place);
      for (index_t c = 0; c < tile.cols(); ++c) {
        const index_t j = tile.col_begin + c;
        const index_t other = masks().of(j);
        own.out[c] = detail::no_statistic;
        const index_t shared = masks().shared(mask, other);
        if (shared < least_shared()) {
          visit(r, c, 0);
          continue;
        }
        const double xy = dot(of_masks_.data() + place_of(other, own.place),
                              of_masks_.data() + place_of(mask, j), shared);
        if (may_pass(own, other, own.col_roots[j], xy)) visit(r, c, xy);
      }
    }
  }

  // A row whose square is 0 has no statistic there.
  [[nodiscard]] double decide_anew(index_t, index_t, index_t) const override {
    return detail::no_statistic;
  }

  index_t stride_;
  double_rows values_;                    // [rows, cols], NaN where missing
  aligned_buffer<double> sorted_;         // [rows, cols]: the values that are there
  aligned_buffer<std::uint32_t> places_;  // [rows, cols]: where each of them is in `sorted_`
  std::vector<index_t> present_;          // how many values a row has
  aligned_buffer<double> whole_;          // [rows, stride]: the unit row of all that a row has
  std::vector<std::uint8_t> has_whole_;   // whether it has one
  aligned_buffer<double> of_masks_;       // [masks, rows, stride]
  mutable kept_statistics kept_;
  std::vector<order_memory> orders_;  // of the threads, while the rows are made
};

}  // namespace

std::unique_ptr<pair_rows> make_pairwise_biweight_rows(double_rows values, index_t rows,
                                                       index_t cols, const row_options& options) {
  return std::make_unique<pairwise_biweight_rows>(std::move(values), rows, cols, options);
}

}  // namespace gpu::cpu
