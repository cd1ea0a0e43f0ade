// Measures what the CPU's loops of all pairs take on this machine, by the instruction set that
// GPU_SIMILARITY_CPU_LEVEL allows, and prints it beside the defaults of src/plan/machine_costs.hpp
// in the form of that file: nanoseconds of one thread. Figures of that file which are about the
// same by every instruction set are printed as they are built.
//
// calibrate [SECONDS]: SECONDS for each figure (0.1). Run it on an idle machine.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/search/packed_columns.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "plan/machine_costs.hpp"

namespace {

using namespace gpu::cpu;
using gpu::index_t;

constexpr index_t rows = 128;
constexpr index_t columns = 2048;
constexpr index_t few = 64;  // elements of a row
constexpr index_t many = 256;

constexpr int least_runs = 5;
double seconds_a_figure = 0.1;

// Nanoseconds a pair of `pairs` pairs that body() looks at: the fastest of many runs.
template <class Body>
double nanoseconds(double pairs, const Body& body) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  double best = std::numeric_limits<double>::infinity();
  const auto begin = clock::now();
  for (int run = 0; run < least_runs || seconds_since(begin) < seconds_a_figure; ++run) {
    const auto start = clock::now();
    body();
    best = std::min(best, seconds_since(start));
  }
  return best * 1e9 / pairs;
}

constexpr double tile_pairs = static_cast<double>(rows) * static_cast<double>(columns);

// Rows of small random values, packed as the loops read them. Even sums of 256 products are below
// 2^15, as byte_pairs needs it.
class operands {
 public:
  operands(packing how, index_t cols, index_t chunk)
      : packed_(how, columns, cols, chunk),
        steps_(static_cast<std::size_t>(rows * packed_.steps() * step_bytes)),
        bias_(rows) {
    if (how == packing::int16) {
      fill<std::int16_t>(cols);
    } else if (how == packing::float32) {
      fill<float>(cols);
    } else {
      fill<std::int8_t>(cols);
    }
    tile_ = packed_.tile({0, rows, 0, columns}, steps_.data());
    tile_.diagonal = rows;
  }

  // No pair passes its cut.
  [[nodiscard]] kernel_tile cut() const {
    kernel_tile out{tile_};
    out.row_cut = cuts_.data();
    out.col_scale = scales_.data();
    return out;
  }
  [[nodiscard]] screen_tile screen() const {
    return {tile_, bias_.data(), threshold - 1, 2 * threshold - 1};
  }

 private:
  static constexpr std::int32_t threshold = 30'000;  // that no sum reaches

  template <class T>
  void fill(index_t cols) {
    std::mt19937 random(1);
    std::vector<T> row(static_cast<std::size_t>(cols));
    for (index_t i = 0; i < columns; ++i) {
      std::int32_t sum = 0;
      for (T& value : row) {
        const auto drawn = static_cast<std::int32_t>(random() % 17) - 8;
        sum += drawn;
        value = static_cast<T>(drawn);
      }
      packed_.store_row(i, row.data());
      if (i < rows) {
        bias_[static_cast<std::size_t>(i)] = threshold - 1 - packed_.offset() * sum;
      }
    }
  }

  packed_columns packed_;
  aligned_buffer<std::uint8_t> steps_;
  packed_tile tile_;
  std::vector<std::int32_t> bias_;
  std::vector<float> cuts_ = std::vector<float>(rows, 1e30F);
  std::vector<float> scales_ = std::vector<float>(columns, 1.0F);
};

constexpr auto keep_none = [](index_t, index_t, std::int32_t) { return false; };
const exact_test no_pair = keep_none;

// What a pair takes by a loop whose time grows by `column` with each element of a row.
struct line {
  double column = 0;
  double pair = 0;
};
line through(double at_few, double at_many) {
  const double column = std::max(0.0, (at_many - at_few) / static_cast<double>(many - few));
  return {column, std::max(0.0, at_few - column * static_cast<double>(few))};
}

line search_costs(const dot_kernels& loops, packing how, index_t chunk) {
  if (loops.search == nullptr) return {};
  const auto at = [&](index_t cols) {
    const operands data(how, cols, chunk);
    const kernel_tile tile = data.cut();
    return nanoseconds(tile_pairs, [&] { loops.search(tile, no_pair); });
  };
  return through(at(few), at(many));
}

line screen_costs(const pair_kernels& kernels) {
  if (kernels.screen.search == nullptr) return {};
  const auto at = [&](index_t cols) {
    const operands data(kernels.screen.columns, cols, kernels.int8_chunk);
    const screen_tile tile = data.screen();
    return nanoseconds(tile_pairs, [&] { kernels.screen.search(tile, no_pair); });
  };
  return through(at(few), at(many));
}

double count_cost(const dot_kernels& loops, const operands& data, double search) {
  std::vector<std::uint32_t> of_rows(rows);
  std::vector<std::uint32_t> of_columns(columns);
  const kernel_tile tile = data.cut();
  const double counted = nanoseconds(
      tile_pairs, [&] { loops.count(tile, no_pair, of_rows.data(), of_columns.data()); });
  return std::max(0.0, counted - search);
}

