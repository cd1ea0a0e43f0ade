#include "io/write/edge_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>

#include <gpu/p_value.hpp>

#include "base/parallel.hpp"
#include "io/write/six_digits.hpp"

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

/// Runs numbered pieces of work one after the other, whichever thread brings them. After a failure
/// the rest is left out.
class in_order {
 public:
  template <class Work>
  void run(std::size_t number, const Work& work) {
    std::unique_lock lock(mutex_);
    turned_.wait(lock, [&] { return turn_ == number; });
    const bool has_failed = failure_ != nullptr;
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (!has_failed) work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    ++turn_;
    turned_.notify_all();
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  std::size_t turn_ = 0;
  std::exception_ptr failure_;
};

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
      statistics_(static_cast<std::size_t>(cpu::thread_count(threads)),
                  statistic_text(observations)),
      texts_(statistics_.size()) {}

void edge_text_writer::write(std::span<const edge> edges) {
  const std::size_t count = (edges.size() + piece_edges - 1) / piece_edges;
  std::atomic<std::size_t> next{0};
  in_order order;
  // A thread writes its piece while the others format theirs. They sleep until it is their turn:
  // OpenMP's ordered regions would spin, against the thread that writes where cores are few.
  const auto work = [&](std::size_t thread) {
    for (std::size_t k = next++; k < count; k = next++) {
      std::vector<char>& text = texts_[thread];
      std::size_t bytes = 0;
      std::exception_ptr failure;
      try {
        const auto piece =
            edges.subspan(k * piece_edges, std::min(piece_edges, edges.size() - k * piece_edges));
        if (text.size() < piece.size() * longest_line_) text.resize(piece.size() * longest_line_);
        bytes = format(piece, statistics_[thread], text.data());
      } catch (...) {
        failure = std::current_exception();
      }
      order.run(k, [&] {
        if (failure) std::rethrow_exception(failure);
        out_.write({text.data(), bytes});
      });
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t thread = 1; thread < std::min(texts_.size(), count); ++thread) {
    others.push_back(std::async(std::launch::async, work, thread));
  }
  work(0);
  for (std::future<void>& other : others) other.get();
  order.rethrow_failure();
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
