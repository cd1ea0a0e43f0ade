#pragma once
// Tables of R as views of the library, without a copy: a matrix of observations x variables stands
// column by column, which is row by row to the library.

#include <cpp11/sexp.hpp>

#include <optional>
#include <variant>

#include <gpu/similarity.hpp>

namespace gpu_r {

using table_view =
    std::variant<gpu::matrix_view<const double>, gpu::matrix_view<const std::int32_t>,
                 gpu::column_matrix_view<const double>, gpu::column_matrix_view<const std::int32_t>,
                 gpu::csr_view<const double>>;

// A table as R/tables.R describes it: list(values, variables, observations, layout), with `begin`
// and `place` where it is sparse. R keeps its memory as long as the call runs.
[[nodiscard]] table_view read_table(SEXP table, const char* name);

// The tables of a call: x alone, or the variables of x against those of y.
class pair_tables {
 public:
  pair_tables(SEXP x, SEXP y);
  [[nodiscard]] bool has_y() const noexcept { return y_.has_value(); }
  [[nodiscard]] const table_view& x() const noexcept { return x_; }
  // call(x) or call(x, y), whatever their types are.
  template <class Call>
  auto visit(const Call& call) const {
    return y_ ? std::visit(call, x_, *y_) : std::visit(call, x_);
  }

 private:
  table_view x_;
  std::optional<table_view> y_;
};

// The member of a named list; R_NilValue where it has none.
[[nodiscard]] SEXP member_of(SEXP list, const char* name);

// A number as R has it: what is not there is NA.
template <class Value>
double to_r(Value value) {
  const auto number = static_cast<double>(value);
  return number == number ? number : NA_REAL;
}

// A matrix [rows, cols] of the library, row by row, as R's matrix [cols, rows]: a copy in order.
template <class Value>
cpp11::sexp columns_of(const gpu::matrix<Value>& values) {
  cpp11::sexp out = cpp11::safe[Rf_allocMatrix](REALSXP, static_cast<int>(values.cols()),
                                                static_cast<int>(values.rows()));
  const Value* const from = values.data();
  for (gpu::index_t i = 0; i < values.rows() * values.cols(); ++i) {
    REAL(out)[i] = to_r(from[i]);
  }
  return out;
}
// The same as R's matrix [rows, cols].
template <class Value>
cpp11::sexp rows_of(const gpu::matrix<Value>& values) {
  cpp11::sexp out = cpp11::safe[Rf_allocMatrix](REALSXP, static_cast<int>(values.rows()),
                                                static_cast<int>(values.cols()));
  // Square blocks, so that neither side is read or written a line of the cache at a time.
  constexpr gpu::index_t block = 64;
  const gpu::index_t rows = values.rows();
  const gpu::index_t cols = values.cols();
  double* const to = REAL(out);
  for (gpu::index_t i = 0; i < rows; i += block) {
    for (gpu::index_t j = 0; j < cols; j += block) {
      for (gpu::index_t a = i; a < std::min(rows, i + block); ++a) {
        for (gpu::index_t b = j; b < std::min(cols, j + block); ++b) {
          to[b * rows + a] = to_r(values(a, b));
        }
      }
    }
  }
  return out;
}

}  // namespace gpu_r
