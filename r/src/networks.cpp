// Soft thresholds, the topological overlap, differential correlation and max-T.

#include "entries.hpp"
#include "pairs.hpp"

namespace gpu_r {
namespace {

// R's matrix [rows, cols] as one of the library, which are columns of it to R.
gpu::column_matrix_view<const double> matrix_of(SEXP values) {
  return {REAL(values), static_cast<gpu::index_t>(Rf_nrows(values)),
          static_cast<gpu::index_t>(Rf_ncols(values))};
}

gpu::matrix<double> row_by_row(SEXP values) {
  const auto view = matrix_of(values);
  gpu::matrix<double> out(view.rows(), view.cols());
  for (gpu::index_t i = 0; i < view.rows(); ++i) {
    for (gpu::index_t j = 0; j < view.cols(); ++j) out(i, j) = view(i, j);
  }
  return out;
}

// Columns that R names from 1.
std::vector<gpu::index_t> columns_from(option_reader& reader, const char* key) {
  std::vector<gpu::index_t> out;
  for (const double column : reader.numbers(key)) {
    out.push_back(static_cast<gpu::index_t>(column) - 1);
  }
  return out;
}

cpp11::sexp summary_of(const gpu::differential_summary& run) {
  return named_list({{"variables", number_of(static_cast<double>(run.rows))},
                     {"first_observations", number_of(static_cast<double>(run.first_cols))},
                     {"second_observations", number_of(static_cast<double>(run.second_cols))},
                     {"standard_error", number_of(run.standard_error)},
                     {"constant", places_of(run.constant_rows)},
                     {"missing", places_of(run.nan_rows)},
                     {"infinite", places_of(run.infinite_rows)},
                     {"part_begin", number_of(static_cast<double>(run.part_begin + 1))},
                     {"part_end", number_of(static_cast<double>(run.part_end))},
                     {"pairs_tested", number_of(static_cast<double>(run.pairs_tested))},
                     {"pairs_kept", number_of(static_cast<double>(run.pairs_kept))},
                     {"max_p_effective", number_of(run.max_p_effective)},
                     {"min_abs_z_effective", number_of(run.min_abs_z_effective)},
                     {"device", text_of(run.device)},
                     {"seconds", number_of(run.seconds)}});
}

template <class Value>
cpp11::sexp column_of(const std::vector<gpu::differential_edge>& edges,
                      Value gpu::differential_edge::* member, double first = 0) {
  cpp11::sexp out = cpp11::safe[Rf_allocVector](REALSXP, static_cast<R_xlen_t>(edges.size()));
  double* to = REAL(out);
  for (const gpu::differential_edge& edge : edges)
    *to++ = static_cast<double>(edge.*member) + first;
  return out;
}

// The maxima of R as those of the library.
gpu::max_t_null null_of(SEXP maxima, SEXP side) {
  return {.maxima = {REAL(maxima), REAL(maxima) + Rf_xlength(maxima)},
          .side = enum_from_name<gpu::tail>("alternative", CHAR(STRING_ELT(side, 0)))};
}

}  // namespace

SEXP connectivity(SEXP x, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, R_NilValue);
    option_reader reader(options);
    pair_call call(reader);
    gpu::connectivity_sink sink;
    sink.powers = reader.numbers("powers");
    reader.read("network", sink.network);
    reader.check_all_read();
    const auto found = call.context.run([&] { return call.all_pairs(tables, sink); });
    return named_list({{"connectivity", rows_of(found.connectivity)},
                       {"summary", gpu_r::summary_of(found.summary, false)}});
  });
}

SEXP scale_free_fit(SEXP connectivity, SEXP options) {
  return guarded([&] {
    option_reader reader(options);
    const std::vector<double> powers = reader.numbers("powers");
    gpu::scale_free_options how;
    reader.read("bins", how.bins);
    reader.read("r_squared_cut", how.r_squared_cut);
    reader.read("without_first_bin", how.without_first_bin);
    reader.check_all_read();
    const gpu::matrix<double> table = row_by_row(connectivity);
    const gpu::scale_free_fits fits = gpu::scale_free_fit(table.view(), powers, how);
    gpu::matrix<double> lines(static_cast<gpu::index_t>(fits.fits.size()), 8);
    double* to = lines.data();
    for (const gpu::scale_free_fit_line& line : fits.fits) {
      for (const double value : {line.power, line.r_squared, line.slope, line.signed_r_squared,
                                 line.truncated_r_squared, line.mean, line.median, line.max}) {
        *to++ = value;
      }
    }
    return named_list(
        {{"power", number_of(fits.power.value_or(NA_REAL))}, {"fits", rows_of(lines)}});
  });
}

