#pragma once
// Every function that R calls. init.cpp makes R's table of them; R calls `edges` as C_edges.

#include <cpp11/R.hpp>

namespace gpu_r {

SEXP edges(SEXP x, SEXP y, SEXP options);
SEXP stream(SEXP x, SEXP y, SEXP consume, SEXP options);
SEXP dense(SEXP x, SEXP y, SEXP options);
SEXP counts(SEXP x, SEXP y, SEXP options);
SEXP partners(SEXP x, SEXP y, SEXP options);
SEXP plan(SEXP x, SEXP y, SEXP options);
SEXP discoveries(SEXP x, SEXP y, SEXP options);
SEXP next_search(SEXP counts, SEXP options);
SEXP observations(SEXP x, SEXP y, SEXP options);
SEXP connectivity(SEXP x, SEXP options);
SEXP scale_free_fit(SEXP connectivity, SEXP options);
SEXP topological_overlap(SEXP statistics, SEXP options);
SEXP differential(SEXP x, SEXP options);
SEXP max_t(SEXP x, SEXP y, SEXP options);
SEXP max_t_cut(SEXP maxima, SEXP side, SEXP level);
SEXP max_t_p(SEXP maxima, SEXP side, SEXP statistic);
SEXP rank_rows(SEXP x, SEXP options);
SEXP mean_filter(SEXP x, SEXP options);
SEXP top_values(SEXP x, SEXP options);
SEXP tanimoto(SEXP x, SEXP y, SEXP result, SEXP options);
SEXP p_values(SEXP r, SEXP n, SEXP side);
SEXP adjusted_p(SEXP p, SEXP family, SEXP adjust);
SEXP confidence(SEXP statistic, SEXP method, SEXP observations, SEXP level, SEXP side);
SEXP add_checksums(SEXP checksums);
SEXP measures();
SEXP backends();
SEXP devices();

}  // namespace gpu_r
