#include "io/write/edges/edge_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include <gpu/p_value.hpp>

#include "base/parallel.hpp"
#include "io/write/result_context.hpp"
#include "io/write/result_headers.hpp"
#include "io/write/six_digits.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t block_edges = std::size_t{1} << 13;  // some 400 KB of text

constexpr int slot_bits = 13;  // 8192 entries of 64 bytes: half of a second-level cache

std::size_t slot_of(double statistic) {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>((std::bit_cast<std::uint64_t>(statistic) * golden_ratio) >>
                                  (64 - slot_bits));
}

char* append_name(char* out, const row_names& names, char letter, node_id row) {
  if (names.given()) return append(out, names[row]);
  *out++ = letter;
  constexpr std::ptrdiff_t most_digits = 20;
  return std::to_chars(out, out + most_digits, std::uint64_t{row} + 1).ptr;
}

}  // namespace

statistic_text::statistic_text(const result_context& context, char separator)
    : test_(context.info().test),
      what_(context.what),
      confidence_(context.confidence),
      observations_(context.observations),
      digits_(context.digits),
      separator_(separator),
      has_n_(context.has_n),
      entries_(std::size_t{1} << slot_bits),
      intervals_(context.has_intervals() ? entries_.size() : 0) {
  static_assert(sizeof(entry) == 64, "an entry is meant to be one cache line");
}

char* statistic_text::append_in_digits(char* out, double statistic, double p,
                                       observation_count observations) const {
  const auto add = [&](double value) {
    *out++ = separator_;
    out = append_digits(out, value, digits_);
  };
  add(statistic);
  if (test_ == significance::student_t || test_ == significance::floored_t) {
    add(result_context::t_of(test_, statistic, observations));
  }
  if (test_ != significance::none) add(p);
  *out++ = '\n';
  if (has_n_) out = append_n(out, observations);
  if (intervals_.empty()) return out;
  const confidence_bounds bounds = confidence_interval(what_, statistic, observations, confidence_);
  --out;
  add(bounds.lower);
  add(bounds.upper);
  *out++ = '\n';
  return out;
}

char* statistic_text::append(char* out, double statistic, double p) {
  if (digits_ > 0) return append_in_digits(out, statistic, p, observations_);
  switch (test_) {
    case significance::kendall:  // equal statistics may have another p
    case significance::permutations:
      return append_once(out, statistic, p, observations_);
    case significance::none:
    case significance::student_t:
    case significance::floored_t:
      break;
  }
  const std::size_t slot = slot_of(statistic);
  entry& e = entries_[slot];
  if (e.statistic != statistic) fill(e, statistic, p, observations_);
  // A copy of fixed size takes two or three instructions.
  std::memcpy(out, e.text.data(), line_room);
  out += e.length;
  if (has_n_) out = append_n(out, observations_);
  if (intervals_.empty()) return out;
  entry& interval = intervals_[slot];
  if (interval.statistic != statistic) fill_interval(interval, statistic, observations_);
  return append_interval(out, interval);
}

char* statistic_text::append(char* out, double statistic, double p,
                             observation_count observations) {
  if (digits_ > 0) return append_in_digits(out, statistic, p, observations);
  if (observations == observations_) return append(out, statistic, p);
  return append_once(out, statistic, p, observations);
}

char* statistic_text::append_once(char* out, double statistic, double p,
                                  observation_count observations) const {
  entry own;
  fill(own, statistic, p, observations);
  std::memcpy(out, own.text.data(), line_room);
  out += own.length;
  if (has_n_) out = append_n(out, observations);
  if (intervals_.empty()) return out;
  fill_interval(own, statistic, observations);
  return append_interval(out, own);
}

char* statistic_text::append_n(char* out, observation_count observations) const {
  out[-1] = separator_;
  char* const end = std::to_chars(out, out + n_room - 1, static_cast<index_t>(observations)).ptr;
  *end = '\n';
  return end + 1;
}

char* statistic_text::append_interval(char* out, const entry& e) {
  std::memcpy(out - 1, e.text.data(), interval_room);
  return out - 1 + e.length;
}

