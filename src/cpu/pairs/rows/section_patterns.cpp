#include "cpu/pairs/rows/section_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "pairs/folding/equal_rows.hpp"
#include "plan/fold_choice.hpp"

namespace gpu::cpu {
namespace {

// Pairs of the area, about, from the numbers of rows in its sections.
double pairs_of(const row_selection& selection, std::span<const double> rows) {
  const double own = rows[selection.rows_section];
  const double all = std::accumulate(rows.begin(), rows.end(), 0.0);
  return selection.is_across ? own * (all - own) : own * (all - own / 2);
}

}  // namespace

bool folding_pays(const row_selection& selection, std::span<const double> rows,
                  std::span<const double> patterns, double most_share) {
  if (!std::isfinite(most_share)) return true;
  return pairs_of(selection, patterns) <= most_share * most_share * pairs_of(selection, rows);
}

bool promises_patterns(const row_selection& selection, std::span<const section_sample> samples,
                       double most_share) {
  const auto is_small = [](const section_sample& sample) {
    return sample.rows < detail::least_sampled_rows;
  };
  if (!std::isfinite(most_share) || std::all_of(samples.begin(), samples.end(), is_small)) {
    return true;
  }
  std::vector<double> rows;
  std::vector<double> patterns;
  for (const section_sample& sample : samples) {
    rows.push_back(static_cast<double>(sample.rows));
    patterns.push_back(is_small(sample) ? rows.back() : detail::estimated_patterns(sample.hashes));
  }
  return folding_pays(selection, rows, patterns, most_share);
}

detail::row_patterns join_patterns(std::vector<detail::row_patterns> found,
                           std::span<const std::span<const node_id>> original, index_t input_rows) {
  if (found.size() == 1) {
    return detail::renumber_rows(std::move(found.front()), original.front(), input_rows);
  }
  detail::row_patterns out;
  out.pattern_of.assign(static_cast<std::size_t>(input_rows), detail::row_patterns::no_pattern);
  out.begin.assign(1, 0);
  for (std::size_t section = 0; section < found.size(); ++section) {
    const detail::row_patterns part = std::exchange(found[section], {});
    const auto before = static_cast<node_id>(out.begin.size() - 1);
    const auto members_before = out.begin.back();
    for (std::size_t i = 0; i < original[section].size(); ++i) {
      out.pattern_of[original[section][i]] = before + part.pattern_of[i];
    }
    for (const node_id row : part.members) out.members.push_back(original[section][row]);
    for (std::size_t p = 1; p < part.begin.size(); ++p) {
      out.begin.push_back(members_before + part.begin[p]);
    }
  }
  return out;
}

}  // namespace gpu::cpu