SEXP topological_overlap(SEXP statistics, SEXP options) {
  return guarded([&] {
    option_reader reader(options);
    execution_context context(reader);
    gpu::overlap_options how{.exec = context.execution()};
    reader.read("power", how.power);
    reader.read("network", how.network);
    reader.check_all_read();
    // Symmetric, so that R's columns are its rows; the library reads the upper triangle alone.
    const gpu::matrix_view<const double> view(REAL(statistics), Rf_ncols(statistics),
                                              Rf_nrows(statistics));
    return columns_of(context.run([&] { return gpu::topological_overlap(view, how); }));
  });
}

SEXP differential(SEXP x, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, R_NilValue);
    option_reader reader(options);
    pair_call call(reader);
    const std::vector<gpu::index_t> first = columns_from(reader, "first");
    const std::vector<gpu::index_t> second = columns_from(reader, "second");
    const gpu::column_groups groups{first, second};
    gpu::differential_filter keep;
    reader.read("max_p", keep.max_p);
    reader.read("min_abs_z", keep.min_abs_z);
    reader.read("alternative", keep.side);
    reader.read("adjust", keep.adjust);
    gpu::index_t k = 0;
    reader.read("k", k);
    gpu::differential_edge_sink sink{.keep = keep};
    reader.read("max_edges", sink.max_edges);
    reader.check_all_read();
    const auto run = [&](const auto& to) {
      return call.context.run([&] {
        return tables.visit([&]<class... Views>(const Views&... views) {
          if constexpr (sizeof...(views) == 1) {
            return gpu::differential_pairs(call.what, views..., groups, call.options, to);
          } else {
            return decltype(gpu::differential_pairs(call.what, gpu::matrix_view<const double>(),
                                                    groups, call.options, to))();
          }
        });
      });
    };
    if (k != 0) {
      const auto found = run(gpu::differential_top_k_sink{.k = k, .keep = keep});
      return named_list({{"index", partners_of(found.index)},
                         {"first", rows_of(found.first)},
                         {"second", rows_of(found.second)},
                         {"z", rows_of(found.z)},
                         {"p", rows_of(found.p)},
                         {"count", vector_of(found.count)},
                         {"summary", summary_of(found.summary)}});
    }
    const auto found = run(sink);
    using edge = gpu::differential_edge;
    return named_list({{"row", column_of(found.edges, &edge::row, 1)},
                       {"col", column_of(found.edges, &edge::col, 1)},
                       {"first", column_of(found.edges, &edge::first)},
                       {"second", column_of(found.edges, &edge::second)},
                       {"z", column_of(found.edges, &edge::z)},
                       {"p", column_of(found.edges, &edge::p)},
                       {"summary", summary_of(found.summary)}});
  });
}

SEXP max_t(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    gpu::max_t_options how;
    reader.read("alternative", how.side);
    reader.read("permutations", how.permutations);
    reader.read("seed", how.seed);
    reader.read("shuffle", how.shuffle);
    reader.check_all_read();
    const gpu::max_t_null null = call.context.run([&] {
      return tables.visit(
          [&](const auto&... views) { return gpu::max_t(call.what, views..., call.options, how); });
    });
    return named_list({{"maxima", vector_of(null.maxima)},
                       {"backend", text_of(gpu::to_string(null.used))},
                       {"device", text_of(null.device)},
                       {"seconds", number_of(null.seconds)}});
  });
}

SEXP max_t_cut(SEXP maxima, SEXP side, SEXP level) {
  return guarded([&] { return number_of(null_of(maxima, side).keep(Rf_asReal(level)).min_abs); });
}

SEXP max_t_p(SEXP maxima, SEXP side, SEXP statistic) {
  return guarded([&] {
    const gpu::max_t_null null = null_of(maxima, side);
    std::vector<double> p(static_cast<std::size_t>(Rf_xlength(statistic)));
    std::transform(REAL(statistic), REAL(statistic) + p.size(), p.begin(),
                   [&](double value) { return null.adjusted_p(value); });
    return vector_of(p);
  });
}

}  // namespace gpu_r