void statistic_text::fill(entry& e, double statistic, double p,
                          observation_count observations) const {
  char* end = fmt::format_to(e.text.data(), FMT_COMPILE("{}{}"), separator_, statistic);
  switch (test_) {
    case significance::none:
      break;
    case significance::kendall:
    case significance::permutations:
      *end++ = separator_;
      end = append_six_digits(end, p);
      break;
    case significance::student_t:
    case significance::floored_t:
      *end++ = separator_;
      end = append_six_digits(end, result_context::t_of(test_, statistic, observations));
      *end++ = separator_;
      end = append_six_digits(end, p);
  }
  *end++ = '\n';
  e.length = static_cast<std::uint8_t>(end - e.text.data());
  e.statistic = statistic;
}

void statistic_text::fill_interval(entry& e, double statistic,
                                   observation_count observations) const {
  const confidence_bounds bounds = confidence_interval(what_, statistic, observations, confidence_);
  char* end = e.text.data();
  for (const double bound : {bounds.lower, bounds.upper}) {
    *end++ = separator_;
    end = append_six_digits(end, bound);
  }
  *end++ = '\n';
  e.length = static_cast<std::uint8_t>(end - e.text.data());
  e.statistic = statistic;
}

edge_text_writer::edge_text_writer(result_format format, output_file& out,
                                   const result_context& context)
    : out_(out),
      header_(context.frame == result_frame::whole
                  ? pair_header(format, context, pair_rows::edges, false, 0)
                  : std::string()),
      names_(context.names),
      col_names_(context.against != nullptr ? *context.against : context.names),
      shared_(context.shared),
      separator_(separator_of(format)),
      col_letter_(context.against != nullptr ? 'Y' : 'X'),
      longest_line_(names_.longest(context.rows) + col_names_.longest(context.cols()) + 1 +
                    statistic_text::room),
      statistics_(static_cast<std::size_t>(detail::thread_count(context.threads)),
                  statistic_text(context, separator_)),
      plain_(statistics_.size()),
      pipeline_(out, statistics_.size(), block_edges,
                [this, packed = out.packed()](std::span<const edge> edges, std::size_t thread,
                                              block_text& text) {
                  return make(edges, thread, packed, text);
                }) {}

void edge_text_writer::write_header() {
  if (!header_.empty()) out_.write(std::exchange(header_, {}));
}

void edge_text_writer::write(std::span<const edge> edges) {
  write_header();
  pipeline_.push(edges);
}

void edge_text_writer::finish() {
  write_header();
  pipeline_.finish();
}

std::string_view edge_text_writer::make(std::span<const edge> edges, std::size_t thread,
                                        compression packed, block_text& text) {
  block_text& plain = packed == compression::none ? text : plain_[thread];
  char* const lines = plain.room_for(edges.size() * longest_line_);
  const std::string_view made(lines, format(edges, statistics_[thread], lines));
  if (packed == compression::none) return made;
  char* const block = text.room_for(compressed_bound(packed, made.size()));
  return {block, compress(packed, made, block)};
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
      out = append_name(out, names_, 'X', e.row);
      *out++ = separator_;
      row_length = static_cast<std::size_t>(out - row_text);
    }
    out = append_name(out, col_names_, col_letter_, e.col);
    out = shared_ ? statistics.append(out, e.statistic, e.p, shared_(e.row, e.col))
                  : statistics.append(out, e.statistic, e.p);
  }
  return static_cast<std::size_t>(out - text);
}

void edge_line_copy::write(std::string_view lines) {
  if (out_.packed() == compression::none) return out_.write(lines);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != '\n' || ++edges_ < block_edges) continue;
    block_ += lines.substr(begin, i + 1 - begin);
    begin = i + 1;
    finish();
  }
  block_ += lines.substr(begin);
}

void edge_line_copy::finish() {
  if (block_.empty()) return;
  std::string packed(compressed_bound(out_.packed(), block_.size()), '\0');
  packed.resize(compress(out_.packed(), block_, packed.data()));
  out_.write_packed(packed);
  block_.clear();
  edges_ = 0;
}

}  // namespace gpu::io
