#include "cpu/pairs/rows/ranked_source.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "pairs/folding/equal_rows.hpp"

namespace gpu::cpu {
namespace {

// Ranks rows whenever they are asked for.
template <class Integer>
class ranked_source final : public row_source {
 public:
  // `present` are the rows themselves, or the first of each pattern.
  ranked_source(const input_rows& input, present_rows present, bool numbers_patterns,
                const row_options& options, rank_packer<Integer> pack)
      : input_(input),
        present_(std::move(present)),
        numbers_patterns_(numbers_patterns),
        group_(options.group),
        threads_(options.threads),
        piece_rows_(options.piece_rows),
        pack_(std::move(pack)) {}

  [[nodiscard]] index_t size() const override { return present_.size(); }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(row_range first, row_range second, row_range asked,
                                                std::vector<node_id>& original) const override {
    const row_layout layout{
        .first = first.size(), .second = second.size(), .asked = asked, .group = group_};
    const index_t room = layout.places() + piece_rows_;
    ordinary_ranks<Integer> ranks;
    ranks.stride = input_.cols();
    ranks.values = aligned_buffer<Integer>(static_cast<std::size_t>(room * ranks.stride));
    ranks.square_sums.resize(static_cast<std::size_t>(room));
    original.clear();
    original.reserve(static_cast<std::size_t>(layout.places()));
    append(first, ranks, original);
    if (!second.is_empty()) {
      for (index_t place = layout.first; place < layout.second_begin(); ++place) {
        ranks.copy_row(layout.first - 1, place);
        original.push_back(original.back());
      }
      append(second, ranks, original);
    }
    ranks.square_sums.resize(static_cast<std::size_t>(layout.places()));
    return pack_(std::move(ranks), layout);
  }

 private:
  void append(row_range range, ordinary_ranks<Integer>& ranks,
              std::vector<node_id>& original) const {
    const std::size_t start = original.size();
    append_rows(
        present_, range, piece_rows_, original,
        [&](index_t begin, index_t count, index_t to) {
          rank_rows_to(input_, {begin, begin + count}, to, ranks, threads_);
        },
        [&](index_t from, index_t to) { ranks.copy_row(from, to); });
    if (numbers_patterns_) {
      std::iota(original.begin() + static_cast<std::ptrdiff_t>(start), original.end(),
                static_cast<node_id>(range.begin));
    }
  }

