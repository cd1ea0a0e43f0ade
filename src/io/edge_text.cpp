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

#include "io/six_digits.hpp"

namespace gpu::io {
namespace {

constexpr int slot_bits = 13;  // 8192 entries of 64 bytes: half of a second-level cache
constexpr std::size_t piece_edges = std::size_t{1} << 12;  // some 200 KB of text

std::size_t slot_of(double statistic) {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15U;
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
    : observations_(observations), entries_(std::size_t{1} << slot_bits) {
  static_assert(sizeof(entry) == 64, "an entry is meant to be one cache line");
}

char* statistic_text::append(char* out, double statistic, double p) {
  entry& e = entries_[slot_of(statistic)];
  if (e.statistic != statistic) fill(e, statistic, p);
  // A copy of fixed size takes two or three instructions.
  std::memcpy(out, e.text.data(), room);
  return out + e.length;
}

void statistic_text::fill(entry& e, double statistic, double p) const {
  char* end = fmt::format_to(e.text.data(), FMT_COMPILE("\t{}\t"), statistic);
  end = append_six_digits(end, correlation_t(statistic, observations_));
  *end++ = '\t';
  end = append_six_digits(end, p);
  *end++ = '\n';
  e.length = static_cast<std::uint8_t>(end - e.text.data());
  e.statistic = statistic;
}

edge_text_writer::edge_text_writer(output_file& out, const row_names& names, index_t rows,
                                   index_t observations, int threads)
    : out_(out),
      names_(names),
      longest_line_(2 * names.longest(rows) + 1 + statistic_text::room),
      statistics_(static_cast<std::size_t>(threads > 0 ? threads : omp_get_max_threads()),
                  statistic_text(observations)) {}

edge_text_writer::~edge_text_writer() {
  if (writing_.valid()) writing_.wait();
}

void edge_text_writer::write(std::span<const edge> edges) {
  const std::size_t wave_edges = statistics_.size() * 4 * piece_edges;
  while (!edges.empty()) {
    const auto batch = edges.first(std::min(edges.size(), wave_edges));
    format_wave(batch, formatted_);
    flush();
    std::swap(formatted_, leaving_);
    writing_ = std::async(std::launch::async, [this] { write_wave(leaving_); });
    edges = edges.subspan(batch.size());
  }
}

void edge_text_writer::flush() {
  if (writing_.valid()) writing_.get();
}

/// Pieces are formatted by all threads, in any order.
void edge_text_writer::format_wave(std::span<const edge> edges, wave& target) {
  target.count = (edges.size() + piece_edges - 1) / piece_edges;
  target.pieces.resize(std::max(target.pieces.size(), target.count));
  target.bytes.resize(target.pieces.size());
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(static_cast <int>(statistics_.size()))
  for (std::size_t k = 0; k < target.count; ++k) {
    try {
      const auto piece =
          edges.subspan(k * piece_edges, std::min(piece_edges, edges.size() - k * piece_edges));
      std::vector<char>& text = target.pieces[k];
      if (text.size() < piece.size() * longest_line_) text.resize(piece.size() * longest_line_);
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      target.bytes[k] = format(piece, statistics_[thread], text.data());
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void edge_text_writer::write_wave(const wave& source) {
  for (std::size_t k = 0; k < source.count; ++k) {
    out_.write({source.pieces[k].data(), source.bytes[k]});
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
    out = statistics.append(out, e.statistic, e.p);
  }
  return static_cast<std::size_t>(out - text);
}

}  // namespace gpu::io
