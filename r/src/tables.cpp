#include "tables.hpp"

#include <cstring>

#include "call.hpp"

namespace gpu_r {
namespace {

template <class T>
table_view dense_view(const T* values, gpu::index_t variables, gpu::index_t observations,
                      bool in_columns) {
  if (in_columns) return gpu::matrix_view<const T>(values, variables, observations);
  return gpu::column_matrix_view<const T>(values, variables, observations);
}

}  // namespace

SEXP member_of(SEXP list, const char* name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    if (std::strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

table_view read_table(SEXP table, const char* name) {
  const SEXP values = member_of(table, "values");
  const auto variables = static_cast<gpu::index_t>(Rf_asReal(member_of(table, "variables")));
  const auto observations = static_cast<gpu::index_t>(Rf_asReal(member_of(table, "observations")));
  const SEXP begin = member_of(table, "begin");
  if (begin != R_NilValue) {
    const SEXP place = member_of(table, "place");
    if (TYPEOF(values) != REALSXP || TYPEOF(begin) != INTSXP || TYPEOF(place) != INTSXP ||
        Rf_xlength(begin) != variables + 1) {
      throw gpu::invalid_argument(std::string(name) + ": the sparse matrix is not valid");
    }
    try {
      return gpu::csr_view<const double>(INTEGER(begin), INTEGER(place), REAL(values), variables,
                                         observations,
                                         std::min(Rf_xlength(place), Rf_xlength(values)));
    } catch (const gpu::invalid_argument& e) {
      throw gpu::invalid_argument(std::string(name) + ": " + e.what());
    }
  }
  const bool in_columns = Rf_asLogical(member_of(table, "in_columns")) != 0;
  // REAL() and its like give a compact vector (ALTREP) its memory.
  switch (TYPEOF(values)) {
    case REALSXP:
      return dense_view(REAL(values), variables, observations, in_columns);
    case INTSXP:
      return dense_view(INTEGER(values), variables, observations, in_columns);
    case LGLSXP:
      return dense_view(LOGICAL(values), variables, observations, in_columns);
    default:
      throw gpu::invalid_argument(std::string(name) + ": expected numbers");
  }
}

pair_tables::pair_tables(SEXP x, SEXP y) : x_(read_table(x, "x")) {
  if (y != R_NilValue) y_ = read_table(y, "y");
}

}  // namespace gpu_r
