#include "pairs/folding/equal_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t rows_per_task = 8192;
// Hashes are partitioned by their upper bits, and each part is sorted by itself: small enough for a
// cache, and enough parts for all threads.
constexpr int part_bits = 8;
constexpr std::size_t parts = std::size_t{1} << part_bits;

struct hashed_row {
  std::uint64_t hash;
  node_id row;
};

bool before(const hashed_row& a, const hashed_row& b) {
  return a.hash != b.hash ? a.hash < b.hash : a.row < b.row;
}

// Murmur3's finalizer: every bit of the result depends on every bit of the argument.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

std::uint64_t hash_row(const std::byte* row, std::size_t bytes) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, row + at, std::min(sizeof word, bytes - at));
    hash = mix(hash * 0x9e3779b97f4a7c15ULL + word);
  }
  return hash;
}

std::size_t part_of(std::uint64_t hash) {
  return static_cast<std::size_t>(hash >> (64 - part_bits));
}

// Rows by part, ascending within each; begin[p] .. begin[p + 1] are those of part p.
struct parted_rows {
  std::vector<hashed_row> rows;
  std::vector<std::size_t> begin;
};

// Of the rows that the lower bits of their hashes put into `pass`.
parted_rows part_by_hash(std::span<const std::uint64_t> hashes, int pass, int passes, int threads) {
  const auto count = static_cast<index_t>(hashes.size());
  const index_t tasks = (count + rows_per_task - 1) / rows_per_task;
  std::vector<std::uint32_t> next(static_cast<std::size_t>(tasks) * parts);
  const auto for_each_row = [&](index_t task, const auto& body) {
    const index_t end = std::min(count, (task + 1) * rows_per_task);
    for (index_t i = task * rows_per_task; i < end; ++i) {
      const std::uint64_t hash = hashes[static_cast<std::size_t>(i)];
      if (static_cast<int>(hash % static_cast<std::uint64_t>(passes)) != pass) continue;
      body(next[static_cast<std::size_t>(task) * parts + part_of(hash)], hash, i);
    }
  };
  parallel_for(tasks, threads, [&](index_t task, int) {
    for_each_row(task, [](std::uint32_t& place, std::uint64_t, index_t) { ++place; });
  });
  parted_rows out{{}, std::vector<std::size_t>(parts + 1)};
  std::size_t sum = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    out.begin[p] = sum;
    for (std::size_t task = 0; task < static_cast<std::size_t>(tasks); ++task) {
      sum += std::exchange(next[task * parts + p], static_cast<std::uint32_t>(sum));
    }
  }
  out.begin[parts] = sum;
  out.rows.resize(sum);
  parallel_for(tasks, threads, [&](index_t task, int) {
    for_each_row(task, [&](std::uint32_t& place, std::uint64_t hash, index_t i) {
      out.rows[place++] = {hash, static_cast<node_id>(i)};
    });
  });
  return out;
}

// first_of[i]: the first row equal to row i. `run` are rows of one hash, ascending; they are
// nearly always equal, but only a comparison can tell.
void match_run(const row_comparison& equal, std::span<const hashed_row> run, int thread,
               std::vector<node_id>& first_of) {
  std::vector<node_id> heads;
  for (const hashed_row& entry : run) {
    const auto same = std::find_if(heads.begin(), heads.end(),
                                   [&](node_id head) { return equal(head, entry.row, thread); });
    first_of[entry.row] = same == heads.end() ? heads.emplace_back(entry.row) : *same;
  }
}

void match_parts(const row_comparison& equal, parted_rows& parted, int threads,
                 std::vector<node_id>& first_of) {
  parallel_for(static_cast<index_t>(parts), threads, [&](index_t p, int thread) {
    const auto part = static_cast<std::size_t>(p);
    const auto entries =
        std::span(parted.rows)
            .subspan(parted.begin[part], parted.begin[part + 1] - parted.begin[part]);
    std::sort(entries.begin(), entries.end(), before);
    for (std::size_t begin = 0; begin < entries.size();) {
      std::size_t end = begin + 1;
      while (end < entries.size() && entries[end].hash == entries[begin].hash) ++end;
      if (end - begin == 1) {
        first_of[entries[begin].row] = entries[begin].row;
      } else {
        match_run(equal, entries.subspan(begin, end - begin), thread, first_of);
      }
      begin = end;
    }
  });
}

