#pragma once
// The library's all-pairs functions on tables of any element type.

#include <variant>

#include <gpu/all_pairs.hpp>
#include <gpu/plan.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

inline detail::any_table table_of(const io::table& table) {
  if (table.sparse) {
    return table.sparse->with_view([](const auto& view) -> detail::any_table { return view; });
  }
  return std::visit(
      [](const auto& values) -> detail::any_table { return detail::read_table(values); },
      table.values);
}

/// The tables as the library takes them, whatever their element types: one instantiation of a sink
/// in place of one a pair of types.
inline detail::pair_tables tables_of(const input_tables& tables) {
  detail::pair_tables out{table_of(tables.x)};
  if (tables.y) out.y = table_of(*tables.y);
  return out;
}

template <class Sink>
sink_result_t<Sink> all_pairs(const pairs_command& job, const input_tables& tables,
                              const pair_options& options, const Sink& sink) {
  return detail::all_pairs(job.what, tables_of(tables), tables.with_columns(options), sink);
}

inline pair_plan plan_all_pairs(const pairs_command& job, const input_tables& tables) {
  return detail::plan_all_pairs(job.what, tables_of(tables), tables.with_columns(job.pairs),
                                job.filter);
}

}  // namespace gpu::cli
