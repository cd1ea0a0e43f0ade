#pragma once
// What a run did, for people and for programs.

#include <cstdint>
#include <optional>
#include <string>

#include <gpu/pair_sinks.hpp>

namespace gpu::cli {

struct run_report {
  pair_summary summary;
  /// Sum over the kept pairs of i * rows + j, modulo 2^64; only where the pairs pass by.
  std::optional<std::uint64_t> edge_sum = {};
  double read_seconds = 0;
  double write_between_seconds = 0;  ///< Writing while the pairs are computed.
  double write_after_seconds = 0;    ///< Writing afterwards.
  double total_seconds = 0;
  /// Seconds of the pairs alone, without the writing between them.
  [[nodiscard]] double pairs_seconds() const;
  [[nodiscard]] double write_seconds() const { return write_between_seconds + write_after_seconds; }
};

/// The report as JSON.
[[nodiscard]] std::string to_json(const run_report& report);

/// The same in a few lines of text.
[[nodiscard]] std::string to_text(const run_report& report);

/// "1.5 GB"
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace gpu::cli
