#include "pairs.hpp"

#include "entries.hpp"

namespace gpu_r {
namespace {

// Thrown through the library to end a stream whose function said FALSE.
struct stream_stopped {};

std::vector<double> numbers_of(const gpu::discovery_search& search) {
  return {search.observations, static_cast<double>(search.family),
          static_cast<double>(search.least), static_cast<double>(search.most)};
}

gpu::discovery_search search_of(const std::vector<double>& numbers, const gpu::pair_filter& keep) {
  return {.max_p = keep.max_p,
          .side = keep.side,
          .observations = numbers.at(0),
          .family = static_cast<std::uint64_t>(numbers.at(1)),
          .least = static_cast<std::uint64_t>(numbers.at(2)),
          .most = static_cast<std::uint64_t>(numbers.at(3))};
}

// The p of the entries of a table of partners, as edges have it; NaN behind the last of a row.
gpu::matrix<double> p_of_partners(const gpu::neighbor_table& table, const pair_tables& tables,
                                  const pair_call& call, gpu::tail side) {
  std::vector<gpu::edge> entries;
  gpu::matrix<double> p(table.index.rows(), table.index.cols());
  const gpu::index_t cols = p.cols();
  std::fill_n(p.data(), p.rows() * cols, std::numeric_limits<double>::quiet_NaN());
  const gpu::pair_summary& run = table.summary;
  if (run.test == gpu::significance::none) return p;
  for (gpu::index_t i = 0; i < p.rows(); ++i) {
    for (gpu::index_t e = 0; e < gpu::index_t{table.count[static_cast<std::size_t>(i)]}; ++e) {
      entries.push_back({.row = static_cast<gpu::node_id>(run.part_begin + i),
                         .col = table.index(i, e),
                         .statistic = table.statistic(i, e),
                         .p = 0});
    }
  }
  const gpu::execution threads{.cpu_threads = call.options.exec.cpu_threads};
  const bool is_pairwise = call.options.nans == gpu::nan_policy::pairwise;
  std::vector<double> of_entries(entries.size());
  const auto fill = [&](const auto& p_of) {
    for (std::size_t e = 0; e < entries.size(); ++e) of_entries[e] = p_of(entries[e], e);
  };
  if (is_pairwise && run.test == gpu::significance::kendall) {
    of_entries = tables.visit([&](const auto&... views) {
      return gpu::shared_kendall_p(views..., std::span<const gpu::edge>(entries), side, threads);
    });
  } else if (is_pairwise) {
    const auto shared = tables.visit([&](const auto&... views) {
      return gpu::shared_observations(views..., std::span<const gpu::edge>(entries), threads);
    });
    fill([&](const gpu::edge& edge, std::size_t e) {
      return run.test == gpu::significance::student_t
                 ? gpu::correlation_p_value(edge.statistic, shared[e], side)
                 : gpu::p_value_of(call.what, edge.statistic, shared[e], side);
    });
  } else if (run.test == gpu::significance::student_t) {
    fill([&](const gpu::edge& edge, std::size_t) {
      return gpu::correlation_p_value(edge.statistic, run.observations, side);
    });
  } else if (run.test == gpu::significance::floored_t) {
    fill([&](const gpu::edge& edge, std::size_t) {
      return gpu::p_value_of(call.what, edge.statistic, run.observations, side);
    });
  } else {  // By the ties of both rows.
    const auto ties = tables.visit([&](const auto& x, const auto&... y) {
      std::vector<std::vector<gpu::row_ties>> out = {gpu::kendall_ties(x, threads)};
      (out.push_back(gpu::kendall_ties(y, threads)), ...);
      return out;
    });
    const auto p_of = run.test == gpu::significance::permutations ? &gpu::spearman_p_value
                                                                  : &gpu::kendall_p_value;
    fill([&](const gpu::edge& edge, std::size_t) {
      return p_of(edge.statistic, run.cols, ties.front()[edge.row], ties.back()[edge.col], side);
    });
  }
  std::size_t next = 0;
  for (gpu::index_t i = 0; i < p.rows(); ++i) {
    for (gpu::index_t e = 0; e < gpu::index_t{table.count[static_cast<std::size_t>(i)]}; ++e) {
      p(i, e) = of_entries[next++];
    }
  }
  return p;
}

}  // namespace

pair_call::pair_call(option_reader& reader) : context(reader) {
  reader.read("method", what);
  reader.read("use", options.nans);
  reader.read("min_observations", options.min_observations);
  // R sends a matrix of doubles, observations x covariates, and keeps it.
  const SEXP covariates = reader.take("covariates");
  if (covariates != R_NilValue) {
    options.covariates = {REAL(covariates), gpu::index_t{Rf_ncols(covariates)},
                          gpu::index_t{Rf_nrows(covariates)}};
  }
  weights_ = reader.numbers("weights");
  options.column_weights = weights_;
  double effective_observations = 0;
  reader.read("effective_observations", effective_observations);
  options.effective_observations = effective_observations;
  reader.read("p_method", options.p_method);
  reader.read("variant", options.variant);
  reader.read("fold", options.fold);
  options.part = read_part(reader);
  options.exec = context.execution();
}

gpu::pair_filter read_filter(option_reader& reader) {
  gpu::pair_filter keep;
  reader.read("max_p", keep.max_p);
  reader.read("min_abs", keep.min_abs);
  reader.read("alternative", keep.side);
  reader.read("adjust", keep.adjust);
  return keep;
}

cpp11::sexp summary_of(const gpu::pair_summary& run, bool has_y) {
  return named_list({{"variables", number_of(static_cast<double>(run.rows))},
                     {"y_variables",
                      has_y ? number_of(static_cast<double>(run.y_rows)) : cpp11::sexp(R_NilValue)},
                     {"rows", number_of(static_cast<double>(run.cols))},
                     {"observations", number_of(run.observations)},
                     {"constant", places_of(run.constant_rows)},
                     {"missing", places_of(run.nan_rows)},
                     {"infinite", places_of(run.infinite_rows)},
                     {"y_constant", places_of(run.y_constant_rows)},
                     {"y_missing", places_of(run.y_nan_rows)},
                     {"y_infinite", places_of(run.y_infinite_rows)},
                     {"part_begin", number_of(static_cast<double>(run.part_begin + 1))},
                     {"part_end", number_of(static_cast<double>(run.part_end))},
                     {"patterns", number_of(static_cast<double>(run.patterns))},
                     {"pairs_tested", number_of(static_cast<double>(run.pairs_tested))},
                     {"pairs_kept", number_of(static_cast<double>(run.pairs_kept))},
                     {"pairs_by_t", number_of(static_cast<double>(run.pairs_by_t))},
                     {"test", text_of(gpu::to_string(run.test))},
                     {"least_p", number_of(run.least_p)},
                     {"checksum", text_of(gpu::to_string(run.checksum))},
                     {"max_p_effective", number_of(run.max_p_effective)},
                     {"min_abs_effective", number_of(run.min_abs_effective)},
                     {"cut_at_least", number_of(run.cut_at_least)},
                     {"cut_at_most", number_of(run.cut_at_most)},
                     {"backend", text_of(gpu::to_string(run.used))},
                     {"device", text_of(run.device)},
                     {"variant", text_of(gpu::to_string(run.variant))},
                     {"prepare_seconds", number_of(run.prepare_seconds)},
                     {"pairs_seconds", number_of(run.pairs_seconds)}});
}

cpp11::sexp edges_of(std::span<const gpu::edge> edges) {
  const auto size = static_cast<R_xlen_t>(edges.size());
  const cpp11::sexp row = cpp11::safe[Rf_allocVector](INTSXP, size);
  const cpp11::sexp col = cpp11::safe[Rf_allocVector](INTSXP, size);
  const cpp11::sexp statistic = cpp11::safe[Rf_allocVector](REALSXP, size);
  const cpp11::sexp p = cpp11::safe[Rf_allocVector](REALSXP, size);
  int* const to_row = INTEGER(row);
  int* const to_col = INTEGER(col);
  double* const to_statistic = REAL(statistic);
  double* const to_p = REAL(p);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    to_row[e] = static_cast<int>(edges[e].row) + 1;
    to_col[e] = static_cast<int>(edges[e].col) + 1;
    to_statistic[e] = edges[e].statistic;
    to_p[e] = to_r(edges[e].p);
  }
  return named_list({{"row", row}, {"col", col}, {"statistic", statistic}, {"p", p}});
}

