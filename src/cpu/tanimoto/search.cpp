// Tanimoto similarities on the CPU: tiles of |a or b| by the loops of the binary multiply, a screen
// in single precision, and the exact decision of what passes it.

#include "tanimoto/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include <gpu/error.hpp>

#include "cpu/platform/description.hpp"
#include "cpu/platform/instruction_set.hpp"
#include "cpu/tanimoto/pair_tiles.hpp"
#include "stats/bins.hpp"
#include "tanimoto/best_partners.hpp"
#include "tanimoto/ratio.hpp"

namespace gpu::cpu {

screen_function usable_screen() {
#if defined(__x86_64__)
  const instruction_set level = usable_instruction_set();
  if (level >= instruction_set::avx512) return screen_avx512;
  if (level >= instruction_set::avx2) return screen_avx2;
#endif
  return screen_baseline;
}

namespace {

using tanimoto::best_partners;
using tanimoto::pair_tally;
using tanimoto::partner_rows;
using tanimoto::ratio;
using tanimoto::screen_of;

constexpr double no_p = std::numeric_limits<double>::quiet_NaN();

// What stands in scratch memory beside the lists of edges.
std::size_t fixed_bytes(const tanimoto::bit_tables& tables, int threads) {
  std::size_t bytes = bit_operand::bytes_of(tables.x.rows() + screen_cols, tables.x.cols());
  if (tables.is_against)
    bytes += bit_operand::bytes_of(tables.y.rows() + screen_cols, tables.y.cols());
  return bytes + static_cast<std::size_t>(threads) * sizeof(union_tile);
}

class cpu_search final : public tanimoto::search {
 public:
  cpu_search(const tanimoto::bit_tables& tables, const execution& exec)
      : is_against_(tables.is_against),
        cols_(tables.y.rows()),
        threads_(detail::thread_count(exec.cpu_threads)),
        edge_bytes_(room_for_edges(tables, exec, threads_)),
        left_(tables.x, screen_cols, 1, 0, threads_),
        own_right_(tables.is_against ? std::optional<bit_operand>(std::in_place, tables.y,
                                                                  screen_cols, 1, 0, threads_)
                                     : std::nullopt),
        right_(own_right_ ? *own_right_ : left_) {}

  bool edges(index_range rows, double least, std::uint64_t most, array<edge>& out) override;
  void count(index_range rows, double least, pair_tally& out) override;
  void partners(index_range rows, double least, const partner_rows& out) override;

  [[nodiscard]] binary_matmul_variant variant() const override {
    return binary_matmul_variant::popcount;
  }
  [[nodiscard]] pair_variant pair_way() const override { return pair_variant::tiled; }
  [[nodiscard]] std::string device() const override { return describe_device(threads_); }
  [[nodiscard]] index_t usual_rows() const override {
    constexpr index_t usual_pairs = index_t{1} << 30;
    return std::max<index_t>(most_tile_rows, usual_pairs / std::max<index_t>(1, cols_));
  }
  [[nodiscard]] std::uint64_t usual_edges() const override { return edge_bytes_ / sizeof(edge); }

 private:
  static std::size_t room_for_edges(const tanimoto::bit_tables& tables, const execution& exec,
                                    int threads) {
    constexpr std::size_t usual = std::size_t{256} << 20;
    if (exec.workspace_bytes == 0) return usual;
    const std::size_t fixed = fixed_bytes(tables, threads);
    if (fixed > exec.workspace_bytes) {
      throw out_of_memory(
          fmt::format("execution.workspace_bytes: got {}, expected at least the {} of the packed "
                      "rows and their tiles",
                      exec.workspace_bytes, fixed),
          fixed);
    }
    return std::min(usual, exec.workspace_bytes - fixed);
  }

  [[nodiscard]] met_columns above() const {
    return is_against_ ? met_columns::all : met_columns::later;
  }
  [[nodiscard]] index_t first_col(index_t row) const { return is_against_ ? 0 : row; }
  [[nodiscard]] double statistic(const union_tile& tile, index_t i, index_t j) const {
    const std::int32_t all = tile.row(i)[j];
    return ratio(left_.offset(i) - all + right_.offset(tile.first_col + j), all);
  }

  // take(i, j, statistic) for the pairs of a tile with a statistic >= least, row by row.
  template <class Take>
  void for_each_pair(const union_tile& tile, index_range rows, double least, float t,
                     const Take& take) const {
    for (index_t i = rows.begin; i < rows.end; ++i) {
      const std::int32_t own = left_.offset(i);
      const std::uint64_t found =
          columns_met(above(), i, tile.first_col, cols_) &
          screen_(tile.row(i), right_.offsets(tile.first_col), own, t, t * static_cast<float>(own));
      for_each_bit(found, [&](index_t j) {
        const double value = statistic(tile, i, j);
        if (value >= least) take(i, tile.first_col + j, value);
      });
    }
  }

