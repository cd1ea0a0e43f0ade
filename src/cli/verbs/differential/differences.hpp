#pragma once
// A job of differential correlation, or a part of it, from a table in memory.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/discovery.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// What a job keeps, or a part of it.
struct differences {
  std::vector<differential_edge> edges = {};  ///< Of edges and partners, in the order of lines.
  std::vector<std::uint32_t> degree = {};     ///< Of counts.
  differential_summary summary = {};
};

/// @param options, filter the part, and the cut: with --adjust bh the cut of the whole job.
[[nodiscard]] differences find_differences(const pairs_command& job, const io::table& table,
                                           const labelled_groups& groups,
                                           const pair_options& options, const pair_filter& filter);

/// As of other measures, without a checksum: the cuts are those on z.
[[nodiscard]] pair_summary summary_of(const input_tables& tables, const pair_options& options,
                                      const pair_filter& filter, differential_summary found);

/// A counting pass of --adjust bh over the part.
[[nodiscard]] discovery_counts count_differences(const pairs_command& job,
                                                 const input_tables& tables,
                                                 const pair_options& options,
                                                 const discovery_sink& sink);

}  // namespace gpu::cli
