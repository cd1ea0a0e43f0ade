// All pairs: one function per sink. Each validates, runs its engine and completes the result.
#include <gpu/detail/all_pairs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "base/index_range.hpp"
#include "base/large_pages.hpp"
#include "base/memory_errors.hpp"
#include "base/parallel.hpp"
#include "base/stream_copy.hpp"
#include "cpu/pairs/unpack/unpack_edges.hpp"
#include "pairs/checks.hpp"
#include "plan/fold_choice.hpp"
#include "stats/edge_p_values.hpp"
#include "stats/pair_checksums.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

// Largest batch of edges between an engine and an edge_list.
constexpr index_t edge_list_batch = index_t{1} << 20;
template <class Value>
correlation_matrix<Value> dense_pairs(measure what, const pair_tables& tables,
                                      const pair_options& options) {
  return with_memory_errors("all pairs", [&] {
    pair_run run(what, tables, options, part_shape::equal_rows);
    correlation_matrix<Value> out(run.area().rows.size(), run.area().cols.size());
    run.engine().dense(out.view());
    out.summary = run.finish(run.pairs_tested());
    return out;
  });
}

// The edges of a call: what was asked of the engine, and the p of what it delivers.
class edge_call {
 public:
  edge_call(measure what, const pair_tables& tables, const pair_options& options,
            const pair_filter& keep)
      : run_(what, tables, options, part_shape::equal_pairs),
        keep_(run_.resolve(keep)),
        threads_(cpu::thread_count(options.exec.cpu_threads)),
        p_values_(run_.engine().rows().cols, keep.side, threads_) {}

  [[nodiscard]] int threads() const { return threads_; }

  // Passes every batch of edges that `request` asks for to consume(batch).
  template <class Consume>
  void deliver(edge_request request, const Consume& consume) {
    request.keep = keep_;
    request.p_of = p_values_.function();
    const bool has_p = run_.engine().fills_p();
    run_.engine().edges(request, [&](const edge_batch& batch) {
      if (!has_p) p_values_.fill(batch.edges);
      consume(batch);
    });
  }
  // p of a statistic, as long as this lives.
  [[nodiscard]] stats::p_function p_of() const { return p_values_.function(); }
  // How many edges there are.
  [[nodiscard]] std::uint64_t count() {
    pair_counts counts;
    run_.engine().counts({.keep = keep_, .histogram_bins = 0}, counts);
    return counts.kept;
  }
  [[nodiscard]] pair_summary finish(const pair_checksum& kept) const {
    pair_summary out = run_.finish(kept.count);
    out.checksum = kept;
    return out;
  }

 private:
  pair_run run_;
  keep_range keep_;
  int threads_;
  stats::edge_p_values p_values_;
};

// Fills an edge list with all threads, because fetching fresh pages takes longer than writing them.
// Adds up the checksum of what it copies while that is in a cache, where it does not come with the
// batch.
class list_writer {
 public:
  list_writer(array<edge>& list, stats::p_function p_of, int threads)
      : list_(list), p_of_(p_of), threads_(threads), checksums_(threads) {}

  [[nodiscard]] pair_checksum checksum() const { return known_ + checksums_.total(); }

  // Makes room for `room` edges, of which `sure` will be written.
  void expect(double sure, double room) {
    // Room that is not used takes no memory, but systems that do not overcommit refuse far too
    // large requests.
    list_.reserve(static_cast<std::size_t>(std::min({room, 2 * sure + least_room, most_room})));
    sure_ = std::min(static_cast<std::size_t>(sure), list_.capacity());
    write(std::span<edge>(), false, one_each());
  }
  // Places for `count` edges behind the list, for a batch that append() then takes without a copy.
  [[nodiscard]] std::span<edge> room(std::size_t count) {
    const std::size_t before = list_.size();
    if (before + count > list_.capacity()) sure_ = 0;
    list_.resize(before + count);
    list_.resize(before);
    populate(before + count);
    offered_ = list_.data() + before;
    return {offered_, count};
  }
  void append(const edge_batch& batch) {
    if (batch.checksum != nullptr) known_ += *batch.checksum;
    const edge* const offered = std::exchange(offered_, nullptr);
    if (offered != nullptr && offered == batch.edges.data()) {  // written in the room that was made
      list_.resize(list_.size() + batch.size());
      if (batch.checksum == nullptr) known_ += stats::checksum_of(batch.edges, threads_);
      return;
    }
    // The list grows and moves now: its pages behind the end are not known any more.
    if (list_.size() + batch.size() > list_.capacity()) sure_ = 0;
    // The next batch should find its pages. One page takes a thread as long as many copies, so all
    // threads take some or none does.
    const std::size_t bytes = batch.size() * sizeof(edge);
    const bool has_next = ready_ >= list_.size() * sizeof(edge) + 2 * bytes;
    write(batch, batch.checksum == nullptr,
          has_next ? 0 : std::max(bytes / large_page_bytes + 1, one_each()));
  }

