#pragma once
// The library's all-pairs functions on a table of any element type.

#include <variant>

#include <gpu/pearson.hpp>
#include <gpu/plan.hpp>
#include <gpu/spearman.hpp>

#include "cli/options.hpp"
#include "io/table.hpp"

namespace gpu::cli {

template <class Sink>
sink_result_t<Sink> all_pairs(const pairs_command& job, const io::table& table,
                              const pair_options& options, const Sink& sink) {
  return std::visit(
      [&](const auto& values) {
        return job.statistic == statistic_kind::spearman
                   ? spearman_all_pairs(values.view(), options, sink)
                   : pearson_all_pairs(values.view(), options, sink);
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
