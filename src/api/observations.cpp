#include <gpu/observations.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include <gpu/error.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "base/check_enumerator.hpp"
#include "base/counted.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "pairs/observations.hpp"
#include "pairs/pair_ties.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t least_tested = 3;  // columns of a pair with a p

present_values find_present(const char* function, const pair_tables& tables,
                            const execution& exec) {
  check_cpu_call(exec, function);
  if (is_on_device(tables)) {
    throw unsupported(
        fmt::format("{}: takes data in host memory, got data in device memory", function));
  }
  if (tables.y && cols_of(*tables.y) != cols_of(tables.x)) {
    throw invalid_argument(fmt::format("y: got {}, expected {} as in x",
                                       counted(cols_of(*tables.y), "column"), cols_of(tables.x)));
  }
  return {tables, 0, exec.cpu_threads};
}

// Where the columns of edges begin among the rows of both tables.
index_t first_partner(const pair_tables& tables) {
  return tables.y ? rows_of(tables.x) : 0;
}

void check_edges(const pair_tables& tables, const present_values& present,
                 std::span<const edge> edges) {
  const index_t first = first_partner(tables);
  const auto unknown = std::find_if(edges.begin(), edges.end(), [&](const edge& e) {
    return index_t{e.row} >= rows_of(tables.x) || first + index_t{e.col} >= present.rows();
  });
  if (unknown == edges.end()) return;
  throw invalid_argument(
      fmt::format("edges: edge {} is of rows {} and {}, which the table does not have",
                  unknown - edges.begin(), unknown->row, unknown->col));
}

// Whether prepared rows tell the ties of the values: signs come with them, ranks in host memory
// stand for the values.
bool tells_ties(const prepared_table& data, bool is_on_host) {
  switch (traits_of(data.what).form) {
    case row_form::signs:
      return true;
    case row_form::ranks:
      return is_on_host;
    case row_form::unit_values:
    case row_form::bits:
      break;
  }
  return false;
}

}  // namespace

matrix<node_id> shared_observations(const pair_tables& tables, const execution& exec) {
  return with_memory_errors("shared_observations", [&] {
    const polled_call polled(exec.on_progress, "shared_observations", rows_of(tables.x));
    const present_values present = find_present("shared_observations", tables, exec);
    return present.shared_of({0, rows_of(tables.x)}, {first_partner(tables), present.rows()},
                             exec.cpu_threads);
  });
}

std::vector<node_id> shared_observations(const pair_tables& tables, std::span<const edge> edges,
                                         const execution& exec) {
  return with_memory_errors("shared_observations", [&] {
    const polled_call polled(exec.on_progress, "shared_observations", rows_of(tables.x));
    const present_values present = find_present("shared_observations", tables, exec);
    check_edges(tables, present, edges);
    return present.shared_of(edges, first_partner(tables), exec.cpu_threads);
  });
}

std::vector<double> shared_kendall_p(const pair_tables& tables, std::span<const edge> edges,
                                     tail side, const execution& exec) {
  return with_memory_errors("shared_kendall_p", [&] {
    check_enumerator("side", side, tail::less);
    const polled_call polled(exec.on_progress, "shared_kendall_p", rows_of(tables.x));
    const present_values present = find_present("shared_kendall_p", tables, exec);
    check_edges(tables, present, edges);
    const shared_kendall test(find_shared_ties(tables, exec.cpu_threads), least_tested,
                              std::max(least_tested, present.cols()));
    return test.p_of(edges, present, first_partner(tables), side, exec.cpu_threads);
  });
}

std::vector<row_ties> kendall_ties(const any_table& data, const execution& exec) {
  return with_memory_errors("kendall_ties", [&] {
    check_cpu_call(exec, "kendall_ties");
    const pair_tables tables{data};
    const polled_call polled(exec.on_progress, "kendall_ties", rows_of(tables.x));
    if (!is_on_device(tables)) return find_ties(tables, exec.cpu_threads);
    const index_t cols = std::visit([](const auto& view) { return view.cols(); }, data);
    const index_t most = traits_of(measure::kendall).most_cols_on_cuda;
    if (cols > most) {
      throw unsupported(fmt::format(
          "kendall_ties: takes at most {} columns in device memory, got {}; in host memory more",
          most, cols));
    }
    return cuda::find_device_ties(device_view(data), {});
  });
}

std::vector<row_ties> kendall_ties(const prepared_table& data, const execution& exec) {
  return with_memory_errors("kendall_ties", [&] {
    check_cpu_call(exec, "kendall_ties");
    const auto* const kept = dynamic_cast<const host_prepared_table*>(&data);
    if (!tells_ties(data, kept != nullptr)) {
      throw invalid_argument(
          fmt::format("data: was prepared for {} on {}, expected {}, or {} on {}",
                      to_string(data.what), to_string(data.where), to_string(measure::kendall),
                      to_string(measure::spearman), to_string(backend::cpu)));
    }
    return kept != nullptr ? find_ties(*kept, exec.cpu_threads) : data.ties;
  });
}

}  // namespace gpu::inline v0::detail
