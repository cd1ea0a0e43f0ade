#pragma once
// A part of a job of differential correlation, from a table in memory.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/discovery.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// What a part keeps.
struct difference_part {
  std::vector<differential_edge> edges;  ///< Of edges and partners, in the order of their lines.
  std::vector<std::uint32_t> degree;     ///< Of counts.
  /// As of other measures: the cuts are those on z, and the checksum is of z.
  pair_summary summary;
};

/// @param options, filter the part, and the cut, which for --adjust bh is that of the whole job.
[[nodiscard]] difference_part find_differences(const pairs_command& job, const input_tables& tables,
                                               const pair_options& options,
                                               const pair_filter& filter);

/// A counting pass of --adjust bh over the part.
[[nodiscard]] discovery_counts count_differences(const pairs_command& job,
                                                 const input_tables& tables,
                                                 const pair_options& options,
                                                 const discovery_sink& sink);

}  // namespace gpu::cli
