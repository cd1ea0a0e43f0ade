#include "cpu/pairs/rows/ranked_source.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/element_types.hpp"
#include "base/parallel.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "cpu/rank/centred_ranks.hpp"
#include "pairs/equal_rows.hpp"
#include "plan/fold_choice.hpp"

namespace gpu::cpu {
namespace {

// Ranks rows [begin, begin + count) of `data`.
template <class T, class Integer>
void rank_piece(const matrix_view<const T>& data, index_t begin, index_t count, Integer* ranks,
                std::int64_t* square_sums, int threads) {
  centred_ranks(matrix_view<const T>(data.row(begin), count, data.cols(), data.row_stride()),
                matrix_view<Integer>(ranks, count, data.cols()), square_sums, threads);
}

// Ranks rows whenever they are asked for.
template <class Integer, class T>
class ranked_source final : public row_source {
 public:
  // `present` are the rows themselves, or the first of each pattern.
  ranked_source(const matrix_view<const T>& data, present_rows present, bool numbers_patterns,
                int threads, rank_packer<Integer> pack)
      : data_(data),
        present_(std::move(present)),
        numbers_patterns_(numbers_patterns),
        threads_(threads),
        pack_(std::move(pack)) {}

  [[nodiscard]] index_t size() const override { return present_.size(); }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(row_range first, row_range second,
                                                std::vector<node_id>& original) const override {
    const index_t count = first.size() + second.size();
    const index_t room = count + rows_per_piece(data_.cols());
    ordinary_ranks<Integer> ranks;
    ranks.stride = data_.cols();
    ranks.values = aligned_buffer<Integer>(static_cast<std::size_t>(room * ranks.stride));
    ranks.square_sums.resize(static_cast<std::size_t>(room));
    original.clear();
    original.reserve(static_cast<std::size_t>(count));
    append(first, ranks, original);
    append(second, ranks, original);
    ranks.square_sums.resize(static_cast<std::size_t>(count));
    return pack_(std::move(ranks), first.size());
  }

 private:
  void append(row_range range, ordinary_ranks<Integer>& ranks,
              std::vector<node_id>& original) const {
    const std::size_t start = original.size();
    const auto values_of = [&](index_t place) {
      return ranks.values.data() + place * ranks.stride;
    };
    append_rows(
        present_, range, rows_per_piece(data_.cols()), original,
        [&](index_t begin, index_t count, index_t to) {
          rank_piece(data_, begin, count, values_of(to), ranks.square_sums.data() + to, threads_);
        },
        [&](index_t from, index_t to) {
          std::copy_n(values_of(from), ranks.stride, values_of(to));
          ranks.square_sums[static_cast<std::size_t>(to)] =
              ranks.square_sums[static_cast<std::size_t>(from)];
        });
    if (numbers_patterns_) {
      std::iota(original.begin() + static_cast<std::ptrdiff_t>(start), original.end(),
                static_cast<node_id>(range.begin));
    }
  }