cpp11::sexp partners_of(const gpu::matrix<gpu::node_id>& index) {
  cpp11::sexp out = cpp11::safe[Rf_allocMatrix](INTSXP, static_cast<int>(index.rows()),
                                                static_cast<int>(index.cols()));
  for (gpu::index_t i = 0; i < index.rows(); ++i) {
    for (gpu::index_t e = 0; e < index.cols(); ++e) {
      const gpu::node_id partner = index(i, e);
      INTEGER(out)
      [e * index.rows() + i] =
          partner == gpu::neighbor_table::no_neighbor ? NA_INTEGER : static_cast<int>(partner) + 1;
    }
  }
  return out;
}

SEXP edges(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    gpu::edge_sink sink{.keep = read_filter(reader)};
    reader.read("max_edges", sink.max_edges);
    reader.read("order", sink.order);
    reader.check_all_read();
    const gpu::edge_list found = call.context.run([&] { return call.all_pairs(tables, sink); });
    return named_list({{"edges", edges_of({found.edges.data(), found.edges.size()})},
                       {"summary", summary_of(found.summary, tables.has_y())}});
  });
}

SEXP stream(SEXP x, SEXP y, SEXP consume, SEXP options) {
  return guarded([&]() -> cpp11::sexp {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    gpu::stream_sink sink{.keep = read_filter(reader)};
    reader.read("order", sink.order);
    reader.read("batch_edges", sink.batch_edges);
    reader.check_all_read();
    sink.consume = [&](std::span<const gpu::edge> batch) {
      const cpp11::sexp edges = edges_of(batch);
      const cpp11::sexp function_call = cpp11::safe[Rf_lang2](consume, edges);
      const cpp11::sexp reply = cpp11::safe[Rf_eval](function_call, R_GlobalEnv);
      if (TYPEOF(reply) == LGLSXP && Rf_xlength(reply) == 1 && LOGICAL(reply)[0] == 0) {
        throw stream_stopped();
      }
    };
    try {
      const auto run = call.context.run([&] { return call.all_pairs(tables, sink); });
      return summary_of(run, tables.has_y());
    } catch (const stream_stopped&) {
      return R_NilValue;
    }
  });
}

