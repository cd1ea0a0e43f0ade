#pragma once
// Edges as text: "name_i <tab> name_j <tab> statistic <tab> t <tab> p", formatted by all cores.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "io/output_file.hpp"
#include "io/table.hpp"

namespace gpu::io {

/// Formats what stands behind the names of an edge, "\t<statistic>\t<t>\t<p>\n": the statistic in
/// the fewest digits that give the same double, t and p in six. Remembers what it formatted: ranks
/// of few observations have few different statistics. For one thread.
class statistic_text {
 public:
  explicit statistic_text(index_t observations);
  /// Valid until the next call.
  [[nodiscard]] std::string_view format(double statistic, double p);
  static constexpr std::size_t longest = 72;

 private:
  struct entry {
    double statistic = 0;
    double p = -1;  // no p: nothing is remembered here
    std::uint64_t length = 0;
    std::array<char, longest> text = {};
  };
  index_t observations_;
  std::vector<entry> entries_;
};

/// Writes edges to `out`.
class edge_text_writer {
 public:
  /// `names` and `out` must outlive the writer. @param threads 0: what OpenMP would take.
  edge_text_writer(output_file& out, const row_names& names, index_t rows, index_t observations,
                   int threads);
  /// @throw output_error
  void write(std::span<const edge> edges);

 private:
  /// Formats to `text`, which has room; returns the bytes used.
  std::size_t format(std::span<const edge> edges, statistic_text& statistics, char* text) const;

  output_file& out_;
  const row_names& names_;
  std::size_t longest_line_;
  std::vector<statistic_text> statistics_;  // one a thread
  std::vector<std::vector<char>> pieces_;
  std::vector<std::size_t> piece_bytes_;
};

}  // namespace gpu::io