  input_rows input_;
  present_rows present_;
  bool numbers_patterns_;
  index_t group_;
  int threads_;
  index_t piece_rows_;
  rank_packer<Integer> pack_;
};

// Appends the hashes of the ranks of those rows of `range` that are present.
template <class Integer>
void append_hashes(const input_rows& input, index_range range, const present_rows& present,
                   const row_options& options, std::vector<std::uint64_t>& hashes) {
  const index_t most = options.piece_rows;
  ordinary_ranks<Integer> ranks;
  ranks.stride = input.cols();
  ranks.values = aligned_buffer<Integer>(static_cast<std::size_t>(most * ranks.stride));
  ranks.square_sums.resize(static_cast<std::size_t>(most));
  const std::size_t row_bytes = static_cast<std::size_t>(ranks.stride) * sizeof(Integer);
  for (index_t begin = range.begin; begin < range.end; begin += most) {
    const index_t count = std::min(most, range.end - begin);
    rank_rows_to(input, {begin, begin + count}, 0, ranks, options.threads);
    const detail::byte_rows rows{reinterpret_cast<const std::byte*>(ranks.values.data()), row_bytes,
                                 count};
    const std::vector<std::uint64_t> all =
        detail::hash_rows(rows, detail::thread_count(options.threads));
    for (index_t i = 0; i < count; ++i) {
      if (present.contains(begin + i)) hashes.push_back(all[static_cast<std::size_t>(i)]);
    }
  }
}

// What one pass over all rows finds.
struct row_survey {
  present_rows present;               // rows that have a statistic
  std::vector<std::uint64_t> hashes;  // of these, where patterns are looked for
};

// Rows are ranked here only where patterns are looked for: whether the values of a row differ takes
// far less time to find.
template <class Integer>
row_survey survey_rows(const input_rows& input, const row_options& options,
                       row_preparation& found) {
  row_survey out{.present = present_rows(input.rows()), .hashes = {}};
  if (options.looks_for_patterns) {
    out.hashes.reserve(static_cast<std::size_t>(options.selection.rows()));
  }
  row_inspector inspector(found);
  const auto look_at = [&](index_range range, const auto& take) {
    inspector.look_at(input, range, options.what, options.threads, take);
  };
  for_each_section(
      options.selection, input.rows(),
      [&](index_range section) {
        index_t rows = 0;
        look_at(section, [&](index_t row) {
          out.present.add(row);
          ++rows;
        });
        found.section_rows.push_back(rows);
        if (options.looks_for_patterns) {
          append_hashes<Integer>(input, section, out.present, options, out.hashes);
        }
      },
      [&](index_range others) { look_at(others, [](index_t) {}); });
  out.present.number();
  return out;
}

// Whether two rows without NaN have the same ranks; `order` is memory.
template <class T>
bool same_ranks(const T* a, const T* b, index_t cols, std::vector<index_t>& order) {
  if (std::equal(a, a + cols, b)) return true;
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

// The patterns of the rows that are packed, where they pay.
std::optional<detail::row_patterns> group_patterns(const input_rows& input, row_survey& survey,
                                                   const detail::fold_sections& sections,
                                                   int threads) {
  constexpr int passes = 8;
  const present_rows& present = survey.present;
  std::vector<std::vector<index_t>> orders(static_cast<std::size_t>(threads));
  const auto equal = [&](node_id a, node_id b, int thread) {
    return input.with_rows(present.row_of(a), present.row_of(b),
                           [&](const auto& view, index_t i, index_t k) {
                             return same_ranks(view.row(i), view.row(k), view.cols(),
                                               orders[static_cast<std::size_t>(thread)]);
                           });
  };
  std::optional<detail::row_patterns> found =
      detail::find_patterns(std::exchange(survey.hashes, {}), equal, sections, passes, threads);
  if (!found || present.size() == input.rows()) return found;
  std::vector<node_id> original;
  for (index_t row = 0; row < input.rows(); ++row) {
    if (present.contains(row)) original.push_back(static_cast<node_id>(row));
  }
  return detail::renumber_rows(std::move(*found), original, input.rows());
}

}  // namespace

template <class Integer>
std::unique_ptr<row_source> make_ranked_source(const input_rows& input, const row_options& options,
                                               rank_packer<Integer> pack, row_preparation& found) {
  row_survey survey = survey_rows<Integer>(input, options, found);
  if (options.looks_for_patterns) {
    found.patterns = group_patterns(input, survey, options.sections(found.section_rows),
                                    detail::thread_count(options.threads));
  }
  if (found.patterns) {
    survey.present = present_rows(input.rows());
    for (index_t p = 0; p < found.patterns->size(); ++p) {
      survey.present.add(found.patterns->members_of(static_cast<node_id>(p)).front());
    }
    survey.present.number();
    found.section_rows.clear();
    for (const index_range& section : options.selection.sections) {
      found.section_rows.push_back(survey.present.count_before(section.end) -
                                   survey.present.count_before(section.begin));
    }
  }
  return std::make_unique<ranked_source<Integer>>(
      input, std::move(survey.present), found.patterns.has_value(), options, std::move(pack));
}

template std::unique_ptr<row_source> make_ranked_source(const input_rows&, const row_options&,
                                                        rank_packer<std::int8_t>, row_preparation&);
template std::unique_ptr<row_source> make_ranked_source(const input_rows&, const row_options&,
                                                        rank_packer<std::int16_t>,
                                                        row_preparation&);
template std::unique_ptr<row_source> make_ranked_source(const input_rows&, const row_options&,
                                                        rank_packer<std::int32_t>,
                                                        row_preparation&);

}  // namespace gpu::cpu
