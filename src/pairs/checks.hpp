#pragma once
// What all-pairs operations check before any work: each function throws gpu::invalid_argument
// unless it says otherwise.

#include <span>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/discovery.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/measures/measures.hpp"

namespace gpu::validate {

/// As many columns in x and y, as many as the measure takes. rows <= 2^32 - 1, together.
void check_pair_shape(const detail::measure_traits& what, const detail::pair_tables& tables);
/// A measure of the values themselves takes 64-bit integers that doubles hold; else names row,
/// column and value of the first that is larger. Reads such tables once, in parallel.
void check_exact_values(const detail::measure_traits& what, const detail::pair_tables& tables,
                        int threads);
/// 0 <= index < of.
void check_part(const pair_part& part);
/// The cuts are in their ranges, and the measure has a p where there is a cut on p; else
/// gpu::unsupported.
void check_filter(const detail::measure_traits& what, const pair_filter& keep);
template <class Value>
void check_sink(const detail::measure_traits& /*what*/, const basic_dense_sink<Value>& /*sink*/) {}
void check_sink(const detail::measure_traits& what, const edge_sink& sink);
void check_sink(const detail::measure_traits& what, const top_k_sink& sink);
void check_sink(const detail::measure_traits& what, const count_sink& sink);
void check_sink(const detail::measure_traits& what, const stream_sink& sink);
/// discovery_sink.search is one of the call whose search begins with `begun`.
void check_search(const discovery_search& search, const discovery_search& begun);
/// Throws gpu::capacity_exceeded: `kept` pairs pass, and sink.max_edges is `most`.
[[noreturn]] void throw_over_capacity(const char* sink, const char* what, index_t kept,
                                      index_t most);

/// Rows that hold a NaN, ascending, those of y numbered behind those of x; none for integers and
/// for tables in device memory. Reads the data once, in parallel.
std::vector<index_t> find_nan_rows(const detail::pair_tables& tables, int threads);

/// Names row and column of the first NaN where there is one: `rows` are those with a NaN,
/// ascending, those of y numbered behind those of x.
/// @param columns those that are looked at; none: all
void refuse_nan(const detail::pair_tables& tables, std::span<const index_t> rows,
                const execution& exec, std::span<const index_t> columns = {});

/// Takes `some` out of `rows`: both ascending.
void leave_out(std::span<const index_t> some, std::vector<index_t>& rows);
/// Takes the rows that hold an infinite value out of `without`, and returns them: both ascending.
/// Of a measure of ranks there are none. Reads these rows alone.
/// @param without rows of `table` without a statistic and without a NaN
/// @param columns those that are looked at; none: all
std::vector<index_t> take_infinite(const measure_info& what, const detail::any_table& table,
                                   std::vector<index_t>& without, const execution& exec,
                                   std::span<const index_t> columns = {});

}  // namespace gpu::validate
