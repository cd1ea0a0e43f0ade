#include <gpu/observations.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>

#include "base/memory_errors.hpp"
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
    return present.shared_of({0, rows_of_x}, {first, present.rows()});
  });
}

std::vector<node_id> shared_observations(const pair_tables& tables, std::span<const edge> edges) {
  return with_memory_errors("shared_observations", [&] {
    const present_values present = find_present(tables);
    const index_t rows_of_x = rows_of(tables.x);
    const index_t first = tables.y ? rows_of_x : 0;
    const auto unknown = std::find_if(edges.begin(), edges.end(), [&](const edge& e) {
      return index_t{e.row} >= rows_of_x || first + index_t{e.col} >= present.rows();
    });
    if (unknown != edges.end()) {
      throw invalid_argument(
          fmt::format("edges: edge {} is of rows {} and {}, which the table does not have",
                      unknown - edges.begin(), unknown->row, unknown->col));
    }
    return present.shared_of(edges, first);
  });
}

}  // namespace gpu::inline v0::detail
