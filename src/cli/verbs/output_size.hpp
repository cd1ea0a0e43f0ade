#pragma once
// How large a result will be, before anything is computed.

#include <string>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/write/result_context.hpp"

namespace gpu::cli {

/// Throws resource_error where the estimated output exceeds job.max_output_bytes. Plans only where
/// the largest possible result would exceed it.
void check_output_size(const pairs_command& job, const input_tables& tables,
                       const io::result_context& context);

/// Pairs of the job, whatever their statistics.
[[nodiscard]] double all_pairs_of(const io::result_context& context);

/// Bytes of a result that keeps `kept` pairs; of top-k, whose table has so many entries.
[[nodiscard]] double output_bytes(const pairs_command& job, const io::result_context& context,
                                  double kept);

/// Bytes that the result of the whole job is estimated to have.
[[nodiscard]] double estimated_output_bytes(const pairs_command& job, const input_tables& tables,
                                            const io::result_context& context);

[[nodiscard]] std::string plan_text(const pairs_command& job, const input_tables& tables,
                                    const io::result_context& context);

}  // namespace gpu::cli