row_patterns group_equal_rows(const row_comparison& equal, std::vector<std::uint64_t> hashes,
                              const fold_sections& sections, int passes, int threads) {
  std::vector<index_t> ends(sections.rows.size());
  std::partial_sum(sections.rows.begin(), sections.rows.end(), ends.begin());
  const auto same = [&](node_id a, node_id b, int thread) {
    return std::all_of(ends.begin(), ends.end(),
                       [&](index_t end) { return (a < end) == (b < end); }) &&
           equal(a, b, thread);
  };
  row_patterns out;
  out.pattern_of.resize(hashes.size());
  for (int pass = 0; pass < passes; ++pass) {
    parted_rows parted = part_by_hash(hashes, pass, passes, threads);
    match_parts(same, parted, threads, out.pattern_of);
  }
  hashes = {};
  std::size_t patterns = 0;
  for (std::size_t i = 0; i < out.pattern_of.size(); ++i) patterns += out.pattern_of[i] == i;
  out.begin.assign(patterns + 1, 0);
  // A row's first equal comes before it, so its pattern is known by then.
  node_id next = 0;
  for (std::size_t i = 0; i < out.pattern_of.size(); ++i) {
    const node_id first = out.pattern_of[i];
    out.pattern_of[i] = first == i ? next++ : out.pattern_of[first];
    ++out.begin[std::size_t{out.pattern_of[i]} + 1];
  }
  for (std::size_t p = 1; p < out.begin.size(); ++p) out.begin[p] += out.begin[p - 1];
  out.members.resize(out.pattern_of.size());
  // Each pattern's begin moves on to that of the next, and all are put back by one.
  for (std::size_t i = 0; i < out.pattern_of.size(); ++i) {
    out.members[static_cast<std::size_t>(out.begin[out.pattern_of[i]]++)] = static_cast<node_id>(i);
  }
  std::copy_backward(out.begin.begin(), out.begin.end() - 1, out.begin.end());
  out.begin.front() = 0;
  return out;
}

// One in so many hashes of rows is sampled to estimate the number of patterns. All rows of a
// pattern have one hash, so the sample holds whole patterns, and the number of those in it times
// sampled_hashes is an unbiased estimate with a relative error of sqrt(sampled_hashes / patterns).
constexpr std::uint64_t sampled_hashes = 64;
// Fewer rows than this are grouped without a sample.
constexpr index_t least_sampled_rows = 1 << 14;

double estimated_patterns(std::span<const std::uint64_t> hashes) {
  std::vector<std::uint64_t> sample;
  for (const std::uint64_t hash : hashes) {
    if (hash % sampled_hashes == 0) sample.push_back(hash);
  }
  std::sort(sample.begin(), sample.end());
  const auto distinct = std::unique(sample.begin(), sample.end()) - sample.begin();
  return static_cast<double>(distinct) * static_cast<double>(sampled_hashes);
}

// Pairs, about, of so many rows in each section.
double pairs_of(const fold_sections& sections, std::span<const double> rows) {
  const double own = rows[sections.own];
  const double all = std::accumulate(rows.begin(), rows.end(), 0.0);
  return sections.is_across ? own * (all - own) : own * (all - own / 2);
}

}  // namespace

std::vector<index_t> fold_sections::count(const row_patterns& patterns) const {
  std::vector<index_t> out;
  index_t begin = 0;
  for (const index_t section : rows) {
    out.push_back(patterns.count_before(begin + section) - patterns.count_before(begin));
    begin += section;
  }
  return out;
}

bool fold_sections::pays(std::span<const double> patterns) const {
  if (!std::isfinite(most_share)) return true;
  const std::vector<double> all(rows.begin(), rows.end());
  return pairs_of(*this, patterns) <= most_share * most_share * pairs_of(*this, all);
}

bool fold_sections::promises(std::span<const std::uint64_t> hashes) const {
  const auto is_small = [](index_t section) { return section < least_sampled_rows; };
  if (!std::isfinite(most_share) || std::all_of(rows.begin(), rows.end(), is_small)) return true;
  std::vector<double> patterns;
  std::size_t begin = 0;
  for (const index_t section : rows) {
    const auto count = static_cast<std::size_t>(section);
    patterns.push_back(is_small(section) ? static_cast<double>(section)
                                         : estimated_patterns(hashes.subspan(begin, count)));
    begin += count;
  }
  return pays(patterns);
}

std::vector<std::uint64_t> hash_rows(const byte_rows& rows, int threads) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows.count));
  parallel_for_each(rows.count, rows_per_task, threads, [&](index_t i, int) {
    hashes[static_cast<std::size_t>(i)] = hash_row(rows.row(i), rows.row_bytes);
  });
  return hashes;
}

std::optional<row_patterns> find_patterns(std::vector<std::uint64_t> hashes,
                                          const row_comparison& equal,
                                          const fold_sections& sections, int passes, int threads) {
  if (!sections.promises(hashes)) return std::nullopt;
  row_patterns out = group_equal_rows(equal, std::move(hashes), sections, passes, threads);
  const std::vector<index_t> patterns = sections.count(out);
  if (!sections.pays(std::vector<double>(patterns.begin(), patterns.end()))) return std::nullopt;
  return out;
}

std::optional<row_patterns> find_patterns(const byte_rows& rows, const fold_sections& sections,
                                          int threads) {
  const auto equal = [&](node_id a, node_id b, int) {
    return std::memcmp(rows.row(a), rows.row(b), rows.row_bytes) == 0;
  };
  return find_patterns(hash_rows(rows, threads), equal, sections, 1, threads);
}

row_patterns renumber_rows(row_patterns found, std::span<const node_id> original,
                           index_t input_rows) {
  if (static_cast<index_t>(original.size()) == input_rows) return found;
  std::vector<node_id> pattern_of(static_cast<std::size_t>(input_rows), row_patterns::no_pattern);
  for (std::size_t i = 0; i < original.size(); ++i) pattern_of[original[i]] = found.pattern_of[i];
  found.pattern_of = std::move(pattern_of);
  for (node_id& row : found.members) row = original[row];
  return found;
}

}  // namespace gpu::inline v0::detail
