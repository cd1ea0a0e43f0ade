// top_k on the CPU.
//
// `threshold`: a sample of the row gives a bound that at least k elements reach. Each thread
// streams a contiguous part, keeps what reaches the bound, and whenever its buffer is full cuts it
// back to its own best k, which raises the bound: parts are read in order of index, so a later
// element must then be strictly better. Nearly every block of elements costs one vector compare,
// and the pass runs at the machine's read bandwidth.
// `sort`: sorts all (value, index) pairs.
#include "cpu/top_k/top_k.hpp"

#include "base/element_types.hpp"
#include "base/parallel.hpp"
#include "cpu/platform/level_table.hpp"
#include "cpu/top_k/entries.hpp"
#include "cpu/top_k/parts.hpp"

namespace gpu::cpu {

const scan_table& usable_scan_table() {
  return GPU_SIMILARITY_USABLE(top_k_scans);
}

namespace {

constexpr index_t most_samples = 65536;
// One sample for this many elements: a cache line each, about 3 % of the time of the pass.
constexpr index_t elements_per_sample = 512;
// Entries that are sorted at once.
constexpr index_t most_sorted = index_t{1} << 20;

// The best entries of data[begin, end), in no order: at least the best min(k, count) of them.
template <class T>
class part_selector {
 public:
  part_selector(value_order<T> order, index_t k, std::optional<T> reach)
      : order_(order), k_(static_cast<std::size_t>(k)), reach_(reach) {}

  std::vector<top_k_entry<T>> select(const T* data, index_t begin, index_t end) {
    std::vector<std::uint64_t> hits(4 * scan_least_room);
    scan_test test = reach_ ? order_.reaches() : scan_test::any;
    T bound = reach_.value_or(T{});
    const std::size_t capacity = 2 * k_ + 4 * scan_least_room;
    scan_all(data, begin, end, test, bound, hits,
             [&](const std::uint64_t* positions, std::size_t count) {
               for (std::size_t h = 0; h < count; ++h) {
                 entries_.push_back({data[positions[h]], static_cast<index_t>(positions[h])});
               }
               if (entries_.size() < capacity) return;
               cut();
               test = order_.beats();
               bound = entries_[k_ - 1].value;
             });
    return std::move(entries_);
  }

 private:
  void cut() {
    const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
    std::nth_element(entries_.begin(), last, entries_.end(), order_);
    entries_.resize(k_);
  }

