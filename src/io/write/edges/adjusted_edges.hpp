#pragma once
// Edges with q, the adjusted p, behind their p: known only when all edges are.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/output_form.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// As edge_writer writes them, with a last column q; of .npy with a last field q. The measure has
/// p.
void write_adjusted_edges(result_format format, output_file& out, std::span<const edge> edges,
                          std::span<const double> q, const result_context& context);

/// Adds q to rows that edge_writer or write_neighbors wrote without a header, which come in blocks
/// that end anywhere.
class adjusted_rows {
 public:
  adjusted_rows(result_format format, const result_context& context)
      : format_(format), context_(context) {}

  /// Takes the p of all rows, in their order.
  void learn(std::string_view bytes);
  /// The same where text does not tell them.
  void learn(std::vector<double> p) { q_ = std::move(p); }
  /// All rows were seen: from here on they come again.
  /// @param family tests of the whole job.
  void adjust(std::uint64_t family, adjustment how);
  /// The same of rows that are some of the tests, as partners are.
  /// @param tests p as of gpu::adjusted_p_values; sorted.
  void adjust_within(std::span<double> tests, std::uint64_t family, adjustment how);
  /// How many rows have not come again yet.
  [[nodiscard]] std::size_t rows_left() const noexcept { return q_.size() - next_; }

  /// The rows in `bytes` that are whole now, with q.
  /// @throw std::out_of_range where there are more rows than p
  [[nodiscard]] std::string with_q(std::string_view bytes);

 private:
  template <class Row>
  void for_each_row(std::string_view bytes, const Row& row);
  [[nodiscard]] double p_of(std::string_view row) const;

  result_format format_;
  const result_context& context_;
  std::string rest_;       // of a row that goes on in the next block
  std::vector<double> q_;  // p before adjust()
  std::size_t next_ = 0;
};

}  // namespace gpu::io
