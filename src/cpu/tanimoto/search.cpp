// Tanimoto similarities on the CPU: tiles of |a or b| by the loops of the binary multiply, a screen
// in single precision, and the exact decision of what passes it.

#include "tanimoto/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <gpu/error.hpp>

#include "cpu/platform/description.hpp"
#include "cpu/platform/instruction_set.hpp"
#include "cpu/tanimoto/pair_tiles.hpp"
#include "pairs/tables.hpp"
#include "stats/bins.hpp"
#include "stats/set_similarity.hpp"
#include "tanimoto/best_partners.hpp"

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

using stats::set_screen;
using tanimoto::best_partners;
using tanimoto::partner_rows;

constexpr double no_p = std::numeric_limits<double>::quiet_NaN();

// What stands in scratch memory beside the lists of edges.
std::size_t fixed_bytes(const detail::pair_input& input, int threads) {
  std::size_t bytes = bit_operand::bytes_of(input.rows_of_x() + screen_cols, input.cols());
  if (input.tables.y) {
    bytes += bit_operand::bytes_of(input.rows_of_y() + screen_cols, input.cols());
  }
  return bytes + static_cast<std::size_t>(threads) * sizeof(union_tile);
}

bit_operand pack(const detail::any_table& words, index_t cols, int threads) {
  return {tanimoto::bits_of<memory_space::host>(words, cols), screen_cols, 1, 0, threads};
}

// Prepared rows of y.
class kept_bits final : public detail::prepared_table {
 public:
  explicit kept_bits(bit_operand rows_of_y) : operand(std::move(rows_of_y)) {}
  bit_operand operand;
};

// A row of a tile: what its statistics follow from.
struct tile_row {
  std::int32_t ones;
  const std::int32_t* unions;
  const std::int32_t* others;
  stats::set_weights of;

  [[nodiscard]] double statistic(index_t j) const {
    return stats::set_similarity(ones - unions[j] + others[j], ones, others[j], of);
  }
};

class cpu_search final : public tanimoto::search {
 public:
  cpu_search(const detail::measure_traits& what, const detail::pair_input& input)
      : of_(what.weights),
        is_against_(detail::has_y(input.tables)),
        rows_of_x_(input.rows_of_x()),
        cols_(input.area.cols.size()),
        threads_(detail::thread_count(input.exec.cpu_threads)),
        edge_bytes_(room_for_edges(input, threads_)),
        left_(pack(input.tables.x, input.cols(), threads_)) {
    if (input.tables.prepared_y != nullptr) {
      const auto kept = std::static_pointer_cast<const kept_bits>(input.tables.prepared_y);
      own_right_ = {kept, &kept->operand};
    } else if (is_against_) {
      own_right_ = std::make_shared<bit_operand>(pack(*input.tables.y, input.cols(), threads_));
    }
  }

  bool edges(index_range rows, double least, std::uint64_t most, array<edge>& out) override;
  void count(index_range rows, double least, pair_counts& out) override;
  void partners(index_range rows, double least, const partner_rows& out) override;
  void dense(index_range rows, matrix_view<double> out) override { fill(rows, out); }
  void dense(index_range rows, matrix_view<float> out) override { fill(rows, out); }

  [[nodiscard]] index_t most_partners() const override {
    return std::numeric_limits<index_t>::max();
  }
  [[nodiscard]] pair_variant variant() const override { return pair_variant::tiled; }
  [[nodiscard]] std::string device() const override { return describe_device(threads_); }
  [[nodiscard]] index_t usual_rows() const override {
    constexpr index_t usual_pairs = index_t{1} << 30;
    return std::max<index_t>(most_tile_rows, usual_pairs / std::max<index_t>(1, cols_));
  }
  [[nodiscard]] std::uint64_t usual_edges() const override { return edge_bytes_ / sizeof(edge); }

 private:
  static std::size_t room_for_edges(const detail::pair_input& input, int threads) {
    constexpr std::size_t usual = std::size_t{256} << 20;
    const std::size_t limit = input.exec.workspace_bytes;
    if (limit == 0) return usual;
    const std::size_t fixed = fixed_bytes(input, threads);
    if (fixed > limit) {
      throw out_of_memory(
          fmt::format("execution.workspace_bytes: got {}, expected at least the {} of the packed "
                      "rows and their tiles",
                      limit, fixed),
          fixed);
    }
    return std::min(usual, limit - fixed);
  }

  [[nodiscard]] met_columns above() const {
    return is_against_ ? met_columns::all : met_columns::later;
  }
  [[nodiscard]] index_t first_col(index_t row) const { return is_against_ ? 0 : row; }
  [[nodiscard]] const bit_operand& right() const { return own_right_ ? *own_right_ : left_; }
  [[nodiscard]] tile_row row_of(const union_tile& tile, index_t i) const {
    return {left_.offset(i), tile.row(i), right().offsets(tile.first_col), of_};
  }
  template <class Value>
  void fill(index_range rows, matrix_view<Value> out) const;
  // Bit j: column first_col + j of the tile passes.
  [[nodiscard]] std::uint64_t screened(const union_tile& tile, index_t i,
                                       const set_screen& by) const {
    const std::int32_t own = left_.offset(i);
    return screen_(tile.row(i), right().offsets(tile.first_col), own, by.right,
                   by.left * static_cast<float>(own));
  }

  // take(i, j, statistic) for the pairs of a tile with a statistic >= least, row by row.
  template <class Take>
  void for_each_pair(const union_tile& tile, index_range rows, double least, const set_screen& by,
                     const Take& take) const {
    for (index_t i = rows.begin; i < rows.end; ++i) {
      const std::uint64_t found =
          columns_met(above(), i, tile.first_col, cols_) & screened(tile, i, by);
      if (found == 0) continue;
      const tile_row row = row_of(tile, i);
      for_each_bit(found, [&](index_t j) {
        const double value = row.statistic(j);
        if (value >= least) take(i, tile.first_col + j, value);
      });
    }
  }

