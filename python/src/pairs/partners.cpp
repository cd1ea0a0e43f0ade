#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// The threads of a call, for what the host adds to its result.
gpu::execution host_threads(const pair_call& call) {
  return {.cpu_threads = call.options.exec.cpu_threads};
}

// The ties of the rows of y, or of x alone.
std::vector<gpu::row_ties> partner_ties(const pair_tables& tables, const gpu::execution& exec) {
  return tables.visit([&](const auto& x, const auto&... y) {
    if constexpr (sizeof...(y) == 0) {
      return gpu::kendall_ties(x, exec);
    } else {
      return (gpu::kendall_ties(y, exec), ...);
    }
  });
}

// p of Kendall's tau of every entry by the columns that its rows share.
gpu::matrix<double> shared_p(const gpu::neighbor_table& table, const pair_tables& tables,
                             const pair_call& call) {
  std::vector<gpu::edge> edges;
  gpu::matrix<double> p(table.index.rows(), table.index.cols());
  const auto for_each_place = [&](const auto& body) {
    for (gpu::index_t i = 0; i < p.rows(); ++i) {
      for (gpu::index_t e = 0; e < p.cols(); ++e) {
        body(i, e, e < gpu::index_t{table.count[static_cast<std::size_t>(i)]});
      }
    }
  };
  for_each_place([&](gpu::index_t i, gpu::index_t e, bool is_there) {
    if (!is_there) return;
    edges.push_back({.row = static_cast<gpu::node_id>(table.summary.part_begin + i),
                     .col = table.index(i, e),
                     .statistic = table.statistic(i, e),
                     .p = 0});
  });
  const std::vector<double> of_edges = tables.visit_tables([&](const auto&... views) {
    return gpu::shared_kendall_p(views..., std::span<const gpu::edge>(edges), call.keep.side,
                                 host_threads(call));
  });
  std::size_t next = 0;
  for_each_place([&](gpu::index_t i, gpu::index_t e, bool is_there) {
    p(i, e) = is_there ? of_edges[next++] : std::numeric_limits<double>::quiet_NaN();
  });
  return p;
}

// p of every entry where it depends on the ties of both rows; NaN behind the last of a row.
gpu::matrix<double> tied_p(const gpu::neighbor_table& table, const pair_tables& tables,
                           const pair_call& call) {
  const gpu::execution exec = host_threads(call);
  const auto of_x = gpu::kendall_ties(tables.x(), exec);
  const auto of_partner = partner_ties(tables, exec);
  const gpu::index_t begin = table.summary.part_begin;
  const bool is_of_rho = table.summary.test == gpu::significance::permutations;
  gpu::matrix<double> p(table.index.rows(), table.index.cols());
  for (gpu::index_t i = 0; i < p.rows(); ++i) {
    for (gpu::index_t e = 0; e < p.cols(); ++e) {
      const bool is_there = e < gpu::index_t{table.count[static_cast<std::size_t>(i)]};
      const auto p_of = is_of_rho ? &gpu::spearman_p_value : &gpu::kendall_p_value;
      p(i, e) = is_there ? p_of(table.statistic(i, e), table.summary.cols,
                                of_x[static_cast<std::size_t>(begin + i)],
                                of_partner[table.index(i, e)], call.keep.side)
                         : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return p;
}

// Indices, statistics, counts, p (None where it follows from the statistic), q (None where it is
// not asked for) and the summary.
nb::tuple partners(nb::handle x, nb::handle y, gpu::index_t k, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::top_k_sink sink{.k = k, .keep = call.keep};
  reader.read("order", sink.order);
  reader.read("q", sink.q);
  const bool has_q = sink.q == gpu::neighbor_q::exact;
  reader.check_all_read();
  bool is_tied = false;
  gpu::matrix<double> p;
  gpu::neighbor_table result = call.context.run([&] {
    gpu::neighbor_table found = call.all_pairs(tables, sink);
    is_tied = found.summary.test == gpu::significance::kendall ||
              found.summary.test == gpu::significance::permutations;
    const bool is_pairwise = call.options.nans == gpu::nan_policy::pairwise;
    if (is_tied) p = (is_pairwise ? shared_p : tied_p)(found, tables, call);
    return found;
  });
  return nb::make_tuple(matrix_to_numpy<gpu::node_id>(std::move(result.index), 2),
                        matrix_to_numpy<double>(std::move(result.statistic), 2),
                        vector_to_numpy(std::move(result.count)),
                        is_tied ? matrix_to_numpy<double>(std::move(p), 2) : nb::none(),
                        has_q ? matrix_to_numpy<double>(std::move(result.q), 2) : nb::none(),
                        summary_of(std::move(result.summary), tables));
}

}  // namespace

void bind_partners(nb::module_& module) {
  module.def("partners", &partners, nb::arg("x"), nb::arg("y").none(), nb::arg("k"),
             nb::arg("options"));
}

}  // namespace gpu_python
