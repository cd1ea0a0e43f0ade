#pragma once
// The library's all-pairs functions on a table of any element type.

#include <variant>

#include <gpu/error.hpp>
#include <gpu/pearson.hpp>
#include <gpu/plan.hpp>
#include <gpu/spearman.hpp>

#include "cli/options/options.hpp"
#include "io/table.hpp"

namespace gpu::cli {

template <class Sink>
sink_result_t<Sink> all_pairs(const pairs_command& job, const io::table& table,
                              const pair_options& options, const Sink& sink) {
  return std::visit(
      [&](const auto& values) {
        if constexpr (pearson_sink<Sink>) {
          if (job.statistic == statistic_kind::pearson) {
            return pearson_all_pairs(values, options, sink);
          }
        } else if (job.statistic == statistic_kind::pearson) {
          throw unsupported("pearson: patterns of rows are Spearman's, expected another --keep");
        }
        return spearman_all_pairs(values, options, sink);
      },
      table.values);
}

inline pair_plan plan_all_pairs(const pairs_command& job, const io::table& table) {
  return std::visit(
      [&](const auto& values) {
        return job.statistic == statistic_kind::spearman
                   ? plan_spearman_all_pairs(values.view(), job.pairs, job.filter)
                   : plan_pearson_all_pairs(values.view(), job.pairs, job.filter);
      },
      table.values);
}

}  // namespace gpu::cli
