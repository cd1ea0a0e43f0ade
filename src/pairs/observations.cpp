#include "pairs/observations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "base/round_up.hpp"
#include "pairs/reading/host_rows.hpp"
#include "pairs/tables.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t word_bits = 64;
constexpr index_t rows_per_task = 256;
constexpr index_t edges_per_task = index_t{1} << 14;

// Bit i: the lowest bit of byte i, of bytes that are 0 or 1.
std::uint64_t bits_of_bytes(std::uint64_t bytes) {
  // Byte i times bit 56 - 7 i of this is bit i of the highest byte of the product.
  constexpr std::uint64_t gather = 0x0102040810204080;
  return bytes * gather >> 56U;
}

// A bit for each of at most 64 values, set where it is not NaN.
template <class T>
std::uint64_t present_bits(const T* values, index_t count) {
  std::array<std::uint8_t, word_bits> is_there{};
  for (index_t k = 0; k < count; ++k) {
    is_there[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(values[k] == values[k]);
  }
  const auto bytes = std::bit_cast<std::array<std::uint64_t, word_bits / 8>>(is_there);
  std::uint64_t out = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) out |= bits_of_bytes(bytes[at]) << (8 * at);
  return out;
}

}  // namespace

present_values::present_values(const pair_tables& tables, index_t least_shared, int threads)
    : rows_(rows_of(tables.x) + (tables.y ? rows_of(*tables.y) : 0)),
      cols_(cols_of(tables.x)),
      words_(ceil_div(cols_, word_bits)),
      least_shared_(least_shared),
      fewest_(cols_) {
  bits_.resize(checked_element_count(rows_, words_, sizeof(std::uint64_t)));
  if (bits_.empty()) return;
  std::mutex mutex;
  const auto add = [&](const auto& table, index_range some, index_t first) {
    index_t fewest = cols_;
    for (index_t i = some.begin; i < some.end; ++i) {
      const auto* const values = table.row(i);
      std::uint64_t* const bits = bits_.data() + static_cast<std::size_t>((first + i) * words_);
      index_t count = 0;
      for (index_t w = 0; w < words_; ++w) {
        const index_t begin = w * word_bits;
        bits[w] = present_bits(values + begin, std::min(word_bits, cols_ - begin));
        count += std::popcount(bits[w]);
      }
      if (count >= least_shared_) fewest = std::min(fewest, count);
    }
    const std::scoped_lock lock(mutex);
    fewest_ = std::min(fewest_, fewest);
  };
  for_each_range_of(tables, rows_per_task * cols_, threads, add);
}

index_t present_values::shared(index_t i, index_t j) const {
  const std::uint64_t* const a = row(i);
  const std::uint64_t* const b = row(j);
  index_t count = 0;
  for (index_t w = 0; w < words_; ++w) count += std::popcount(a[w] & b[w]);
  return count;
}

const stats::p_table& observation_tests::table_of(index_t shared) const {
  return *tables_.of(shared, [this](index_t n) { return stats::p_table_for(test_, n); });
}

matrix<node_id> present_values::shared_of(index_range rows, index_range others, int threads) const {
  matrix<node_id> out(rows.size(), others.size());
  detail::parallel_for(out.rows(), detail::thread_count(threads), [&](index_t i, int) {
    for (index_t j = 0; j < out.cols(); ++j) {
      out(i, j) = static_cast<node_id>(shared(rows.begin + i, others.begin + j));
    }
  });
  return out;
}

std::vector<node_id> present_values::shared_of(std::span<const edge> edges, index_t first,
                                               int threads) const {
  std::vector<node_id> out(edges.size());
  detail::parallel_for_each(
      std::ssize(edges), edges_per_task, detail::thread_count(threads), [&](index_t i, int) {
        const auto e = static_cast<std::size_t>(i);
        out[e] = static_cast<node_id>(shared(index_t{edges[e].row}, first + index_t{edges[e].col}));
      });
  return out;
}

}  // namespace gpu::inline v0::detail
