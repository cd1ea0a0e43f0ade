#pragma once
// Whether the edges of a job fit the format of a network, as far as that is known before any pair
// is computed.

#include "cli/options/options.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/write/result_context.hpp"

namespace gpu::cli {

/// Whether the names of the rows can stand in the format, and, unless --force was given, whether a
/// sample of the pairs says that there will be too many edges.
/// @throw usage_error, too_large
void check_network(const pairs_command& job, const input_tables& tables,
                   const io::result_context& context);

/// How many edges the result may have: as many as an edge_sink takes, or those of a network.
[[nodiscard]] index_t most_edges_of(const pairs_command& job);

/// Of `edges` edges, at least or about so many.
[[nodiscard]] too_large too_many_edges(const pairs_command& job, double edges);

}  // namespace gpu::cli
