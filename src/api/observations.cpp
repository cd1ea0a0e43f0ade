#include <gpu/observations.hpp>

#include <fmt/format.h>

#include <gpu/error.hpp>

#include "base/memory_errors.hpp"
#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "pairs/observations.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

present_values find_present(const pair_tables& tables) {
  if (is_on_device(tables)) {
    throw unsupported("shared_observations: takes data in host memory, got data in device memory");
  }
  const auto cols_of = [](const any_table& table) {
    return std::visit([](const auto& view) { return view.cols(); }, table);
  };
  if (tables.y && cols_of(*tables.y) != cols_of(tables.x)) {
    throw invalid_argument(fmt::format("y: got {} columns, expected {} as in x", cols_of(*tables.y),
                                       cols_of(tables.x)));
  }
  return {tables, 0, 0};
}

}  // namespace

matrix<node_id> shared_observations(const pair_tables& tables) {
  return with_memory_errors("shared_observations", [&] {
    const present_values present = find_present(tables);
    const index_t rows_of_x = rows_of(tables.x);
    const index_t first = tables.y ? rows_of_x : 0;
    matrix<node_id> out(rows_of_x, tables.y ? rows_of(*tables.y) : rows_of_x);
    cpu::parallel_for(out.rows(), cpu::thread_count(0), [&](index_t i, int) {
      for (index_t j = 0; j < out.cols(); ++j) {
        out(i, j) = static_cast<node_id>(present.shared(i, first + j));
      }
    });
    return out;
  });
}

std::vector<node_id> shared_observations(const pair_tables& tables, std::span<const edge> edges) {
  return with_memory_errors("shared_observations", [&] {
    const present_values present = find_present(tables);
    const index_t rows_of_x = rows_of(tables.x);
    const index_t first = tables.y ? rows_of_x : 0;
    std::vector<node_id> out(edges.size());
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const index_t i{edges[e].row};
      const index_t j = first + index_t{edges[e].col};
      if (i >= rows_of_x || j >= present.rows()) {
        throw invalid_argument(
            fmt::format("edges: edge {} is of rows {} and {}, which the table does not have", e,
                        edges[e].row, edges[e].col));
      }
      out[e] = static_cast<node_id>(present.shared(i, j));
    }
    return out;
  });
}

}  // namespace gpu::inline v0::detail
