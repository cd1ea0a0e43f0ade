#include "io/write/result_context.hpp"

namespace gpu::io {

void set_p(std::span<edge> pairs, const result_context& context) {
  if (context.p_of_shared) {
    const std::vector<double> p = context.p_of_shared(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].p = p[i];
    return;
  }
  for (edge& e : pairs) e.p = context.p_of(e.statistic, index_t{e.row}, index_t{e.col});
}

std::vector<double> p_of_entries(const neighbor_table& result, const result_context& context) {
  partner_p p(result, context);
  std::vector<double> out;
  for (index_t i = 0; i < std::ssize(result.count); ++i) {
    for (index_t k = 0; k < result.count[static_cast<std::size_t>(i)]; ++k) {
      out.push_back(p.next(result.statistic(i, k), context.first_row + i, result.index(i, k)));
    }
  }
  return out;
}

partner_p::partner_p(const neighbor_table& result, const result_context& context)
    : context_(context) {
  if (!context.p_of_shared) return;
  std::vector<edge> entries;
  for (index_t i = 0; i < std::ssize(result.count); ++i) {
    const auto row = static_cast<node_id>(context.first_row + i);
    for (index_t k = 0; k < result.count[static_cast<std::size_t>(i)]; ++k) {
      entries.push_back({row, result.index(i, k), result.statistic(i, k), 0});
    }
  }
  shared_ = context.p_of_shared(entries);
}

}  // namespace gpu::io