SEXP dense(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    reader.check_all_read();
    const auto found = call.context.run([&] { return call.all_pairs(tables, gpu::dense_sink{}); });
    return named_list(
        {{"statistic", rows_of(found)}, {"summary", summary_of(found.summary, tables.has_y())}});
  });
}

SEXP counts(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    gpu::count_sink sink{.keep = read_filter(reader)};
    reader.read("bins", sink.histogram_bins);
    reader.check_all_read();
    const auto found = call.context.run([&] { return call.all_pairs(tables, sink); });
    return named_list(
        {{"tested", number_of(static_cast<double>(found.tested))},
         {"kept", number_of(static_cast<double>(found.kept))},
         {"degree", vector_of(found.degree)},
         {"y_degree", tables.has_y() ? vector_of(found.y_degree) : cpp11::sexp(R_NilValue)},
         {"histogram", vector_of(found.histogram)},
         {"summary", summary_of(found.summary, tables.has_y())}});
  });
}

SEXP partners(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    gpu::top_k_sink sink{.keep = read_filter(reader)};
    reader.read("k", sink.k);
    reader.read("order", sink.order);
    bool has_q = false;
    reader.read("q", has_q);
    if (has_q) sink.q = gpu::neighbor_q::exact;
    reader.check_all_read();
    gpu::matrix<double> p;
    const auto found = call.context.run([&] {
      gpu::neighbor_table table = call.all_pairs(tables, sink);
      p = p_of_partners(table, tables, call, sink.keep.side);
      return table;
    });
    return named_list({{"index", partners_of(found.index)},
                       {"statistic", rows_of(found.statistic)},
                       {"p", rows_of(p)},
                       {"q", has_q ? rows_of(found.q) : cpp11::sexp(R_NilValue)},
                       {"count", vector_of(found.count)},
                       {"summary", summary_of(found.summary, tables.has_y())}});
  });
}

