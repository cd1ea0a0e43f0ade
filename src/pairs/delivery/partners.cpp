#include "pairs/delivery/partners.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <span>
#include <string>

#include <gpu/error.hpp>

#include "base/index_range.hpp"
#include "base/parallel.hpp"
#include "pairs/adjustment.hpp"
#include "stats/pair_checksums.hpp"

namespace gpu::delivery {
namespace {

using detail::index_range;

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

// An entry's p and its place while entries are ranked.
constexpr std::size_t bytes_per_entry = 16;

// Half of what the host has; 0 where it does not say.
std::size_t default_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes) / 2;
}

// Takes p of the edges that it is given.
class p_receiver final : public detail::edge_receiver {
 public:
  explicit p_receiver(array<double>& p) : p_(p) {}
  void take(const detail::edge_batch& batch) override {
    const std::size_t begin = p_.size();
    p_.resize(begin + batch.edges.size());
    std::transform(batch.edges.begin(), batch.edges.end(), p_.data() + begin,
                   [](const edge& e) { return e.p; });
  }

 private:
  array<double>& p_;
};

}  // namespace

pair_checksum find_partners(detail::pair_engine& engine, const detail::pair_test& test,
                            const top_k_sink& sink, index_t row_begin, int threads,
                            neighbor_table& out) {
  table_checksum checksum(out, row_begin, detail::thread_count(threads));
  engine.top_k({.keep = test.keep(),
                .k = sink.k,
                .order = detail::order_of_tail(sink.order, sink.keep.side),
                .take_final_rows = [&](index_range done) { checksum.add(done); },
                .cuts = test.cuts(),
                .tied = test.tied_cut()},
               out);
  return checksum.total();
}

void check_room_for_q(std::uint64_t pairs, index_t entries, const execution& exec) {
  const bool is_asked = exec.workspace_bytes != 0;
  const std::size_t limit = is_asked ? exec.workspace_bytes : default_limit();
  const std::size_t needed =
      pairs * sizeof(double) + static_cast<std::size_t>(entries) * bytes_per_entry;
  if (limit == 0 || needed <= limit) return;
  const std::string bound =
      is_asked ? fmt::format("options.exec.workspace_bytes is {}", limit)
               : fmt::format(
                     "half of the host's memory is {}, which options.exec.workspace_bytes "
                     "overrides",
                     limit);
  throw out_of_memory(
      fmt::format("top_k_sink.q: needs {} bytes, for the p of all {} pairs that pass "
                  "pair_filter.max_p and for {} partners; {}. A smaller pair_filter.max_p keeps "
                  "fewer pairs",
                  needed, pairs, entries, bound),
      needed);
}

matrix<double> partner_p(const neighbor_table& table, const kept_edges& kept, index_t row_begin) {
  matrix<double> p(table.index.rows(), table.index.cols());
  detail::parallel_for(p.rows(), kept.threads(), [&](index_t i, int) {
    const std::span<double> own = p.row(i);
    const index_t count{table.count[static_cast<std::size_t>(i)]};
    for (index_t e = 0; e < count; ++e) {
      own[static_cast<std::size_t>(e)] =
          kept.test().p(table.statistic(i, e), row_begin + i, index_t{table.index(i, e)});
    }
    std::fill(own.begin() + count, own.end(), std::numeric_limits<double>::quiet_NaN());
  });
  return p;
}

array<double> list_p(kept_edges& kept, std::uint64_t expected) {
  constexpr index_t batch_edges = index_t{1} << 20;
  array<double> p;
  p.reserve(expected);
  p_receiver receiver(p);
  kept.deliver(edge_order::unspecified, batch_edges, receiver);
  return p;
}

}  // namespace gpu::delivery
