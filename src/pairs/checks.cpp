#include "pairs/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include <gpu/error.hpp>

#include "base/check_enumerator.hpp"
#include "base/counted.hpp"
#include "base/parallel.hpp"
#include "pairs/engine.hpp"
#include "pairs/reading/computed_rows.hpp"
#include "pairs/reading/csr_rows.hpp"
#include "pairs/reading/exact_integers.hpp"
#include "pairs/reading/host_rows.hpp"
#include "pairs/tables.hpp"
#include "stats/bins.hpp"

namespace gpu::validate {
namespace {

constexpr index_t most_rows = (index_t{1} << 32) - 1;
constexpr index_t elements_per_task = index_t{1} << 18;

template <class T>
bool holds_nan(const T* row, index_t cols) {
  // As wide as the values, so that the compiler makes vectors of it.
  using mask = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  mask found = 0;
  for (index_t k = 0; k < cols; ++k) found |= static_cast<mask>(row[k] != row[k] ? 1 : 0);
  return found != 0;
}

// The numbers in [0, count) that `holds` is true for, ascending.
template <class Holds>
std::vector<index_t> numbers_where(index_t count, index_t at_once, int threads,
                                   const Holds& holds) {
  const int team = detail::thread_count(threads);
  std::vector<std::vector<index_t>> found(static_cast<std::size_t>(team));
  detail::parallel_for_each(count, at_once, team, [&](index_t i, int thread) {
    if (holds(i)) found[static_cast<std::size_t>(thread)].push_back(i);
  });
  std::vector<index_t> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

[[noreturn]] void throw_inexact(const char* name, auto value, index_t row, index_t col) {
  throw invalid_argument(
      fmt::format("{}: got {} at row {}, column {}, expected integers up to 2^53 in magnitude, "
                  "which double holds; ranks take larger ones",
                  name, value, row, col));
}

template <class T>
void check_exact_integers(const char* name, const csr_view<const T>& data, int /*threads*/) {
  std::visit(
      [&](const auto& pattern) {
        for (index_t i = 0; i < data.rows(); ++i) {
          const auto check = [&](index_t k, index_t column) {
            const T value = data.values()[k];
            if (!detail::is_exact_double(value)) throw_inexact(name, value, i, column);
          };
          detail::for_each_stored(pattern, i, data.stored(), data.cols(), check);
        }
      },
      data.pattern());
}

template <class View>
void check_exact_integers(const char* name, const View& data, int threads) {
  using value = typename View::value_type;
  std::atomic<bool> found = false;
  const auto look_at = [&](const auto& line, index_t length) {
    if (!std::all_of(line, line + length, detail::is_exact_double<value>)) found = true;
  };
  if constexpr (requires { data.column(0); }) {
    detail::parallel_for(data.cols(), detail::thread_count(threads),
                         [&](index_t j, int) { look_at(data.column(j), data.rows()); });
  } else {
    detail::parallel_for(data.rows(), detail::thread_count(threads),
                         [&](index_t i, int) { look_at(data.row(i), data.cols()); });
  }
  if (!found) return;
  for (index_t i = 0; i < data.rows(); ++i) {
    for (index_t k = 0; k < data.cols(); ++k) {
      if (!detail::is_exact_double(data(i, k))) throw_inexact(name, data(i, k), i, k);
    }
  }
}

void check_order(const char* sink, edge_order order) {
  detail::check_enumerator(fmt::format("{}.order", sink), order, edge_order::unspecified);
}

}  // namespace

void check_pair_shape(const detail::measure_traits& what, const detail::pair_tables& tables) {
  const index_t rows = detail::rows_of(tables.x);
  const index_t cols = detail::cols_of(tables);
  const char* const name = detail::has_y(tables) ? "x" : "data";
  if (cols < what.info.least_cols) {
    throw invalid_argument(fmt::format("{}: got {}, {} takes at least {} observations", name,
                                       detail::counted(cols, "column"), what.info.title,
                                       what.info.least_cols));
  }
  if (rows > most_rows) {
    throw invalid_argument(
        fmt::format("{}: got {} rows, expected at most {}", name, rows, most_rows));
  }
  if (cols > what.info.most_cols) {
    throw invalid_argument(fmt::format("{}: got {} columns, {} takes at most {}", name, cols,
                                       what.info.title, what.info.most_cols));
  }
  if (!detail::has_y(tables)) return;
  if (tables.y && detail::is_on_device(*tables.y) != detail::is_on_device(tables.x)) {
    throw invalid_argument("y: expected a table in the memory that x is in, host or device");
  }
  const index_t more_rows = detail::rows_of_y(tables);
  const index_t more_cols = !tables.y            ? tables.prepared_y->cols
                            : tables.y_bits >= 0 ? tables.y_bits
                                                 : detail::cols_of(*tables.y);
  if (more_cols != cols) {
    throw invalid_argument(
        fmt::format("y: got {}, expected {} as in x", detail::counted(more_cols, "column"), cols));
  }
  if (more_rows > most_rows - rows) {
    throw invalid_argument(fmt::format("y: got {} rows, expected at most {} with the {} of x",
                                       more_rows, most_rows - rows, rows));
  }
}

void check_exact_values(const detail::measure_traits& what, const detail::pair_tables& tables,
                        int threads) {
  if (what.info.scale == value_scale::ordinal) return;
  const auto check = [&](const char* name, const detail::any_table& table) {
    std::visit(
        [&]<class View>(const View& data) {
          if constexpr (detail::is_inexact<typename View::value_type>) {
            check_exact_integers(name, data, threads);
          }
        },
        table);
  };
  check(detail::has_y(tables) ? "x" : "data", tables.x);
  if (tables.y) check("y", *tables.y);
}

void check_part(const pair_part& part) {
  if (part.of < 1) {
    throw invalid_argument(fmt::format("options.part.of: got {}, expected at least 1", part.of));
  }
  if (part.index < 0 || part.index >= part.of) {
    throw invalid_argument(
        fmt::format("options.part.index: got {}, expected 0 to {}", part.index, part.of - 1));
  }
}

void check_search(const discovery_search& search, const discovery_search& begun) {
  const bool is_of_call = search.max_p == begun.max_p && search.side == begun.side &&
                          search.observations == begun.observations &&
                          search.family == begun.family;
  if (is_of_call && search.least <= search.most && search.most <= search.family) return;
  throw invalid_argument(
      fmt::format("discovery_sink.search: is of max_p {}, {} observations and {} tests, expected "
                  "that of this call: {}, {} and {}",
                  search.max_p, double{search.observations}, search.family, begun.max_p,
                  double{begun.observations}, begun.family));
}

namespace {
// As max_t_null::keep says that no statistic is rare enough.
bool is_no_magnitude(double least) {
  return least == std::numeric_limits<double>::infinity();
}
}  // namespace

void check_filter(const detail::measure_traits& what, const pair_filter& keep) {
  if (!(keep.max_p > 0.0 && keep.max_p <= 1.0)) {
    throw invalid_argument(
        fmt::format("pair_filter.max_p: got {}, expected a value in (0, 1]", keep.max_p));
  }
  if (!(keep.min_abs >= 0.0 && keep.min_abs <= 1.0) && !is_no_magnitude(keep.min_abs)) {
    throw invalid_argument(
        fmt::format("pair_filter.min_abs: got {}, expected a value in [0, 1]", keep.min_abs));
  }
  detail::check_enumerator("pair_filter.side", keep.side, tail::less);
  detail::check_enumerator("pair_filter.adjust", keep.adjust, adjustment::benjamini_hochberg);
  const bool cuts_p = keep.max_p < 1.0 || keep.adjust != adjustment::none;
  if (cuts_p && what.info.test == significance::none) {
    throw unsupported(fmt::format(
        "pair_filter.max_p: {} has no significance test and so no p, expected 1 without an "
        "adjustment, and a cut by min_abs",
        what.info.title));
  }
}

void throw_over_capacity(const char* sink, const char* what, index_t kept, index_t most) {
  throw capacity_exceeded(fmt::format("{}.max_edges: {} {} pass the filter, the capacity is {}",
                                      sink, kept, what, most),
                          kept);
}

void check_sink(const detail::measure_traits& what, const edge_sink& sink) {
  check_filter(what, sink.keep);
  check_order("edge_sink", sink.order);
  if (sink.max_edges < 0) {
    throw invalid_argument(
        fmt::format("edge_sink.max_edges: got {}, expected at least 0", sink.max_edges));
  }
}

void check_sink(const detail::measure_traits& what, const top_k_sink& sink) {
  check_filter(what, sink.keep);
  if (sink.k < 1) {
    throw invalid_argument(fmt::format("top_k_sink.k: got {}, expected at least 1", sink.k));
  }
  detail::check_enumerator("top_k_sink.order", sink.order, neighbor_order::by_absolute_value);
  detail::check_enumerator("top_k_sink.q", sink.q, neighbor_q::exact);
  if (sink.q == neighbor_q::exact && sink.keep.adjust == adjustment::none) {
    throw invalid_argument(
        "pair_filter.adjust: got none with top_k_sink.q, expected the adjustment that q is of");
  }
}

void check_sink(const detail::measure_traits& what, const count_sink& sink) {
  check_filter(what, sink.keep);
  if (sink.histogram_bins < 0 || sink.histogram_bins > detail::most_bins) {
    throw invalid_argument(fmt::format("count_sink.histogram_bins: got {}, expected 0 to {}",
                                       sink.histogram_bins, detail::most_bins));
  }
}

void check_sink(const detail::measure_traits& what, const stream_sink& sink) {
  check_filter(what, sink.keep);
  check_order("stream_sink", sink.order);
  if (!sink.consume) {
    throw invalid_argument("stream_sink.consume: is empty, expected a function");
  }
  if (sink.batch_edges < 1) {
    throw invalid_argument(
        fmt::format("stream_sink.batch_edges: got {}, expected at least 1", sink.batch_edges));
  }
}

namespace {

// What is in device memory cannot be looked at here.
std::vector<index_t> find_in(const detail::any_table& data, int threads) {
  const detail::host_rows rows(detail::source_of(data));
  std::vector<index_t> out;
  if (!rows.may_hold_nan()) return out;
  rows.for_each_view(
      {0, rows.rows()}, threads, [&]<class T>(const matrix_view<const T>& view, index_t first) {
        if constexpr (std::is_floating_point_v<T>) {
          const index_t cols = view.cols();
          const index_t at_once = std::max<index_t>(1, elements_per_task / (cols + 1));
          const auto has = [&](index_t i) { return holds_nan(view.row(i), cols); };
          for (const index_t row : numbers_where(view.rows(), at_once, threads, has)) {
            out.push_back(first + row);
          }
        }
      });
  return out;
}

// The column of the first NaN of a row, in some columns where there are any named.
index_t first_nan_in(const detail::any_table& data, index_t row, const execution& exec,
                     std::span<const index_t> columns) {
  if (detail::is_on_device(data)) {
    return cuda::first_nan_column(detail::device_view(data), row, exec, columns);
  }
  const detail::host_rows rows(detail::source_of(data));
  return rows.with_rows(row, row, [&](const auto& view, index_t i, index_t) {
    const auto column = [&](index_t k) {
      return columns.empty() ? k : columns[static_cast<std::size_t>(k)];
    };
    const index_t last = (columns.empty() ? view.cols() : std::ssize(columns)) - 1;
    index_t k = 0;
    while (k < last && view(i, column(k)) == view(i, column(k))) ++k;
    return column(k);
  });
}

}  // namespace

std::vector<index_t> find_nan_rows(const detail::pair_tables& tables, int threads) {
  std::vector<index_t> out = find_in(tables.x, threads);
  const index_t rows_of_x = detail::rows_of(tables.x);
  std::vector<index_t> of_y;
  if (tables.prepared_y != nullptr) {
    of_y = tables.prepared_y->nan_rows;  // what stands for the rows now need not show them
  } else if (tables.y) {
    of_y = find_in(*tables.y, threads);
  }
  for (const index_t row : of_y) out.push_back(rows_of_x + row);
  return out;
}

void refuse_nan(const detail::pair_tables& tables, std::span<const index_t> rows,
                const execution& exec, std::span<const index_t> columns) {
  const index_t rows_of_x = detail::rows_of(tables.x);
  if (tables.prepared_y != nullptr) {  // whose rows were looked at when they were prepared
    rows = rows.first(static_cast<std::size_t>(
        std::lower_bound(rows.begin(), rows.end(), rows_of_x) - rows.begin()));
  }
  if (rows.empty()) return;
  const bool is_of_y = rows.front() >= rows_of_x;
  const index_t row = rows.front() - (is_of_y ? rows_of_x : 0);
  const char* const name = !detail::has_y(tables) ? "data" : is_of_y ? "y" : "x";
  const index_t col = first_nan_in(is_of_y ? *tables.y : tables.x, row, exec, columns);
  throw invalid_argument(
      fmt::format("{}: got NaN at row {}, column {} ({} with NaN), expected numbers; "
                  "nan_policy::propagate drops such rows{}",
                  name, row, col, detail::counted(rows.size(), "row"),
                  columns.empty() ? ", nan_policy::pairwise skips NaN pair by pair" : ""));
}

namespace {

template <class T>
bool holds_infinity(matrix_view<const T> data, index_t row, std::span<const index_t> columns) {
  if constexpr (std::floating_point<T>) {
    const T* const own = data.row(row);
    const auto is_infinite = [](T value) { return std::isinf(value); };
    if (columns.empty()) return std::any_of(own, own + data.cols(), is_infinite);
    return std::any_of(columns.begin(), columns.end(),
                       [&](index_t k) { return is_infinite(own[k]); });
  } else {
    return false;
  }
}

std::vector<index_t> infinite_on_host(const detail::any_table& table, std::span<const index_t> rows,
                                      int threads, std::span<const index_t> columns) {
  const detail::host_rows data(table);
  if (!data.may_hold_nan()) return {};
  constexpr index_t rows_at_once = 64;
  const auto is_infinite = [&](index_t k) {
    const index_t row = rows[static_cast<std::size_t>(k)];
    return data.with_rows(row, row, [&](const auto& view, index_t i, index_t) {
      return holds_infinity(view, i, columns);
    });
  };
  std::vector<index_t> out = numbers_where(std::ssize(rows), rows_at_once, threads, is_infinite);
  for (index_t& k : out) k = rows[static_cast<std::size_t>(k)];
  return out;
}

}  // namespace

void leave_out(std::span<const index_t> some, std::vector<index_t>& rows) {
  if (some.empty()) return;
  std::vector<index_t> others;
  std::set_difference(rows.begin(), rows.end(), some.begin(), some.end(),
                      std::back_inserter(others));
  rows = std::move(others);
}

std::vector<index_t> take_infinite(const measure_info& what, const detail::any_table& table,
                                   std::vector<index_t>& without, const execution& exec,
                                   std::span<const index_t> columns) {
  if (without.empty() || what.scale == value_scale::ordinal) return {};
  const detail::any_table& source = detail::source_of(table);
  const std::vector<index_t> infinite =
      detail::is_on_device(source)
          ? cuda::infinite_rows(detail::device_view(source), without, columns, exec)
          : infinite_on_host(source, without, exec.cpu_threads, columns);
  leave_out(infinite, without);
  return infinite;
}

}  // namespace gpu::validate