SEXP plan(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    const gpu::pair_filter keep = read_filter(reader);
    reader.check_all_read();
    const gpu::pair_plan plan = call.context.run([&] {
      return tables.visit([&](const auto&... views) {
        return gpu::plan_all_pairs(call.what, views..., call.options, keep);
      });
    });
    return named_list({{"backend", text_of(gpu::to_string(plan.used))},
                       {"device", text_of(plan.device)},
                       {"variant", text_of(gpu::to_string(plan.variant))},
                       {"choice", text_of(plan.choice)},
                       {"workspace_bytes", number_of(static_cast<double>(plan.workspace_bytes))},
                       {"pairs", number_of(static_cast<double>(plan.pairs))},
                       {"sampled_pairs", number_of(static_cast<double>(plan.sampled_pairs))},
                       {"kept_estimate", number_of(plan.kept_estimate)},
                       {"kept_upper", number_of(plan.kept_upper)},
                       {"result_bytes", number_of(plan.result_bytes)},
                       {"warning", text_of(plan.warning)}});
  });
}

// One counting step of Benjamini and Hochberg's cut of a job in parts. A search is
// c(observations, family, least, most); the first step has none. The counts are
// c(search, below, at_or_above, bins), in one vector, so that those of parts add up behind the
// search.
SEXP discoveries(SEXP x, SEXP y, SEXP options) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(options);
    pair_call call(reader);
    gpu::discovery_sink sink;
    reader.read("max_p", sink.keep.max_p);
    reader.read("alternative", sink.keep.side);
    const std::vector<double> search = reader.numbers("search");
    if (!search.empty()) sink.search = search_of(search, sink.keep);
    reader.check_all_read();
    const auto found = call.context.run([&] { return call.all_pairs(tables, sink); });
    std::vector<double> counts = numbers_of(found.search);
    counts.push_back(static_cast<double>(found.below));
    counts.push_back(static_cast<double>(found.at_or_above));
    counts.insert(counts.end(), found.bins.begin(), found.bins.end());
    return vector_of(counts);
  });
}

// The search after a step that was counted over all parts, and the cut on p, NA until it is
// decided.
SEXP next_search(SEXP counts, SEXP options) {
  return guarded([&] {
    option_reader reader(options);
    gpu::pair_filter keep;
    reader.read("max_p", keep.max_p);
    reader.read("alternative", keep.side);
    const std::vector<double> all(REAL(counts), REAL(counts) + Rf_xlength(counts));
    gpu::discovery_counts sums{.search = search_of(all, keep),
                               .below = static_cast<std::uint64_t>(all.at(4)),
                               .at_or_above = static_cast<std::uint64_t>(all.at(5))};
    for (std::size_t i = 6; i < all.size(); ++i) {
      sums.bins.push_back(static_cast<std::uint64_t>(all[i]));
    }
    const gpu::discovery_search next = gpu::next_search(sums);
    return named_list({{"search", vector_of(numbers_of(next))},
                       {"max_p", number_of(next.is_decided() ? next.max_p_effective() : NA_REAL)}});
  });
}

SEXP observations(SEXP x, SEXP y, SEXP threads) {
  return guarded([&] {
    const pair_tables tables(x, y);
    option_reader reader(threads);
    const execution_context context(reader);
    reader.check_all_read();
    return rows_of(tables.visit([&](const auto&... views) {
      return gpu::shared_observations(views..., {.cpu_threads = context.execution().cpu_threads});
    }));
  });
}

}  // namespace gpu_r
