// The bytes of all parts as the result of a single run.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "cli/parts/joining/joined_parts.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/verbs/differential/differences.hpp"
#include "io/npy_header.hpp"
#include "io/read/file_stream.hpp"
#include "io/write/edges/adjusted_edges.hpp"
#include "io/write/edges/edge_text.hpp"
#include "io/write/result_headers.hpp"

namespace gpu::cli {
namespace {

/// Reads a file in blocks and checks it against its digest.
class checked_file {
 public:
  checked_file(const part_folder& folder, const part_file& file)
      : folder_(folder), file_(file), block_(block_bytes) {
    found_file found = folder.files().find(file.name);
    if (!found.is_there) fail("is not there");
    if (!found.fault.empty()) fail(found.fault);
    bytes_ = io::make_file_stream(found.file->release(), folder.path_of(file.name), is_interrupted,
                                  1, digest_);
  }
  checked_file(const checked_file&) = delete;
  checked_file& operator=(const checked_file&) = delete;

  /// The next bytes; empty at the end, when all were as they should be.
  std::string_view next() {
    const std::size_t got = bytes_->read(block_);
    if (got == 0 && *digest_ != file_.digest) {
      fail(
          fmt::format("was changed: it has {} bytes with CRC-32 {:08x}, expected {} with {:08x}. "
                      "Run that part again",
                      digest_->bytes, digest_->crc32, file_.digest.bytes, file_.digest.crc32));
    }
    return {block_.data(), got};
  }
  std::string all() {
    std::string out;
    for (std::string_view bytes = next(); !bytes.empty(); bytes = next()) out += bytes;
    return out;
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{4} << 20;
  [[noreturn]] void fail(const std::string& what) const {
    throw parts_error(fmt::format("{}: {}", folder_.path_of(file_.name), what));
  }

  const part_folder& folder_;
  const part_file& file_;
  std::vector<char> block_;
  std::shared_ptr<io::file_digest> digest_ = std::make_shared<io::file_digest>();
  std::unique_ptr<io::byte_stream> bytes_;
};

const part_file& file_of(const part_folder& folder, const part_manifest& m, std::string_view role) {
  const part_file* const file = m.file(role);
  if (file == nullptr) {
    refuse_parts(folder, fmt::format("{} has no {}", text_of({m.step, m.number, m.of}), role));
  }
  return *file;
}

void copy_file(const part_folder& folder, const part_file& file, io::output_file& out) {
  checked_file in(folder, file);
  for (std::string_view bytes = in.next(); !bytes.empty(); bytes = in.next()) out.write(bytes);
}

/// What the rows of a job are read and headed by; their names stand in them.
io::result_context context_of(const joined_parts& joined) {
  const pairs_command& job = joined.command;
  static const io::row_names none;
  const pair_summary& s = joined.summary;
  return {.names = none,
          .rows = s.rows,
          .observations = s.observations,
          .rank_test = s.test,
          .what = job.what,
          .side = job.filter.side,
          .has_n = job.writes_n,
          .confidence = job.confidence,
          .digits = job.is_differential() ? 6 : 0,  // as differential_lines has them
          .against = s.y_rows > 0 ? &none : nullptr,
          .against_rows = s.y_rows};
}

std::string npy_header_of(const joined_parts& joined) {
  const pairs_command& job = joined.command;
  const pair_summary& s = joined.summary;
  const io::result_context context = context_of(joined);
  if (job.keep != keep_kind::dense) {
    return io::pair_header(job.format, context, io::pair_rows::edges, false, s.pairs_kept);
  }
  return io::dense_header(io::result_format::npy, s.rows, context);
}

/// The p of all parts, of `most` tests or rows at most, from the files of that role.
std::vector<double> p_of_parts(const joined_parts& joined, const part_folder& folder,
                               std::uint64_t most, std::string_view role = "p") {
  std::vector<double> p;
  std::uint64_t bytes = 0;
  for (const part_manifest& m : joined.parts) {
    const part_file& file = file_of(folder, m, role);
    bytes += file.digest.bytes;
    if (file.digest.bytes % sizeof(double) == 0 && bytes / sizeof(double) <= most) continue;
    refuse_parts(folder, fmt::format("{} has {} bytes, which do not hold p of tests of the job",
                                     file.name, file.digest.bytes));
  }
  p.resize(bytes / sizeof(double));
  char* to = reinterpret_cast<char*>(p.data());
  for (const part_manifest& m : joined.parts) {
    const part_file& file = file_of(folder, m, role);
    char* const end = to + file.digest.bytes;
    checked_file in(folder, file);
    for (std::string_view read = in.next(); !read.empty(); read = in.next()) {
      // A file that grew is refused at its end.
      const std::size_t taken = std::min(read.size(), static_cast<std::size_t>(end - to));
      std::memcpy(to, read.data(), taken);
      to += taken;
    }
  }
  return p;
}

/// Rows with q, which follows from the p of all tests. Those of edges stand in the rows, which are
/// read twice; a table of partners, and differential correlation, have files of them.
void join_adjusted_rows(const joined_parts& joined, const part_folder& folder,
                        io::output_file& out) {
  const pairs_command& job = joined.command;
  const io::result_context context = context_of(joined);
  const std::uint64_t kept = joined.summary.pairs_kept;
  io::adjusted_rows rows(job.format, context);
  const auto for_each_block = [&](const auto& take) {
    for (const part_manifest& m : joined.parts) {
      checked_file in(folder, file_of(folder, m, "rows"));
      for (std::string_view bytes = in.next(); !bytes.empty(); bytes = in.next()) take(bytes);
    }
  };
  if (job.is_differential()) {
    rows.learn(p_of_parts(joined, folder, kept));
  } else if (joined.parts.front().file("row_p") != nullptr) {
    rows.learn(p_of_parts(joined, folder, kept, "row_p"));
  } else {
    for_each_block([&](std::string_view bytes) { rows.learn(bytes); });
  }
  // Edges are all tests that the cut of Benjamini and Hochberg keeps; partners are some of them.
  const bool is_bh = job.filter.adjust == adjustment::benjamini_hochberg;
  if (job.is_differential() ? is_bh : job.keep == keep_kind::edges) {
    rows.adjust(joined.family, job.filter.adjust);
  } else {
    std::vector<double> tests;
    if (is_bh) tests = p_of_parts(joined, folder, joined.family);
    rows.adjust_within(tests, joined.family, job.filter.adjust);
  }
  if (job.is_differential()) {
    copy_file(folder, file_of(folder, joined.parts.front(), "header"), out);
  } else {
    out.write(io::pair_header(
        job.format, context,
        job.keep == keep_kind::top_k ? io::pair_rows::partners : io::pair_rows::edges, true, kept));
  }
  try {
    for_each_block([&](std::string_view bytes) { out.write(rows.with_q(bytes)); });
  } catch (const std::out_of_range&) {
    refuse_parts(folder, "the parts have more lines than p");
  }
  if (rows.rows_left() > 0) refuse_parts(folder, "the parts have fewer lines than p");
}

/// The lines of edges, which a single run compresses in blocks of its own.
void join_edge_lines(const joined_parts& joined, const part_folder& folder, io::output_file& out) {
  io::edge_line_copy lines(out);
  for (const part_manifest& m : joined.parts) {
    checked_file in(folder, file_of(folder, m, "rows"));
    for (std::string_view bytes = in.next(); !bytes.empty(); bytes = in.next()) lines.write(bytes);
  }
  lines.finish();
}

/// Rows behind one header.
void join_rows(const joined_parts& joined, const part_folder& folder, io::output_file& out) {
  const pairs_command& job = joined.command;
  if (job.writes_q()) return join_adjusted_rows(joined, folder, out);
  if (job.format == io::result_format::npy) {
    out.write(npy_header_of(joined));
  } else {
    copy_file(folder, file_of(folder, joined.parts.front(), "header"), out);
  }
  if (job.keep == keep_kind::edges && !job.is_differential() &&
      job.format != io::result_format::npy) {
    return join_edge_lines(joined, folder, out);
  }
  for (const part_manifest& m : joined.parts) copy_file(folder, file_of(folder, m, "rows"), out);
}

/// That the file is as long as a .npy of so many degrees: before memory is taken for them.
void expect_degrees(const part_folder& folder, const part_file& file, const pair_summary& s) {
  constexpr std::uint64_t longest_header = 1024;
  const std::uint64_t bytes = static_cast<std::uint64_t>(s.rows + s.y_rows) * sizeof(std::uint32_t);
  if (file.digest.bytes >= bytes && file.digest.bytes - bytes <= longest_header) return;
  refuse_parts(folder,
               fmt::format("{} has {} bytes, which is not a table of the degrees of {} rows",
                           file.name, file.digest.bytes, s.rows + s.y_rows));
}

/// Adds the degrees of a part to `sums`.
void add_degrees(const part_folder& folder, const part_file& file,
                 std::vector<std::uint64_t>& sums) {
  const std::size_t bytes = sums.size() * sizeof(std::uint32_t);
  const std::string text = checked_file(folder, file).all();
  if (text.size() < bytes) refuse_parts(folder, file.name + " has too few degrees");
  std::vector<std::uint32_t> degrees(sums.size());
  std::memcpy(degrees.data(), text.data() + (text.size() - bytes), bytes);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += degrees[i];
}

/// Each degree behind the name of its row; the first line is the header.
void write_degrees(const joined_parts& joined, const part_folder& folder,
                   const std::vector<std::uint64_t>& degrees, io::output_file& out) {
  const part_file& file = file_of(folder, joined.parts.front(), "names");
  const std::string names = checked_file(folder, file).all();
  std::string_view rest = names;
  const auto next_line = [&] {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) refuse_parts(folder, file.name + " does not name every row");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
  };
  std::string text = std::string(next_line()) + "\n";
  const char separator = io::separator_of(joined.command.format);
  for (const std::uint64_t degree : degrees) {
    text.append(next_line()).append(fmt::format("{}{}\n", separator, degree));
    constexpr std::size_t full = std::size_t{1} << 20;
    if (text.size() >= full) out.write(std::exchange(text, {}));
  }
  if (!rest.empty()) refuse_parts(folder, file.name + " names more rows than there are");
  out.write(text);
}

void join_degrees(const joined_parts& joined, const part_folder& folder, io::output_file& out) {
  const pair_summary& s = joined.summary;
  for (const part_manifest& m : joined.parts)
    expect_degrees(folder, file_of(folder, m, "degrees"), s);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(s.rows + s.y_rows));
  for (const part_manifest& m : joined.parts) {
    add_degrees(folder, file_of(folder, m, "degrees"), sums);
  }
  if (joined.command.format != io::result_format::npy) {
    return write_degrees(joined, folder, sums, out);
  }
  // Each is below the number of rows.
  const std::vector<std::uint32_t> degrees(sums.begin(), sums.end());
  out.write(io::make_npy_header("'<u4'", {s.rows + s.y_rows}));
  out.write(io::bytes_of(std::span<const std::uint32_t>(degrees)));
}

void write_rows(const joined_parts& joined, const part_folder& folder, io::output_file& out) {
  if (joined.command.keep == keep_kind::counts) {
    join_degrees(joined, folder, out);
  } else {
    join_rows(joined, folder, out);
  }
}

}  // namespace

void write_joined(const joined_parts& joined, const part_folder& folder, run_outputs& outputs) {
  io::output_file& result = outputs.result();
  write_rows(joined, folder, result);
  result.commit();
}

}  // namespace gpu::cli