  matrix_view<const T> data_;
  present_rows present_;
  bool numbers_patterns_;
  int threads_;
  rank_packer<Integer> pack_;
};

// body(first row, rows, ranks, sums of squares) for all rows, ranked piece by piece.
template <class Integer, class T, class Body>
void for_each_piece(const matrix_view<const T>& data, int threads, const Body& body) {
  const index_t most = rows_per_piece(data.cols());
  aligned_buffer<Integer> ranks(static_cast<std::size_t>(most * data.cols()));
  std::vector<std::int64_t> square_sums(static_cast<std::size_t>(most));
  for (index_t begin = 0; begin < data.rows(); begin += most) {
    const index_t count = std::min(most, data.rows() - begin);
    rank_piece(data, begin, count, ranks.data(), square_sums.data(), threads);
    body(begin,
         byte_rows{reinterpret_cast<const std::byte*>(ranks.data()),
                   static_cast<std::size_t>(data.cols()) * sizeof(Integer), count},
         square_sums);
  }
}

// What one look at all rows tells.
struct row_survey {
  present_rows present;                       // rows that have a statistic
  std::vector<std::uint64_t> sampled_hashes;  // of their ranks, where patterns are looked for
};

template <class Integer, class T>
row_survey survey_rows(const matrix_view<const T>& data, bool takes_hashes, int threads,
                       row_preparation& found) {
  row_survey out{.present = present_rows(data.rows()), .sampled_hashes = {}};
  row_inspector inspector(found);
  for_each_piece<Integer>(
      data, threads,
      [&](index_t begin, const byte_rows& ranks, const std::vector<std::int64_t>& square_sums) {
        std::vector<std::uint64_t> hashes;
        if (takes_hashes) hashes = hash_rows(ranks, thread_count(threads));
        for (index_t i = 0; i < ranks.count; ++i) {
          const index_t row = begin + i;
          if (!inspector.admits(row, square_sums[static_cast<std::size_t>(i)] != 0)) continue;
          out.present.add(row);
          if (takes_hashes && is_sampled(hashes[static_cast<std::size_t>(i)])) {
            out.sampled_hashes.push_back(hashes[static_cast<std::size_t>(i)]);
          }
        }
      });
  out.present.number();
  return out;
}

// Whether two rows without NaN have the same ranks.
template <class T>
bool same_ranks(const T* a, const T* b, index_t cols) {
  if (std::equal(a, a + cols, b)) return true;
  thread_local std::vector<index_t> order;
  order.resize(static_cast<std::size_t>(cols));
  std::iota(order.begin(), order.end(), index_t{0});
  std::sort(order.begin(), order.end(), [a](index_t i, index_t k) { return a[i] < a[k]; });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const bool rises = a[order[k - 1]] < a[order[k]];
    const T low = b[order[k - 1]];
    const T high = b[order[k]];
    if (rises ? !(low < high) : low != high) return false;
  }
  return true;
}

// Patterns of the present rows, which are numbered in order, then as rows of the input.
template <class Integer, class T>
row_patterns group_patterns(const matrix_view<const T>& data, const present_rows& present,
                            int threads) {
  constexpr int passes = 8;
  std::vector<std::uint64_t> hashes;
  hashes.reserve(static_cast<std::size_t>(present.size()));
  for_each_piece<Integer>(
      data, threads, [&](index_t begin, const byte_rows& ranks, const std::vector<std::int64_t>&) {
        const std::vector<std::uint64_t> all = hash_rows(ranks, thread_count(threads));
        for (index_t i = 0; i < ranks.count; ++i) {
          if (present.contains(begin + i)) hashes.push_back(all[static_cast<std::size_t>(i)]);
        }
      });
  const auto equal = [&](node_id a, node_id b) {
    return same_ranks(data.row(present.row_of(a)), data.row(present.row_of(b)), data.cols());
  };
  row_patterns out = group_equal_rows(equal, std::move(hashes), passes, thread_count(threads));
  if (present.size() == data.rows()) return out;
  std::vector<node_id> original;
  original.reserve(static_cast<std::size_t>(present.size()));
  for (index_t i = 0; i < data.rows(); ++i) {
    if (present.contains(i)) original.push_back(static_cast<node_id>(i));
  }
  return renumber_rows(std::move(out), original, data.rows());
}

}  // namespace

template <class Integer, class T>
std::unique_ptr<row_source> make_ranked_source(const matrix_view<const T>& data,
                                               const row_options& options,
                                               rank_packer<Integer> pack, row_preparation& found) {
  const int threads = options.threads;
  row_survey survey = survey_rows<Integer>(data, options.looks_for_patterns, threads, found);
  const index_t rows = survey.present.size();
  const double most = options.most_pattern_share * static_cast<double>(std::max<index_t>(rows, 1));
  if (options.looks_for_patterns && promises_patterns(survey.sampled_hashes, rows, most)) {
    row_patterns patterns = group_patterns<Integer>(data, survey.present, threads);
    if (static_cast<double>(patterns.size()) <= most) found.patterns = std::move(patterns);
  }
  if (found.patterns) {
    survey.present = present_rows(data.rows());
    for (index_t p = 0; p < found.patterns->size(); ++p) {
      survey.present.add(found.patterns->members_of(static_cast<node_id>(p)).front());
    }
    survey.present.number();
  }
  return std::make_unique<ranked_source<Integer, T>>(
      data, std::move(survey.present), found.patterns.has_value(), threads, std::move(pack));
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                             \
  template std::unique_ptr<row_source> make_ranked_source<std::int8_t, T>(        \
      const matrix_view<const T>&, const row_options&, rank_packer<std::int8_t>,  \
      row_preparation&);                                                          \
  template std::unique_ptr<row_source> make_ranked_source<std::int16_t, T>(       \
      const matrix_view<const T>&, const row_options&, rank_packer<std::int16_t>, \
      row_preparation&);                                                          \
  template std::unique_ptr<row_source> make_ranked_source<std::int32_t, T>(       \
      const matrix_view<const T>&, const row_options&, rank_packer<std::int32_t>, \
      row_preparation&);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::cpu
