#include "cli/parts/manifest/manifest_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/parts/manifest/part_names.hpp"

namespace gpu::cli {
namespace {

/// Rows that have a statistic; nothing where more have none than there are.
std::optional<std::uint64_t> valid_rows(index_t rows, std::uint64_t constant,
                                        std::uint64_t with_nan, std::uint64_t infinite) {
  auto left = static_cast<std::uint64_t>(rows);
  for (const std::uint64_t without : {constant, with_nan, infinite}) {
    if (without > left) return {};
    left -= without;
  }
  return left;
}

/// Each row has a byte at least, and deflate packs at most 1032 bytes into one.
bool fits(index_t rows, const io::file_digest& input) {
  constexpr std::uint64_t most_per_byte = 1032;
  return static_cast<std::uint64_t>(rows) / most_per_byte <= input.bytes;
}

std::string fault_of_rows(const part_manifest& m) {
  const pair_summary& s = m.summary;
  if (s.rows < 0 || s.cols < 0 || s.y_rows < 0 || s.patterns < 0) return "a negative extent";
  if (m.job.against.has_value() != (s.y_rows > 0)) {
    return fmt::format("{} rows of a second table, expected {}", s.y_rows,
                       m.job.against ? "some: the job has --against" : "none");
  }
  if (!fits(s.rows, m.job.input) || (m.job.against && !fits(s.y_rows, *m.job.against))) {
    return fmt::format("{} rows, more than its input of {} bytes can hold",
                       std::max(s.rows, s.y_rows), m.job.input.bytes);
  }
  const auto x =
      valid_rows(s.rows, m.without.constant_rows, m.without.nan_rows, m.without.infinite_rows);
  const auto y = valid_rows(s.y_rows, m.without.y_constant_rows, m.without.y_nan_rows,
                            m.without.y_infinite_rows);
  if (!x || !y) {
    return fmt::format("{} constant rows, {} with NaN and {} with infinite values of {} rows",
                       x ? m.without.y_constant_rows : m.without.constant_rows,
                       x ? m.without.y_nan_rows : m.without.nan_rows,
                       x ? m.without.y_infinite_rows : m.without.infinite_rows,
                       x ? s.y_rows : s.rows);
  }
  const std::uint64_t family = tests_of(*x, s.y_rows > 0 ? y : std::nullopt);
  if (family != m.family) {
    return fmt::format("{} tests of the job, expected {} by its rows", m.family, family);
  }
  return "";
}

std::string fault_of_part(const part_manifest& m) {
  const pair_summary& s = m.summary;
  if (s.part_begin < 0 || s.part_begin > s.part_end || s.part_end > s.rows) {
    return fmt::format("{}, expected some of the {} rows", panel_text(m), s.rows);
  }
  if (s.pairs_tested > m.family) {
    return fmt::format("{} pairs tested of the {} of the job", s.pairs_tested, m.family);
  }
  if (m.search && (m.search->least > m.search->most || m.search->most > m.family)) {
    return fmt::format("{} to {} discoveries of {} tests", m.search->least, m.search->most,
                       m.family);
  }
  return "";
}

}  // namespace

std::string fault_of(const part_manifest& m) {
  for (const part_file& file : m.files) {
    if (!is_file_of({m.step, m.number, m.of}, file.role, file.name)) {
      return fmt::format("a file {} of {}, which no part of that place has", file.name, file.role);
    }
  }
  const std::string fault = fault_of_rows(m);
  return fault.empty() ? fault_of_part(m) : fault;
}

}  // namespace gpu::cli
