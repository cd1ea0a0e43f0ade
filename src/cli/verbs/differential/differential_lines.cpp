#include "cli/verbs/differential/differential_lines.hpp"

#include <gpu/p_value.hpp>

#include "io/field_text.hpp"

namespace gpu::cli {

std::vector<differential_edge> edges_of(const differential_partners& found) {
  std::vector<differential_edge> out;
  for (index_t i = 0; i < found.index.rows(); ++i) {
    const index_t count = found.count[static_cast<std::size_t>(i)];
    for (index_t e = 0; e < count; ++e) {
      out.push_back({.row = static_cast<node_id>(found.summary.part_begin + i),
                     .col = found.index(i, e),
                     .first = found.first(i, e),
                     .second = found.second(i, e),
                     .z = found.z(i, e),
                     .p = found.p(i, e)});
    }
  }
  return out;
}

std::vector<double> q_of_lines(std::span<const double> p, std::uint64_t pairs_tested,
                               adjustment adjust) {
  // Only lines of edges have this q, and each of them is a pair.
  if (adjust == adjustment::benjamini_hochberg) return adjusted_p_values(p, pairs_tested, adjust);
  return adjusted_p_values(p, std::span<double>(), pairs_tested, adjust);
}

differential_lines::differential_lines(keep_kind keep, io::result_format format,
                                       std::string_view symbol)
    : symbol_(symbol), tab_(io::separator_of(format)), has_rank_(keep == keep_kind::top_k) {}

std::string differential_lines::header(const labelled_groups& groups, bool has_q) const {
  return fmt::format("name_i{0}{1}name_j{0}{2}{0}{3}{0}z{0}p{4}\n", tab_,
                     has_rank_ ? fmt::format("rank{}", tab_) : std::string(),
                     io::field_of(symbol_ + "_" + groups.first_label, tab_),
                     io::field_of(symbol_ + "_" + groups.second_label, tab_),
                     has_q ? fmt::format("{}q", tab_) : std::string());
}

}  // namespace gpu::cli
