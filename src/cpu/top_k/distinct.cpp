// top_k_distinct on the CPU.
//
// As `threshold` of top_k, but what passes the bound goes into a table from value to count and
// first position. The bound is the k-th best distinct value seen so far, and equal values pass, so
// that every occurrence of a value that stays is counted. `sort`: the same without a bound, so
// that every element goes into the table, whose entries are sorted in the end.
#include <bit>
#include <cstring>

#include "base/element_types.hpp"
#include "cpu/top_k/entries.hpp"
#include "cpu/top_k/parts.hpp"
#include "cpu/top_k/top_k.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t most_distinct_samples = 4096;
constexpr index_t elements_per_distinct_sample = 64;

template <class T>
struct counted_value {
  T value;
  index_t first;
  index_t count;
};

// Open addressing with linear probing; grows at half load. Values are never NaN.
template <class T>
class value_table {
 public:
  value_table() : slots_(1024) {}

  /// Adds `count` occurrences, the first of them at `first`. -0.0 and 0.0 are one value.
  void add(T value, index_t first, index_t count) {
    // Runs of equal values, the worst case for memory traffic, end here.
    if (counted_value<T>& last = slots_[last_]; last.count > 0 && last.value == value) {
      merge(last, first, count);
      return;
    }
    last_ = find(value);
    if (slots_[last_].count > 0) {
      merge(slots_[last_], first, count);
      return;
    }
    slots_[last_] = {value, first, count};
    if (2 * ++size_ > slots_.size()) grow();
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] std::vector<counted_value<T>> entries() const {
    std::vector<counted_value<T>> out;
    out.reserve(size_);
    for (const counted_value<T>& slot : slots_) {
      if (slot.count > 0) out.push_back(slot);
    }
    return out;
  }

  void assign(const std::vector<counted_value<T>>& entries) {
    std::fill(slots_.begin(), slots_.end(), counted_value<T>{});
    size_ = 0;
    last_ = 0;
    for (const counted_value<T>& entry : entries) add(entry.value, entry.first, entry.count);
  }

 private:
  static void merge(counted_value<T>& slot, index_t first, index_t count) {
    slot.first = std::min(slot.first, first);
    slot.count += count;
  }

  std::size_t find(T value) const {
    const T key = value == T{} ? T{} : value;  // one hash for both zeros
    std::uint64_t bits = 0;
    std::memcpy(&bits, &key, sizeof(T));
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (slots_[at].count > 0 && slots_[at].value != value) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    const std::vector<counted_value<T>> old = entries();
    slots_.assign(2 * slots_.size(), counted_value<T>{});
    last_ = 0;
    for (const counted_value<T>& entry : old) slots_[find(entry.value)] = entry;
  }

  std::vector<counted_value<T>> slots_;
  std::size_t size_ = 0;
  std::size_t last_ = 0;
};

// Cuts to the best k, in no order; the last of them is the k-th best.
template <class T>
void cut(std::vector<counted_value<T>>& entries, std::size_t k, value_order<T> order) {
  if (entries.size() <= k) return;
  const auto kth = entries.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(entries.begin(), kth, entries.end(),
                   [order](const counted_value<T>& a, const counted_value<T>& b) {
                     return order.better(a.value, b.value);
                   });
  entries.resize(k);
}

// A value that at least k distinct values reach, or nothing where a sample says too little.
template <class T>
std::optional<T> distinct_reach_by_sample(const T* data, index_t n, index_t k,
                                          value_order<T> order) {
  const index_t count = std::min(most_distinct_samples, n / elements_per_distinct_sample);
  if (count < 4 * k) return std::nullopt;
  std::vector<T> sample = sample_values(data, n, count);
  const auto better = [order](T a, T b) { return order.better(a, b); };
  // The top of the sample is sorted alone; where too many of it are equal, all of it.
  for (const index_t top : {4 * k, static_cast<index_t>(sample.size())}) {
    if (static_cast<index_t>(sample.size()) < top) continue;
    const auto end = sample.begin() + static_cast<std::ptrdiff_t>(top);
    std::partial_sort(sample.begin(), end, sample.end(), better);
    std::vector<T> distinct(sample.begin(), end);
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (static_cast<index_t>(distinct.size()) >= k) {
      return distinct[static_cast<std::size_t>(k - 1)];
    }
  }
  return std::nullopt;
}

// The best k distinct values of data[begin, end) with their counts there.
template <class T>
std::vector<counted_value<T>> count_part(const T* data, index_t begin, index_t end, index_t k,
                                         value_order<T> order, std::optional<T> reach,
                                         bool keep_all) {
  const auto kept = static_cast<std::size_t>(k);
  const std::size_t limit = 2 * kept + 4096;
  value_table<T> table;
  std::vector<std::uint64_t> hits(4 * scan_least_room);
  scan_test test = reach ? order.reaches() : scan_test::any;
  T bound = reach.value_or(T{});
  scan_all(data, begin, end, test, bound, hits,
           [&](const std::uint64_t* positions, std::size_t count) {
             for (std::size_t h = 0; h < count; ++h) {
               table.add(data[positions[h]], static_cast<index_t>(positions[h]), 1);
             }
             if (table.size() < limit || keep_all) return;
             std::vector<counted_value<T>> best = table.entries();
             cut(best, kept, order);
             bound = best.back().value;
             test = order.reaches();
             table.assign(best);
           });
  std::vector<counted_value<T>> best = table.entries();
  cut(best, kept, order);
  return best;
}

