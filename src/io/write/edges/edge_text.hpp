#pragma once
// Edges as text: "name_i <tab> name_j <tab> statistic <tab> t <tab> p", or with commas, formatted
// and compressed by all cores; of a measure without a significance test without t and p, of
// Kendall's tau and with exact p without t. Behind p stand n where pairs have their observations,
// and lower and upper where they have confidence intervals.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_sinks.hpp>

#include "io/output_form.hpp"
#include "io/table.hpp"
#include "io/write/edges/edge_pipeline.hpp"
#include "io/write/output_file.hpp"

namespace gpu::io {

struct result_context;

/// Formats what stands behind the names of an edge, "\t<statistic>\t<t>\t<p>\n", or
/// "\t<statistic>\n" without a test, "\t<statistic>\t<p>\n" for Kendall's, with
/// "\t<n>" before the end where pairs have their observations and then "\t<lower>\t<upper>" where
/// they have intervals: the statistic in the fewest digits that give the same double, n in all, the
/// others in six; all in context.digits where these are given. Remembers what it formatted: ranks
/// of few observations have few different statistics. For one thread.
class statistic_text {
 public:
  explicit statistic_text(const result_context& context, char separator = '\t');
  /// Appends to `out`, where `room` bytes may be overwritten; returns the end. p must follow from
  /// the statistic, as it does for one filter; that of Kendall need not, and is not remembered.
  [[nodiscard]] char* append(char* out, double statistic, double p);
  /// The same of a pair of so many observations, which is not remembered where these are others.
  [[nodiscard]] char* append(char* out, double statistic, double p, observation_count observations);
  static constexpr std::size_t line_room = 55;
  static constexpr std::size_t interval_room = 32;  // two separators, bounds, and the end
  static constexpr std::size_t n_room = 20;         // a separator and a number of columns
  static constexpr std::size_t room = 160;  // of these, or of five numbers in 17 digits and n
  static_assert(room >= line_room + n_room + interval_room);

 private:
  struct entry {
    double statistic = 2;  // no correlation: nothing is remembered here
    std::array<char, line_room> text = {};
    std::uint8_t length = 0;
  };
  void fill(entry& e, double statistic, double p, observation_count observations) const;
  void fill_interval(entry& e, double statistic, observation_count observations) const;
  /// Instead of the end of the line before `out`; with an end.
  char* append_n(char* out, observation_count observations) const;
  static char* append_interval(char* out, const entry& e);
  /// All numbers in `digits_`.
  char* append_in_digits(char* out, double statistic, double p,
                         observation_count observations) const;
  // Without remembering it.
  [[nodiscard]] char* append_once(char* out, double statistic, double p,
                                  observation_count observations) const;

  significance test_;
  measure what_;
  double confidence_;
  observation_count observations_;
  int digits_;
  char separator_;
  bool has_n_;
  std::vector<entry> entries_;
  std::vector<entry> intervals_;  // empty: pairs have none
};

/// Writes edges to `out`, formatted and written in the background.
class edge_text_writer final : public edge_writer {
 public:
  /// The names and `out` must outlive the writer.
  edge_text_writer(result_format format, output_file& out, const result_context& context);
  edge_text_writer(const edge_text_writer&) = delete;
  edge_text_writer& operator=(const edge_text_writer&) = delete;
  void write(std::span<const edge> edges) override;
  void finish() override;

 private:
  std::string_view make(std::span<const edge> edges, std::size_t thread, compression packed,
                        block_text& text);
  /// Formats to `text`, which has room; returns the bytes used.
  std::size_t format(std::span<const edge> edges, statistic_text& statistics, char* text) const;

  /// Once, and not before there is a result: what fails first then leaves nothing in a pipe.
  void write_header();

  output_file& out_;
  std::string header_;
  const row_names& names_;                                   // of the first of a pair
  const row_names& col_names_;                               // of the second
  std::function<index_t(index_t row, index_t col)> shared_;  // result_context::shared
  char separator_;
  char col_letter_;
  std::size_t longest_line_;
  std::vector<statistic_text> statistics_;  // one a thread
  std::vector<block_text> plain_;           // the same: text before it is compressed
  edge_pipeline pipeline_;                  // last: its threads use the others
};

/// Writes lines of edges that an edge_text_writer has made, in any pieces: compressed to the bytes
/// that this writer would have written.
class edge_line_copy {
 public:
  /// `out` must outlive it.
  explicit edge_line_copy(output_file& out) : out_(out) {}
  void write(std::string_view lines);
  /// The last block, which may be short.
  void finish();

 private:
  output_file& out_;
  std::string block_;
  std::size_t edges_ = 0;  // in the block
};

}  // namespace gpu::io