  value_order<T> order_;
  std::size_t k_;
  std::optional<T> reach_;
  std::vector<top_k_entry<T>> entries_;
};

// A value that at least k elements reach, or nothing where a sample says too little.
template <class T>
std::optional<T> reach_by_sample(const T* data, index_t n, index_t k, value_order<T> order) {
  const index_t count = std::min(most_samples, n / elements_per_sample);
  if (count < 4 * k) return std::nullopt;
  std::vector<T> sample = sample_values(data, n, count);
  if (static_cast<index_t>(sample.size()) < k) return std::nullopt;
  const auto kth = sample.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(sample.begin(), kth, sample.end(),
                   [order](T a, T b) { return order.better(a, b); });
  return *kth;
}

template <class T>
std::vector<top_k_entry<T>> candidates_by_threshold(const T* data, index_t n, index_t k,
                                                    value_order<T> order, int threads) {
  const std::optional<T> reach = reach_by_sample(data, n, k, order);
  auto found = select_in_parts(n, threads, [&](index_t begin, index_t end) {
    return part_selector<T>(order, k, reach).select(data, begin, end);
  });
  std::vector<top_k_entry<T>> all = std::move(found.front());
  for (std::size_t part = 1; part < found.size(); ++part) {
    all.insert(all.end(), found[part].begin(), found[part].end());
  }
  return all;
}

template <class T>
std::vector<top_k_entry<T>> candidates_all(const T* data, index_t n) {
  std::vector<top_k_entry<T>> all;
  all.reserve(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    if (!is_nan(data[i])) all.push_back({data[i], i});
  }
  return all;
}

// Sorts parts, on a thread each or shorter ones, and merges them pairwise. Polls the call's
// progress between them.
template <class T>
void sort_entries(std::vector<top_k_entry<T>>& entries, value_order<T> order, int threads) {
  const auto n = static_cast<index_t>(entries.size());
  index_t parts = 1;
  while ((parts < threads && n / parts > 2 * least_part) || n / parts > most_sorted) parts *= 2;
  const auto cut = [&](index_t part) { return entries.begin() + n / parts * part; };
  const auto end_of = [&](index_t part) { return part >= parts ? entries.end() : cut(part); };
  detail::parallel_for(parts, threads,
                       [&](index_t part, int) { std::sort(cut(part), end_of(part + 1), order); });
  for (index_t width = 1; width < parts; width *= 2) {
    detail::parallel_for((parts + 2 * width - 1) / (2 * width), threads, [&](index_t merge, int) {
      const index_t part = 2 * width * merge;
      std::inplace_merge(cut(part), end_of(part + width), end_of(part + 2 * width), order);
    });
  }
}

// Scratch of select_row, bytes: at most.
template <class T>
std::size_t scratch_bytes(index_t n, index_t k, top_k_variant variant, int threads) {
  constexpr std::size_t entry = sizeof(top_k_entry<T>);
  const auto all = static_cast<std::size_t>(n);
  // A merge takes half of what it merges in addition.
  if (variant == top_k_variant::sort) return entry * (all + static_cast<std::size_t>(k) / 2);
  const auto parts = static_cast<std::size_t>(part_count(n, threads));
  const auto sample =
      static_cast<std::size_t>(std::min(most_samples, n / elements_per_sample)) * sizeof(T);
  // A part keeps up to twice k, and what one scan finds; a vector that grows takes twice that, and
  // what it had. At the end the kept entries of all parts stand together as well.
  const std::size_t room = 4 * scan_least_room;
  const std::size_t kept = std::min(all, 2 * static_cast<std::size_t>(k) + 2 * room);
  return sample + parts * (room * sizeof(std::uint64_t) + 4 * entry * kept);
}

template <class T>
void select_row(const T* data, index_t n, index_t k, T* values, index_t* indices,
                const top_k_options& options, int threads) {
  const value_order<T> order{options.select == top_k_select::largest};
  std::vector<top_k_entry<T>> entries = options.variant == top_k_variant::sort
                                            ? candidates_all(data, n)
                                            : candidates_by_threshold(data, n, k, order, threads);
  const auto numbers = static_cast<index_t>(entries.size());
  if (numbers > k) {
    std::nth_element(entries.begin(), entries.begin() + k - 1, entries.end(), order);
    entries.resize(static_cast<std::size_t>(k));
  }
  if (options.order == top_k_order::sorted) sort_entries(entries, order, threads);
  index_t filled = 0;
  for (const top_k_entry<T>& entry : entries) {
    values[filled] = entry.value;
    indices[filled++] = entry.index;
  }
  // Fewer numbers than k: all of them are there, and the first NaN fill up.
  for (index_t i = 0; filled < k && i < n; ++i) {
    if (!is_nan(data[i])) continue;
    values[filled] = data[i];
    indices[filled++] = i;
  }
}

}  // namespace

template <class T>
void top_k(matrix_view<const T> data, index_t k, T* values, index_t* indices,
           const top_k_options& options) {
  const int team = select_threads(
      options.exec, "top_k of one row", data.rows(), detail::thread_count(options.exec.cpu_threads),
      [&](int threads) { return scratch_bytes<T>(data.cols(), k, options.variant, threads); });
  for_each_row(data.rows(), team, [&](index_t i, int threads) {
    select_row(data.row(i), data.cols(), k, values + i * k, indices + i * k, options, threads);
  });
}

#define GPU_SIMILARITY_INSTANTIATE(T) \
  template void top_k<T>(matrix_view<const T>, index_t, T*, index_t*, const top_k_options&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cpu