template <class T>
std::vector<counted_value<T>> count_row(const T* data, index_t n, index_t k, value_order<T> order,
                                        bool keep_all, int threads) {
  const std::optional<T> reach =
      keep_all ? std::nullopt : distinct_reach_by_sample(data, n, k, order);
  auto found = select_in_parts(n, threads, [&](index_t begin, index_t end) {
    return count_part(data, begin, end, k, order, reach, keep_all);
  });
  if (found.size() == 1) return std::move(found.front());
  // A value among the best k of the row is among the best k of every part it occurs in, so the
  // counts of those that remain are complete.
  value_table<T> table;
  for (const auto& part : found) {
    for (const counted_value<T>& entry : part) table.add(entry.value, entry.first, entry.count);
  }
  std::vector<counted_value<T>> best = table.entries();
  cut(best, static_cast<std::size_t>(k), order);
  return best;
}

// All NaN are one value, behind every number.
template <class T>
counted_value<T> count_nans(const T* data, index_t n) {
  counted_value<T> out{};
  for (index_t i = 0; i < n; ++i) {
    if (!is_nan(data[i])) continue;
    if (out.count++ == 0) out.first = i;
  }
  return out;
}

// Memory of a table of so many values while it grows, and of a copy of its entries: at most.
template <class T>
std::size_t table_bytes(std::size_t values) {
  constexpr std::size_t least = 1024;
  return sizeof(counted_value<T>) *
         (3 * std::bit_ceil(std::max(least, 2 * values + 2)) + 2 * values);
}

// Scratch of select_row, bytes: at most.
template <class T>
std::size_t distinct_scratch_bytes(index_t n, index_t k, top_k_variant variant, int threads) {
  const auto all = static_cast<std::size_t>(n);
  const auto parts = static_cast<std::size_t>(part_count(n, threads));
  const std::size_t room = 4 * scan_least_room;
  const std::size_t kept = variant == top_k_variant::sort
                               ? all / parts + parts
                               : std::min(all, 2 * static_cast<std::size_t>(k) + 4096 + room);
  const auto sample =
      static_cast<std::size_t>(std::min(most_distinct_samples, n / elements_per_distinct_sample)) *
      sizeof(T);
  const std::size_t joined =
      parts == 1 ? 0 : table_bytes<T>(std::min(all, parts * static_cast<std::size_t>(k)));
  return 2 * sample + parts * (room * sizeof(std::uint64_t) + table_bytes<T>(kept)) + joined;
}

template <class T>
index_t select_row(const T* data, index_t n, index_t k, T* values, index_t* indices,
                   index_t* counts, const top_k_options& options, int threads) {
  const value_order<T> order{options.select == top_k_select::largest};
  const bool keep_all = options.variant == top_k_variant::sort;
  std::vector<counted_value<T>> best = count_row(data, n, k, order, keep_all, threads);
  std::sort(best.begin(), best.end(),
            [order](const counted_value<T>& a, const counted_value<T>& b) {
              return order.better(a.value, b.value);
            });
  if (std::is_floating_point_v<T> && static_cast<index_t>(best.size()) < k) {
    if (const counted_value<T> last = count_nans(data, n); last.count > 0) best.push_back(last);
  }
  const auto found = static_cast<index_t>(best.size());
  for (index_t i = 0; i < k; ++i) {
    const bool there = i < found;
    const counted_value<T>* entry = there ? &best[static_cast<std::size_t>(i)] : nullptr;
    values[i] = there ? data[entry->first] : T{};
    indices[i] = there ? entry->first : -1;
    counts[i] = there ? entry->count : 0;
  }
  return found;
}

}  // namespace

template <class T>
void top_k_distinct(matrix_view<const T> data, index_t k, T* values, index_t* indices,
                    index_t* counts, index_t* found, const top_k_options& options) {
  const int team =
      select_threads(options.exec, "top_k_distinct of one row", data.rows(),
                     detail::thread_count(options.exec.cpu_threads), [&](int threads) {
                       return distinct_scratch_bytes<T>(data.cols(), k, options.variant, threads);
                     });
  for_each_row(data.rows(), team, [&](index_t i, int threads) {
    found[i] = select_row(data.row(i), data.cols(), k, values + i * k, indices + i * k,
                          counts + i * k, options, threads);
  });
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template void top_k_distinct<T>(matrix_view<const T>, index_t, T*, index_t*, index_t*, index_t*, \
                                  const top_k_options&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cpu
