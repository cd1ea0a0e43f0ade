#include "cli/parts/manifest/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <limits>

#include "cli/outputs/json_record.hpp"
#include "cli/parts/manifest/part_names.hpp"

namespace gpu::cli {
namespace {

constexpr std::string_view format_name = "gpu-similarity part 2";
constexpr std::string_view own_digest = ",\n  \"manifest_crc32\": \"";

std::string own_digest_of(std::string_view text) {
  io::file_digest digest;
  digest.add(text);
  return fmt::format("{}{:08x}\"\n}}\n", own_digest, digest.crc32);
}

// Columns of a search: none where counting passes bin p itself.
observation_count observations_of_search(const part_manifest& m) {
  switch (m.summary.test) {
    case significance::kendall:
    case significance::permutations:
      return 0;
    case significance::none:
    case significance::student_t:
    case significance::floored_t:
      break;
  }
  return m.summary.observations;
}

/// Each row has a byte at least, and deflate packs at most 1032 bytes into one.
bool fits(index_t rows, const io::file_digest& input) {
  constexpr std::uint64_t most_per_byte = 1032;
  return static_cast<std::uint64_t>(rows) / most_per_byte <= input.bytes;
}

/// Whether the numbers can be those of a part: memory is taken for what they say.
bool is_possible(const part_manifest& m) {
  const pair_summary& s = m.summary;
  return m.job.against.has_value() == (s.y_rows > 0) && fits(s.rows, m.job.input) &&
         (!m.job.against || fits(s.y_rows, *m.job.against)) &&
         family_of(s, m.without) == m.family && s.part_begin <= s.part_end &&
         s.part_end <= s.rows && s.pairs_tested <= m.family &&
         (!m.search || (m.search->least <= m.search->most && m.search->most <= m.family)) &&
         std::all_of(m.files.begin(), m.files.end(), [&m](const part_file& file) {
           return is_file_of({m.step, m.number, m.of}, file.role, file.name);
         });
}

}  // namespace

template <class File, class See>
  requires std::same_as<std::remove_const_t<File>, part_file>
void each_member(File& file, See& see) {
  see("role", file.role);
  see("name", file.name);
  see.add(file.digest);
}

template <class Search, class See>
  requires std::same_as<std::remove_const_t<Search>, discovery_search>
void each_member(Search& search, See& see) {
  see("least", search.least);
  see("most", search.most);
}

template <class Manifest, class See>
  requires std::same_as<std::remove_const_t<Manifest>, part_manifest>
void each_member(Manifest& m, See& see) {
  see("version", m.job.version);
  see("step", m.step);
  see("part", m.number);
  see("of", m.of);
  see("input", m.job.input);
  see("against", m.job.against);
  see("options", m.job.options);
  see.add(m.without);
  see("first_row", m.summary.part_begin);
  see("end_row", m.summary.part_end);
  see.add(m.summary);
  see("family", m.family);
  see("edge_sum", m.edge_sum);
  see("search", m.search);
  see("reading", m.reading);
  see("y_reading", m.y_reading);
  see("files", m.files);
  see("seconds", m.seconds);
}

const part_file* part_manifest::file(std::string_view role) const {
  for (const part_file& f : files) {
    if (f.role == role) return &f;
  }
  return nullptr;
}

std::string panel_text(const part_manifest& m) {
  const pair_summary& s = m.summary;
  if (s.part_begin == s.part_end) return "no rows";
  return fmt::format("rows {} to {}", s.part_begin + 1, s.part_end);
}

std::optional<std::uint64_t> family_of(const pair_summary& s, const row_counts& n) {
  using count = std::optional<std::uint64_t>;
  const auto valid = [](index_t rows, std::initializer_list<std::uint64_t> without) -> count {
    auto left = static_cast<std::uint64_t>(rows);
    for (const std::uint64_t some : without) {
      if (some > left) return {};
      left -= some;
    }
    return left;
  };
  const auto x = valid(s.rows, {n.constant_rows, n.nan_rows, n.infinite_rows});
  const auto y = valid(s.y_rows, {n.y_constant_rows, n.y_nan_rows, n.y_infinite_rows});
  if (!x || !y) return {};
  if (s.y_rows > 0) return *x * *y;
  return *x % 2 == 0 ? *x / 2 * (*x - std::min<std::uint64_t>(*x, 1)) : (*x - 1) / 2 * *x;
}

std::string to_json(const part_manifest& m) {
  json_writer members;
  members("format", format_name);
  members.add(m);
  std::string text = members.lines();
  text.resize(text.size() - std::string_view("\n}\n").size());
  return text + own_digest_of(text);
}

std::optional<part_manifest> parse_manifest(std::string_view text) {
  const std::size_t at = text.rfind(own_digest);
  if (at == std::string_view::npos || text.substr(at) != own_digest_of(text.substr(0, at))) {
    return {};
  }
  const auto value = io::json_value::parse(text);
  if (!value) return {};
  json_reader members(*value);
  std::string format;
  members("format", format);
  part_manifest m;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  pair_summary& s = m.summary;  // an infinite cut is null
  s.max_p_effective = s.min_abs_effective = s.cut_at_least = infinity;
  s.cut_at_most = -infinity;
  members.add(m);
  members.note(format == format_name && m.number >= 1 && m.number <= m.of);
  members.note((m.step > 0) == m.search.has_value());
  if (!members.is_whole() || !is_possible(m)) return {};
  if (m.search) try {
      const pair_filter filter = job_of(m.job).filter;
      m.search->max_p = filter.max_p;
      m.search->side = filter.side;
      m.search->observations = observations_of_search(m);
      m.search->family = m.family;
    } catch (const parts_error&) {
      return {};
    }
  return m;
}

std::optional<pair_checksum> parse_checksum(std::string_view text) {
  pair_checksum out;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto take = [&](std::uint64_t& value, int base) {
    const auto [stopped, error] = std::from_chars(at, end, value, base);
    at = stopped;
    return error == std::errc();
  };
  const auto colon = [&] { return at != end && *at++ == ':'; };
  if (take(out.count, 10) && colon() && take(out.mix1, 16) && colon() && take(out.mix2, 16) &&
      at == end) {
    return out;
  }
  return {};
}

}  // namespace gpu::cli