  stats::set_weights of_;
  bool is_against_;
  index_t rows_of_x_;
  index_t cols_;
  int threads_;
  std::size_t edge_bytes_;
  bit_operand left_;
  std::shared_ptr<const bit_operand> own_right_;
  screen_function screen_ = usable_screen();
};

bool cpu_search::edges(index_range rows, double least, std::uint64_t most, array<edge>& out) {
  if (least > 1) return true;
  const row_blocks blocks(rows, threads_);
  std::vector<std::vector<edge>> found(static_cast<std::size_t>(blocks.count));
  std::atomic<std::uint64_t> total{0};
  const set_screen by = stats::screen_of(least, of_);
  detail::parallel_for(blocks.count, threads_, [&](index_t block, int) {
    std::vector<edge>& own = found[static_cast<std::size_t>(block)];
    std::vector<std::vector<edge>> by_row(static_cast<std::size_t>(blocks.of(block).size()));
    const index_t first = blocks.of(block).begin;
    for_each_tile(blocks, block, left_, right(), cols_, first_col(first),
                  [&](const union_tile& tile, index_range held) {
                    std::uint64_t here = 0;
                    for_each_pair(tile, held, least, by, [&](index_t i, index_t j, double value) {
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

void cpu_search::count(index_range rows, double least, pair_counts& out) {
  if (least > 1) return;
  const row_blocks blocks(rows, threads_);
  const set_screen by = stats::screen_of(least, of_);
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
  std::uint32_t* const col_degree = out.degree.data() + (is_against_ ? rows_of_x_ : 0);
  detail::parallel_for(blocks.count, threads_, [&](index_t block, int thread) {
    thread_counts& own = counts[static_cast<std::size_t>(thread)];
    const index_t first = blocks.of(block).begin;
    std::uint32_t of_row[most_tile_rows] = {};
    for_each_tile(blocks, block, left_, right(), cols_, first_col(first),
                  [&](const union_tile& tile, index_range held) {
                    std::uint32_t of_col[screen_cols] = {};
                    for_each_pair(tile, held, least, by, [&](index_t i, index_t j, double value) {
                      ++of_row[i - first];
                      ++of_col[j - tile.first_col];
                      if (bins > 0) {
                        ++own.bins[static_cast<std::size_t>(detail::histogram_bin(value, bins))];
                      }
                    });
                    const index_t end = std::min<index_t>(screen_cols, cols_ - tile.first_col);
                    for (index_t j = 0; j < end; ++j) {
                      add(col_degree[tile.first_col + j], of_col[j]);
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
                                    best_partners(out.index.cols(), least, of_));
    for_each_tile(
        blocks, block, left_, right(), cols_, 0, [&](const union_tile& tile, index_range held) {
          for (index_t i = held.begin; i < held.end; ++i) {
            best_partners& list = best[static_cast<std::size_t>(i - own.begin)];
            const std::uint64_t found =
                columns_met(met, i, tile.first_col, cols_) & screened(tile, i, list.screen());
            const tile_row row = row_of(tile, i);
            for_each_bit(found, [&](index_t j) {
              list.offer(static_cast<node_id>(tile.first_col + j), row.statistic(j));
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

template <class Value>
void cpu_search::fill(index_range rows, matrix_view<Value> out) const {
  const row_blocks blocks(rows, threads_);
  detail::parallel_for(blocks.count, threads_, [&](index_t block, int) {
    for_each_tile(blocks, block, left_, right(), cols_, 0,
                  [&](const union_tile& tile, index_range held) {
                    const index_t end = std::min<index_t>(screen_cols, cols_ - tile.first_col);
                    for (index_t i = held.begin; i < held.end; ++i) {
                      Value* const to = out.row(i - rows.begin) + tile.first_col;
                      const tile_row row = row_of(tile, i);
                      for (index_t j = 0; j < end; ++j) {
                        to[j] = static_cast<Value>(row.statistic(j));
                      }
                    }
                    return true;
                  });
  });
}

void check_variant(pair_variant asked) {
  if (asked == pair_variant::automatic || asked == pair_variant::tiled) return;
  throw unsupported(
      fmt::format("options.variant: {} is not offered for rows of bits on cpu, expected automatic "
                  "or tiled",
                  to_string(asked)));
}

}  // namespace

std::unique_ptr<tanimoto::search> make_tanimoto_search(const detail::measure_traits& what,
                                                       const detail::pair_input& input) {
  check_variant(input.variant);
  return std::make_unique<cpu_search>(what, input);
}

detail::engine_plan plan_tanimoto_search(const detail::pair_input& input) {
  check_variant(input.variant);
  const int threads = detail::thread_count(input.exec.cpu_threads);
  return {.device = describe_device(threads),
          .variant = pair_variant::tiled,
          .tile_rows = most_tile_rows,
          .tile_cols = screen_cols,
          .workspace_bytes = fixed_bytes(input, threads)};
}

std::shared_ptr<detail::prepared_table> prepare_bits(const detail::pair_request& request) {
  check_variant(request.variant);
  const auto start = std::chrono::steady_clock::now();
  const index_t cols = detail::cols_of(request.tables);
  auto out = std::make_shared<kept_bits>(
      pack(request.tables.x, cols, detail::thread_count(request.exec.cpu_threads)));
  out->what = request.what.info.what;
  out->rows = detail::rows_of(request.tables.x);
  out->cols = cols;
  out->variant = pair_variant::tiled;
  out->device = "cpu";
  out->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace gpu::cpu
