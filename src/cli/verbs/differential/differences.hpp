#pragma once
// A job of differential correlation, or a part of it, from a table in memory, and the lines of its
// result.

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/discovery.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/differential/group_labels.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

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

[[nodiscard]] discovery_counts count_differences(const pairs_command& job,
                                                 const input_tables& tables,
                                                 const pair_options& options,
                                                 const discovery_sink& sink);

/// Bytes of a line without its names, about.
inline constexpr double difference_numbers_bytes = 65;

/// The entries of a table of partners as edges: of row i of the panel (i, partner), best first.
[[nodiscard]] std::vector<differential_edge> edges_of(const differential_partners& found);

/// The adjusted p of all lines of a result; of partners a pair has two lines where each row is a
/// partner of the other, and is still one test.
[[nodiscard]] std::vector<double> q_of_lines(std::span<const double> p, std::uint64_t pairs_tested,
                                             adjustment adjust);

/// What the lines of a job have in common.
class differential_lines {
 public:
  /// @param symbol of the correlation
  differential_lines(keep_kind keep, io::result_format format, std::string_view symbol);

  /// The names of the columns, with the end of the line.
  [[nodiscard]] std::string header(const labelled_groups& groups, bool has_q) const;

  /// The columns of the next edge up to p, without the end of the line; `name_i` and `name_j` are
  /// fields. With partners the edges of a row come one behind the other.
  template <class Output>
  void append(Output out, std::string_view name_i, std::string_view name_j,
              const differential_edge& e) {
    rank_ = is_first_ || e.row != row_ ? 1 : rank_ + 1;
    is_first_ = false;
    row_ = e.row;
    fmt::format_to(out, "{}{}", name_i, tab_);
    if (has_rank_) fmt::format_to(out, "{}{}", rank_, tab_);
    fmt::format_to(out, "{1}{0}{2}{0}{3}{0}{4:.6g}{0}{5:.6g}", tab_, name_j, e.first, e.second, e.z,
                   e.p);
  }
  [[nodiscard]] std::string q_text(double q) const { return fmt::format("{}{:.6g}", tab_, q); }

 private:
  std::string symbol_;
  char tab_;
  bool has_rank_;
  bool is_first_ = true;
  node_id row_ = 0;
  index_t rank_ = 0;
};

}  // namespace gpu::cli
