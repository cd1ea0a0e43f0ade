#pragma once
// The manifest of a part: which job and part it is, what is in its files, and the digests that show
// whether they are whole. A part without a manifest counts as not computed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/discovery.hpp>
#include <gpu/pair_sinks.hpp>

#include "cli/outputs/row_counts.hpp"
#include "cli/parts/manifest/job_key.hpp"
#include "io/file_digest.hpp"
#include "io/table.hpp"

namespace gpu::cli {

struct part_file {
  std::string role;  ///< "rows", "row_p", "p", "degrees", "bins"; of the first part also "header"
                     ///< or "names".
  std::string name;  ///< In the folder of the parts.
  io::file_digest digest;
};

struct part_manifest {
  job_key job;
  int step = 0;        ///< 0: the result; from 1: a counting pass for --adjust bh.
  index_t number = 1;  ///< From 1 to `of`.
  index_t of = 1;
  /// Rows and columns of the input, first and end row of the part, what was tested and kept, cuts
  /// and checksum. Of constant, NaN and infinite rows only how many there are, below.
  pair_summary summary = {};
  row_counts without = {};
  std::uint64_t family = 0;  ///< Tests of the whole job.
  /// Of edges: the sum that reports have, over the edges of the part.
  std::optional<std::uint64_t> edge_sum = {};
  /// Of a counting pass: what it counted for.
  std::optional<discovery_search> search = {};
  io::table_reading reading = {};  ///< Of the input.
  io::table_reading y_reading = {};
  std::vector<part_file> files = {};
  double seconds = 0;  ///< From the table in memory to the files.

  /// The file of that role; null where there is none.
  [[nodiscard]] const part_file* file(std::string_view role) const;
};

/// "rows 11 to 20", counted from 1.
[[nodiscard]] std::string panel_text(const part_manifest& manifest);

/// Tests of the whole job whose part has this summary, and so many rows without a statistic;
/// nothing where these are more than there are rows.
[[nodiscard]] std::optional<std::uint64_t> family_of(const pair_summary& summary,
                                                     const row_counts& without);

/// As JSON, with a CRC-32 of its own text behind the other members.
[[nodiscard]] std::string to_json(const part_manifest& manifest);

/// The manifest that `text` is; nothing where a byte of it was changed, or it is none of this
/// format, or says what no part says: a file that is none of its place, more constant rows than
/// rows, another number of tests than its rows have.
[[nodiscard]] std::optional<part_manifest> parse_manifest(std::string_view text);

}  // namespace gpu::cli
