#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <gpu/backend.hpp>

namespace gpu::cli {
namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

double run_report::pairs_seconds() const {
  return std::max(0.0, summary.pairs_seconds - write_between_seconds);
}

std::string to_json(const run_report& r) {
  const pair_summary& s = r.summary;
  std::string out = "{\n";
  const auto add = [&](std::string_view key, const auto& value) {
    out += fmt::format("  \"{}\": {},\n", key, value);
  };
  add("rows", s.rows);
  add("cols", s.cols);
  add("constant_rows", s.constant_rows.size());
  add("patterns", s.patterns);
  add("pairs_tested", s.pairs_tested);
  add("pairs_kept", s.pairs_kept);
  add("max_p_effective", s.max_p_effective);
  add("min_abs_effective", std::isfinite(s.min_abs_effective)
                               ? fmt::format("{}", s.min_abs_effective)
                               : std::string("null"));
  add("edge_sum", r.edge_sum ? fmt::format("{}", *r.edge_sum) : std::string("null"));
  add("backend", json_text(to_string(s.used)));
  add("device", json_text(s.device));
  add("variant", json_text(to_string(s.variant)));
  out += fmt::format(
      "  \"seconds\": {{\"read\": {:.6f}, \"prepare\": {:.6f}, \"pairs\": {:.6f}, \"write\": "
      "{:.6f}, \"total\": {:.6f}}}\n}}\n",
      r.read_seconds, s.prepare_seconds, r.pairs_seconds(), r.write_seconds(), r.total_seconds);
  return out;
}

std::string to_text(const run_report& r) {
  const pair_summary& s = r.summary;
  std::string out = fmt::format("{} rows x {} columns, {} pairs tested, {} kept", s.rows, s.cols,
                                s.pairs_tested, s.pairs_kept);
  if (s.patterns > 0) out += fmt::format("\n{} distinct rows of ranks", s.patterns);
  if (!s.constant_rows.empty()) {
    out += fmt::format("\n{} constant rows have no correlation", s.constant_rows.size());
  }
  if (!s.nan_rows.empty()) out += fmt::format("\n{} rows with a NaN left out", s.nan_rows.size());
  out +=
      fmt::format("\np <= {:.6g}, |statistic| >= {:.6g}", s.max_p_effective, s.min_abs_effective);
  out += fmt::format("\n{} ({}), {}", to_string(s.used), s.device, to_string(s.variant));
  const double pairs = r.pairs_seconds();
  if (pairs > 0) {
    out += fmt::format(": {:.3g} pairs/s", static_cast<double>(s.pairs_tested) / pairs);
  }
  out += fmt::format(
      "\nread {:.3f} s, prepare {:.3f} s, pairs {:.3f} s, write {:.3f} s, total {:.3f} s\n",
      r.read_seconds, s.prepare_seconds, pairs, r.write_seconds(), r.total_seconds);
  return out;
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  constexpr double step = 1000;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace gpu::cli