  bool is_against_;
  index_t cols_;
  int threads_;
  std::size_t edge_bytes_;
  bit_operand left_;
  std::optional<bit_operand> own_right_;
  const bit_operand& right_;
  screen_function screen_ = usable_screen();
};

bool cpu_search::edges(index_range rows, double least, std::uint64_t most, array<edge>& out) {
  if (least > 1) return true;
  const row_blocks blocks(rows, threads_);
  std::vector<std::vector<edge>> found(static_cast<std::size_t>(blocks.count));
  std::atomic<std::uint64_t> total{0};
  const float t = screen_of(least);
  detail::parallel_for(blocks.count, threads_, [&](index_t block, int) {
    std::vector<edge>& own = found[static_cast<std::size_t>(block)];
    std::vector<std::vector<edge>> by_row(static_cast<std::size_t>(blocks.of(block).size()));
    const index_t first = blocks.of(block).begin;
    for_each_tile(blocks, block, left_, right_, cols_, first_col(first),
                  [&](const union_tile& tile, index_range held) {
                    std::uint64_t here = 0;
                    for_each_pair(tile, held, least, t, [&](index_t i, index_t j, double value) {
                      by_row[static_cast<std::size_t>(i - first)].push_back(
                          {static_cast<node_id>(i), static_cast<node_id>(j), value, no_p});
                      ++here;
                    });
                    if (here == 0) return total.load(std::memory_order_relaxed) <= most;
                    return total.fetch_add(here, std::memory_order_relaxed) + here <= most;
                  });
    for (const auto& part : by_row) own.insert(own.end(), part.begin(), part.end());
  });
  if (total > most) return false;
  for (const auto& part : found) out.append(part);
  return true;
}

void cpu_search::count(index_range rows, double least, pair_tally& out) {
  if (least > 1) return;
  const row_blocks blocks(rows, threads_);
  const float t = screen_of(least);
  const auto bins = static_cast<index_t>(out.histogram.size());
  struct alignas(64) thread_counts {
    std::uint64_t kept = 0;
    std::vector<std::uint64_t> bins = {};
  };
  std::vector<thread_counts> counts(static_cast<std::size_t>(threads_));
  for (thread_counts& own : counts) own.bins.resize(out.histogram.size());
  const auto add = [](std::uint32_t& to, std::uint32_t more) {
    if (more > 0) std::atomic_ref<std::uint32_t>(to).fetch_add(more, std::memory_order_relaxed);
  };
  std::vector<std::uint32_t>& col_degree = is_against_ ? out.y_degree : out.degree;
  detail::parallel_for(blocks.count, threads_, [&](index_t block, int thread) {
    thread_counts& own = counts[static_cast<std::size_t>(thread)];
    const index_t first = blocks.of(block).begin;
    std::uint32_t of_row[most_tile_rows] = {};
    for_each_tile(blocks, block, left_, right_, cols_, first_col(first),
                  [&](const union_tile& tile, index_range held) {
                    std::uint32_t of_col[screen_cols] = {};
                    for_each_pair(tile, held, least, t, [&](index_t i, index_t j, double value) {
                      ++of_row[i - first];
                      ++of_col[j - tile.first_col];
                      if (bins > 0) {
                        ++own.bins[static_cast<std::size_t>(detail::histogram_bin(value, bins))];
                      }
                    });
                    const index_t end = std::min<index_t>(screen_cols, cols_ - tile.first_col);
                    for (index_t j = 0; j < end; ++j) {
                      add(col_degree[static_cast<std::size_t>(tile.first_col + j)], of_col[j]);
                    }
                    return true;
                  });
    const index_range held = blocks.of(block);
    for (index_t i = held.begin; i < held.end; ++i) {
      own.kept += of_row[i - first];
      add(out.degree[static_cast<std::size_t>(i)], of_row[i - first]);
    }
  });
  for (const thread_counts& own : counts) {
    out.kept += own.kept;
    for (std::size_t b = 0; b < own.bins.size(); ++b) out.histogram[b] += own.bins[b];
  }
}

void cpu_search::partners(index_range rows, double least, const partner_rows& out) {
  const row_blocks blocks(rows, threads_);
  const met_columns met = is_against_ ? met_columns::all : met_columns::others;
  detail::parallel_for(blocks.count, threads_, [&](index_t block, int) {
    const index_range own = blocks.of(block);
    std::vector<best_partners> best(static_cast<std::size_t>(own.size()),
                                    best_partners(out.index.cols(), least));
    for_each_tile(
        blocks, block, left_, right_, cols_, 0, [&](const union_tile& tile, index_range held) {
          for (index_t i = held.begin; i < held.end; ++i) {
            best_partners& list = best[static_cast<std::size_t>(i - own.begin)];
            const std::int32_t ones = left_.offset(i);
            const float t = list.screen();
            const std::uint64_t found = columns_met(met, i, tile.first_col, cols_) &
                                        screen_(tile.row(i), right_.offsets(tile.first_col), ones,
                                                t, t * static_cast<float>(ones));
            for_each_bit(found, [&](index_t j) {
              list.offer(static_cast<node_id>(tile.first_col + j), statistic(tile, i, j));
            });
          }
          return true;
        });
    for (index_t i = own.begin; i < own.end; ++i) {
      const index_t at = i - rows.begin;
      out.count[at] = best[static_cast<std::size_t>(i - own.begin)].write(out.index.row(at),
                                                                          out.statistic.row(at));
    }
  });
}

}  // namespace

std::unique_ptr<tanimoto::search> make_tanimoto_search(const tanimoto::bit_tables& tables,
                                                       const tanimoto_options& options) {
  return std::make_unique<cpu_search>(tables, options.exec);
}

}  // namespace gpu::cpu