 private:
  static constexpr double least_room = 1 << 20;
  static constexpr double most_room = 1e11;
  static constexpr std::size_t edges_per_task = 8192;

  [[nodiscard]] std::size_t one_each() const { return static_cast<std::size_t>(threads_); }
  // Copies or unpacks a batch to the end, and takes up to so many pages behind it.
  void write(const edge_batch& batch, bool sums_up, std::size_t most_pages) {
    const std::size_t before = list_.size();
    list_.resize(before + batch.size());
    ready_ = std::max(ready_, list_.size() * sizeof(edge));
    const std::size_t pages = std::min(most_pages, pages_from(ready_));
    const std::size_t copies = (batch.size() + edges_per_task - 1) / edges_per_task;
    cpu::parallel_for(
        static_cast<index_t>(pages + copies), threads_, [&](index_t number, int thread) {
          const auto task = static_cast<std::size_t>(number);
          if (task < pages) {
            return populate_pages(page_at(ready_) + task * large_page_bytes, large_page_bytes);
          }
          const std::size_t first = (task - pages) * edges_per_task;
          const std::size_t count = std::min(edges_per_task, batch.size() - first);
          edge* const to = list_.data() + before + first;
          if (batch.packed != nullptr) {
            cpu::unpack_edges(*batch.packed, first, count, p_of_, to);
            return;
          }
          const std::span<const edge> part = batch.edges.subspan(first, count);
          if (sums_up) checksums_.add(thread, stats::checksum_of(part));
          stream_copy(to, part.data(), part.size_bytes());
        });
    ready_ += pages * large_page_bytes;
  }

  // Makes the system provide the pages of the first `size` edges.
  void populate(std::size_t size) {
    const std::size_t end = size * sizeof(edge);
    if (end < ready_ + 2 * large_page_bytes) return;
    const std::size_t pages = (end - ready_) / large_page_bytes - 1;
    cpu::parallel_for(static_cast<index_t>(pages), threads_, [&](index_t page, int) {
      populate_pages(page_at(ready_) + static_cast<std::size_t>(page) * large_page_bytes,
                     large_page_bytes);
    });
    ready_ = end;
  }
  // The large page that starts at or behind byte `at` of the list.
  [[nodiscard]] std::byte* page_at(std::size_t at) const {
    auto* const place = reinterpret_cast<std::byte*>(list_.data()) + at + large_page_bytes - 1;
    return place - reinterpret_cast<std::uintptr_t>(place) % large_page_bytes;
  }
  // Large pages wholly between byte `begin` of the list and its sure end, at least.
  [[nodiscard]] std::size_t pages_from(std::size_t begin) const {
    const std::size_t end = sure_ * sizeof(edge);
    return end >= begin + large_page_bytes ? (end - begin) / large_page_bytes - 1 : 0;
  }

  array<edge>& list_;
  stats::p_function p_of_;  // of packed edges
  int threads_;
  edge* offered_ = nullptr;  // the room that was made last
  pair_checksum known_;
  stats::thread_checksums checksums_;
  std::size_t sure_ = 0;   // edges
  std::size_t ready_ = 0;  // bytes whose pages are there
};

// Fills `list` with at most `most` edges and returns their checksum. Returns nothing and leaves the
// list empty where there are more, or where the engine's estimate, if it is trusted, says so.
std::optional<pair_checksum> fill_list(edge_call& call, edge_order order, std::uint64_t most,
                                       bool trusts_expected, array<edge>& list) {
  std::atomic<bool> enough = false;
  list_writer writer(list, call.p_of(), call.threads());
  const auto stop = [&] {
    list = {};
    enough = true;
  };
  const auto expect = [&](double least, double room) {
    const auto limit = static_cast<double>(most);
    if (trusts_expected && least > limit) return stop();
    writer.expect(std::min(least, limit), std::min(room, limit));
  };
  const auto room = [&](std::size_t count) {
    if (!enough && count > most - list.size()) stop();
    return enough ? std::span<edge>() : writer.room(count);
  };
  call.deliver({.keep = {},
                .order = order,
                .batch_edges = edge_list_batch,
                .enough = &enough,
                .expect = expect,
                .room = room,
                .takes_packed = cpu::unpacks_fast(call.threads())},
               [&](const edge_batch& batch) {
                 if (enough) return;
                 if (batch.size() > most - list.size()) return stop();
                 writer.append(batch);
               });
  if (enough) return std::nullopt;
  return writer.checksum();
}

// Of x against y, the degrees of an engine are those of the rows of x with those of y behind them.
void split_degrees(index_t rows_of_x, pair_counts& counts) {
  const auto first_of_y = counts.degree.begin() + rows_of_x;
  if (counts.degree.end() - first_of_y > rows_of_x) {  // the longer part stays where it is
    counts.y_degree.assign(counts.degree.begin(), first_of_y);
    counts.degree.erase(counts.degree.begin(), first_of_y);
    std::swap(counts.degree, counts.y_degree);
    return;
  }
  counts.y_degree.assign(first_of_y, counts.degree.end());
  counts.degree.erase(first_of_y, counts.degree.end());
}

