#include "io/edge_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>

#include <gpu/p_value.hpp>

namespace gpu::io {
namespace {

constexpr std::size_t remembered = 4096;  // entries of 96 bytes: half of a second-level cache
constexpr index_t piece_edges = index_t{1} << 14;

std::size_t slot_of(double statistic) {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15U;
  constexpr int slot_bits = 12;
  static_assert(remembered == std::size_t{1} << slot_bits);
  return static_cast<std::size_t>((std::bit_cast<std::uint64_t>(statistic) * golden_ratio) >>
                                  (64 - slot_bits));
}

char* append(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* append_name(char* out, const row_names& names, node_id row) {
  if (names.given()) return append(out, names[row]);
  *out++ = 'X';
  constexpr std::ptrdiff_t most_digits = 20;
  return std::to_chars(out, out + most_digits, std::uint64_t{row} + 1).ptr;
}

}  // namespace

statistic_text::statistic_text(index_t observations)
    : observations_(observations), entries_(remembered) {}

std::string_view statistic_text::format(double statistic, double p) {
  entry& e = entries_[slot_of(statistic)];
  if (e.statistic != statistic || e.p != p) {
    const double t = correlation_t(statistic, observations_);
    char* const end =
        fmt::format_to(e.text.data(), FMT_COMPILE("\t{}\t{:.6g}\t{:.6g}\n"), statistic, t, p);
    e.length = static_cast<std::size_t>(end - e.text.data());
    e.statistic = statistic;
    e.p = p;
  }
  return {e.text.data(), e.length};
}

edge_text_writer::edge_text_writer(output_file& out, const row_names& names, index_t rows,
                                   index_t observations, int threads)
    : out_(out),
      names_(names),
      longest_line_(2 * names.longest(rows) + 1 + statistic_text::longest),
      statistics_(static_cast<std::size_t>(threads > 0 ? threads : omp_get_max_threads()),
                  statistic_text(observations)) {}

void edge_text_writer::write(std::span<const edge> edges) {
  // Pieces are formatted in any order and written in theirs, some per thread at a time.
  const std::size_t wave = statistics_.size() * 4;
  const std::size_t wave_edges = wave * piece_edges;
  pieces_.resize(wave);
  piece_bytes_.resize(wave);
  while (!edges.empty()) {
    const auto batch = edges.first(std::min(edges.size(), wave_edges));
    const std::size_t count = (batch.size() + piece_edges - 1) / piece_edges;
    std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(static_cast <int>(statistics_.size()))
    for (std::size_t k = 0; k < count; ++k) {
      try {
        const auto piece = batch.subspan(
            k * piece_edges, std::min<std::size_t>(piece_edges, batch.size() - k * piece_edges));
        pieces_[k].resize(std::max(pieces_[k].size(), piece.size() * longest_line_));
        piece_bytes_[k] = format(piece, statistics_[static_cast<std::size_t>(omp_get_thread_num())],
                                 pieces_[k].data());
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    for (std::size_t k = 0; k < count; ++k) out_.write({pieces_[k].data(), piece_bytes_[k]});
    edges = edges.subspan(batch.size());
  }
}

std::size_t edge_text_writer::format(std::span<const edge> edges, statistic_text& statistics,
                                     char* text) const {
  char* out = text;
  // Edges mostly come by rows: the first name is formatted once for each.
  const char* row_text = nullptr;
  std::size_t row_length = 0;
  node_id row = 0;
  for (const edge& e : edges) {
    if (row_text != nullptr && row == e.row) {
      std::memcpy(out, row_text, row_length);
      row_text = out;
      out += row_length;
    } else {
      row_text = out;
      row = e.row;
      out = append_name(out, names_, e.row);
      *out++ = '\t';
      row_length = static_cast<std::size_t>(out - row_text);
    }
    out = append_name(out, names_, e.col);
    out = append(out, statistics.format(e.statistic, e.p));
  }
  return static_cast<std::size_t>(out - text);
}

}  // namespace gpu::io