double select_cost(const pair_kernels& kernels, const dot_kernels& loops, const operands& data,
                   double search) {
  aligned_buffer<std::int32_t> sums(rows * columns);
  std::vector<std::int32_t> squares(columns, 1 << 20);
  std::vector<pair_hit> hits(most_selected + hit_padding);
  const kernel_tile tile = data.cut();
  const double selected = nanoseconds(tile_pairs, [&] {
    loops.sums(tile, sums.data(), columns);
    for (index_t i = 0; i < rows; ++i) {
      for (index_t first = 0; first < columns; first += most_selected) {
        kernels.select({.sums = sums.data() + i * columns + first,
                        .count = most_selected,
                        .row = static_cast<std::uint32_t>(i),
                        .col = static_cast<std::uint32_t>(first),
                        .row_cut = tile.row_cut[i],
                        .col_scale = tile.col_scale + first,
                        .band = 0,
                        .sign_flip = 0,
                        .sign_keep = ~0U,
                        .square_row = 1 << 20,
                        .square_cols = squares.data() + first,
                        .at_least = 2,
                        .at_most = -2},
                       hits.data());
      }
    }
  });
  return std::max(0.0, selected - search);
}

line statistic_costs(const pair_kernels& kernels) {
  constexpr index_t side = 32;
  const auto at = [&](index_t cols) {
    const std::vector<double> values(static_cast<std::size_t>(side * cols), 0.1);
    std::vector<double> out(side * side);
    return nanoseconds(side * side, [&] {
      kernels.ordered_dots(values.data(), side, values.data(), side, cols, out.data(), side);
    });
  };
  return through(at(few), at(many));
}

// Pairs here and there in a table that no cache holds: a product, a root, a quotient and a branch
// that cannot be foreseen.
double candidate_cost(const pair_kernels& kernels, double column) {
  constexpr index_t all = index_t{1} << 20;
  constexpr index_t chosen = index_t{1} << 14;
  std::mt19937_64 random(2);
  std::vector<std::int16_t> table(static_cast<std::size_t>(all * few));
  for (std::int16_t& value : table) {
    value = static_cast<std::int16_t>(static_cast<int>(random() % 17) - 8);
  }
  std::vector<index_t> places(2 * chosen);
  for (index_t& place : places) place = static_cast<index_t>(random() % all);
  std::vector<double> kept(chosen);
  const double taken = nanoseconds(static_cast<double>(chosen), [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < places.size(); i += 2) {
      const std::int16_t* const x = table.data() + places[i] * few;
      const std::int16_t* const y = table.data() + places[i + 1] * few;
      const auto product = static_cast<double>(kernels.int16_dot(x, y, few));
      const double statistic = product / std::sqrt(static_cast<double>(places[i] + 1));
      if (statistic > 0) kept[count++] = statistic;
    }
  });
  return std::max(0.0, taken - column * static_cast<double>(few));
}

gpu::detail::cpu_costs measure(const pair_kernels& kernels) {
  const bool has_int8 = kernels.int8.search != nullptr;
  const dot_kernels& ranks = has_int8 ? kernels.int8 : kernels.int16;
  const packing how = has_int8 ? packing::int8 : packing::int16;
  const index_t chunk = has_int8 ? kernels.int8_chunk : 0;
  const line of_ranks = search_costs(ranks, how, chunk);
  const line screen = screen_costs(kernels);
  const line int16 = has_int8 ? search_costs(kernels.int16, packing::int16, 0) : of_ranks;
  const operands data(how, few, chunk);
  const double search = of_ranks.column * static_cast<double>(few) + of_ranks.pair;
  return {.screen = screen.column,
          .look = screen.pair,
          .int8 = has_int8 ? of_ranks.column : 0,
          .int16 = int16.column,
          .float32 = search_costs(kernels.float32, packing::float32, 0).column,
          .float64 = statistic_costs(kernels).column,
          .filter = of_ranks.pair,
          .count = count_cost(ranks, data, search),
          .select = select_cost(kernels, ranks, data, search),
          .candidate = candidate_cost(kernels, kernels.costs.own_rank_column)};
}

void print(const char* name, double measured, double as_built) {
  std::printf("    .%s = %.2g,  // %.3g as built\n", name, measured, as_built);
}
void print_unmeasured(const char* name, double as_built) {
  std::printf("    .%s = %.3g,  // as built, not measured\n", name, as_built);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) seconds_a_figure = std::strtod(argv[1], nullptr);
  const pair_kernels& kernels = usable_pair_kernels();
  const gpu::detail::cpu_costs measured = measure(kernels);
  const gpu::detail::cpu_costs& built = kernels.costs;
  std::printf("inline constexpr cpu_costs %s{\n", kernels.name);
  print("screen", measured.screen, built.screen);
  print("look", measured.look, built.look);
  print("int8", measured.int8, built.int8);
  print("int16", measured.int16, built.int16);
  print("float32", measured.float32, built.float32);
  print("float64", measured.float64, built.float64);
  print("filter", measured.filter, built.filter);
  print("count", measured.count, built.count);
  print("select", measured.select, built.select);
  print("candidate", measured.candidate, built.candidate);
  print_unmeasured("making_screen", built.making_screen);
  print_unmeasured("own_rank_pair", built.own_rank_pair);
  print_unmeasured("own_rank_column", built.own_rank_column);
  print_unmeasured("own_unit_pair", built.own_unit_pair);
  print_unmeasured("own_unit_column", built.own_unit_column);
  print_unmeasured("unit_candidate", built.unit_candidate);
  print_unmeasured("block_int16", built.block_int16);
  print_unmeasured("block_move", built.block_move);
  print_unmeasured("block_filter", built.block_filter);
  print_unmeasured("rho", built.rho);
  print_unmeasured("clip", built.clip);
  print_unmeasured("keep", built.keep);
  print_unmeasured("clip_and_count", built.clip_and_count);
  print_unmeasured("bin", built.bin);
  print_unmeasured("class_bin", built.class_bin);
  std::puts("};");
  return 0;
}