edge_list list_edges(edge_call& call, const edge_sink& sink) {
  const auto most = static_cast<std::uint64_t>(sink.max_edges);
  const bool is_limited = sink.max_edges < std::numeric_limits<index_t>::max();
  edge_list out;
  std::optional<pair_checksum> checksum = fill_list(call, sink.order, most, is_limited, out.edges);
  if (!checksum) {
    const std::uint64_t kept = call.count();
    if (kept <= most) checksum = fill_list(call, sink.order, most, false, out.edges);
    if (!checksum) {
      validate::throw_over_capacity("edge_sink", "pairs", static_cast<index_t>(kept),
                                    sink.max_edges);
    }
  }
  out.edges.shrink_to_fit();
  out.summary = call.finish(*checksum);
  return out;
}

}  // namespace

correlation_matrix<double> all_pairs(measure what, const pair_tables& tables,
                                     const pair_options& options, const basic_dense_sink<double>&) {
  return dense_pairs<double>(what, tables, options);
}

correlation_matrix<float> all_pairs(measure what, const pair_tables& tables,
                                    const pair_options& options, const basic_dense_sink<float>&) {
  return dense_pairs<float>(what, tables, options);
}

edge_list all_pairs(measure what, const pair_tables& tables, const pair_options& options,
                    const edge_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    edge_call call(what, tables, options, sink.keep);
    return list_edges(call, sink);
  });
}

pair_summary all_pairs(measure what, const pair_tables& tables, const pair_options& options,
                       const stream_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    edge_call call(what, tables, options, sink.keep);
    pair_checksum kept;
    call.deliver({.keep = {}, .order = sink.order, .batch_edges = sink.batch_edges},
                 [&](const edge_batch& batch) {
                   kept += batch.checksum != nullptr
                               ? *batch.checksum
                               : stats::checksum_of(batch.edges, call.threads());
                   sink.consume(batch.edges);
                 });
    return call.finish(kept);
  });
}

namespace {

// The checksum of a table, summed up while the engine works where it says which rows are final.
class table_checksum {
 public:
  table_checksum(const neighbor_table& table, index_t row_begin, int threads)
      : table_(table), row_begin_(row_begin), threads_(threads) {}

  void add(index_range rows) {
    const pair_checksum sum = stats::checksum_of(table_, rows, row_begin_, threads_);
    const std::lock_guard lock(mutex_);
    total_ += sum;
    rows_ += rows.size();
  }
  // Of the whole table, which is complete.
  [[nodiscard]] pair_checksum total() const {
    const index_t rows = table_.index.rows();
    if (rows_ == rows) return total_;
    return stats::checksum_of(table_, {0, rows}, row_begin_, threads_);
  }

 private:
  const neighbor_table& table_;
  index_t row_begin_;
  int threads_;
  std::mutex mutex_;
  pair_checksum total_;
  index_t rows_ = 0;
};

}  // namespace

neighbor_table all_pairs(measure what, const pair_tables& tables, const pair_options& options,
                         const top_k_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    pair_run run(what, tables, options, part_shape::equal_rows);
    const keep_range keep = run.resolve(sink.keep);
    const index_t rows = run.area().rows.size();
    neighbor_table out{.index = matrix<node_id>(rows, sink.k),
                       .statistic = matrix<double>(rows, sink.k),
                       .count = std::vector<node_id>(static_cast<std::size_t>(rows)),
                       .summary = {}};
    table_checksum checksum(out, run.area().rows.begin,
                            cpu::thread_count(options.exec.cpu_threads));
    run.engine().top_k({.keep = keep,
                        .k = sink.k,
                        .order = sink.order,
                        .take_final_rows = [&](index_range done) { checksum.add(done); }},
                       out);
    const pair_checksum entries = checksum.total();
    out.summary = run.finish(entries.count);
    out.summary.checksum = entries;
    return out;
  });
}

pair_counts all_pairs(measure what, const pair_tables& tables, const pair_options& options,
                      const count_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    pair_options counting = options;
    if (options.fold == row_folding::automatic && !folds_for_counts(sink.keep)) {
      counting.fold = row_folding::never;
    }
    pair_run run(what, tables, counting, part_shape::equal_pairs);
    const keep_range keep = run.resolve(sink.keep);
    pair_counts out;
    out.tested = run.pairs_tested();
    out.histogram.resize(static_cast<std::size_t>(sink.histogram_bins));
    run.engine().counts({.keep = keep, .histogram_bins = sink.histogram_bins}, out);
    if (run.is_against()) split_degrees(run.rows_of_x(), out);
    out.summary = run.finish(out.kept);
    return out;
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
