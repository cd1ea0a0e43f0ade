#include "pairs/delivery/partners.hpp"

#include <mutex>

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

}  // namespace

pair_checksum find_partners(detail::pair_engine& engine, const detail::keep_range& keep,
                            const pair_tests& tests, const top_k_sink& sink, index_t row_begin,
                            int threads, neighbor_table& out) {
  table_checksum checksum(out, row_begin, detail::thread_count(threads));
  engine.top_k({.keep = keep,
                .k = sink.k,
                .order = detail::order_of_tail(sink.order, sink.keep.side),
                .take_final_rows = [&](index_range done) { checksum.add(done); },
                .cuts = tests.cuts(),
                .tied = tests.tied_cut()},
               out);
  return checksum.total();
}

}  // namespace gpu::delivery
