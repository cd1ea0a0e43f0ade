// Differential correlation: every sink of each measure, of tables in host and in device memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/discovery.hpp>

#include "golden/checksum.hpp"
#include "soak/cases.hpp"
#include "support/correlated_rows.hpp"
#include "support/device_table.hpp"

namespace gpu_test {
namespace {

using golden::checksum;
using gpu::index_t;

// A table, and two groups of its columns in no order; some columns are in neither. Some rows are
// constant in a group, equal to another or hold a NaN, also in a column of neither group. Four
// columns: statistics of exactly 1.
template <class T>
struct drawn_table {
  explicit drawn_table(dice& d) {
    const index_t cols = d.between(8, d.one_of<index_t>({8, 12, 40, 200, 700, 3710}));
    index_t rows = d.rows();
    while (rows > 2 && rows * rows * cols > 100'000'000) rows /= 2;
    data = correlated_matrix<T>({.rows = rows,
                                 .cols = cols,
                                 .pairs_in_blocks = d.one_of({0.001, 0.05, 0.5}),
                                 .levels = d.one_of({0, 0, 2, 12}),
                                 .seed = d.seed()});
    columns.resize(static_cast<std::size_t>(cols));
    std::iota(columns.begin(), columns.end(), index_t{0});
    if (d.coin()) std::shuffle(columns.begin(), columns.end(), std::mt19937_64(d.seed()));
    first = static_cast<std::size_t>(d.between(4, cols - 4));
    second = static_cast<std::size_t>(d.between(4, cols - static_cast<index_t>(first)));
    for (index_t n = d.between(0, 5); n > 0; --n) {
      const index_t row = d.between(0, rows - 1);
      const index_t kind = d.between(0, 3);
      if (kind == 0) std::copy_n(&data(d.between(0, rows - 1), 0), cols, &data(row, 0));
      const auto of = kind == 1 ? groups().first : groups().second;
      if (kind == 1 || kind == 2) {
        for (const index_t k : of) data(row, k) = T{3};
      }
      if (kind == 3 && std::numeric_limits<T>::has_quiet_NaN) {
        data(row, d.between(0, cols - 1)) = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }

  [[nodiscard]] gpu::column_groups groups() const {
    const std::span<const index_t> all(columns);
    return {all.first(first), all.subspan(first, second)};
  }

  gpu::matrix<T> data;
  std::vector<index_t> columns;
  std::size_t first = 0;   // columns of the first group
  std::size_t second = 0;  // and of the second, behind them
};

gpu::differential_filter draw_filter(dice& d) {
  return {.max_p = d.one_of({1e-295, 1e-12, 1e-6, 1e-3, 0.05, 0.5, 1.0}),
          .min_abs_z = d.one_of({0.0, 0.0, 0.0, 1.0, 3.0, std::numeric_limits<double>::infinity()}),
          .side = d.one_of({gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}),
          .adjust = d.one_of({gpu::adjustment::none, gpu::adjustment::none,
                              gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg})};
}

template <class... Parts>
checksum sum_of_parts(const Parts&... parts) {
  checksum sum;
  (sum.add(parts), ...);
  return sum;
}
checksum sum_of(const gpu::differential_edges& got) {
  return sum_of_parts(std::span<const gpu::differential_edge>(got.edges), got.summary);
}
checksum sum_of(const gpu::differential_counts& got) {
  return sum_of_parts(got.degree, got.summary);
}
checksum sum_of(const gpu::differential_partners& got) {
  return sum_of_parts(got.count, got.index, got.first, got.second, got.z, got.p, got.summary);
}
checksum sum_of(const gpu::discovery_counts& got) {
  return sum_of_parts(got.below, got.at_or_above, got.bins);
}

// Makes one call on both backends and compares the results.
template <class T, class Sink>
void run(dice& d, gpu::measure what, cudaStream_t stream, const Sink& sink, bool may_be_a_part) {
  const drawn_table<T> x(d);
  gpu::pair_options options{
      .variant = d.one_of({gpu::pair_variant::automatic, gpu::pair_variant::automatic,
                           gpu::pair_variant::naive, gpu::pair_variant::shared_tiled,
                           gpu::pair_variant::tensor}),
      .exec = by_cuda()};
  options.nans = gpu::nan_policy::propagate;
  if (may_be_a_part && d.between(0, 2) == 0) {
    options.part.of = d.between(2, 5);
    options.part.index = d.between(0, options.part.of - 1);
  }
  options.exec.cpu_threads = d.one_of({1, 4});
  // Room for the rows of both groups and some rows of statistics: several blocks.
  const auto rows = static_cast<std::size_t>(x.data.rows());
  if (d.coin()) {
    options.exec.workspace_bytes =
        (std::size_t{1} << 20) + rows * (std::max(x.first, x.second) + 32) * 8 * 6;
  }
  const bool is_on_device = d.coin();
  if (!is_on_device && gpu::available_devices().size() > 1 && d.coin()) {
    options.exec.devices = {0, 1};
  }
  gpu::pair_options on_cpu = options;
  on_cpu.variant = gpu::pair_variant::automatic;
  on_cpu.exec = by_cpu();
  const auto wanted = sum_of(gpu::differential_pairs(what, x.data, x.groups(), on_cpu, sink));
  const auto got = [&] {
    if (!is_on_device)
      return sum_of(gpu::differential_pairs(what, x.data, x.groups(), options, sink));
    const device_table<T> there(x.data, x.data.rows() % 2 * 5);
    options.exec.stream = gpu::stream_ref(stream);
    return sum_of(gpu::differential_pairs(what, there.view(), x.groups(), options, sink));
  }();
  expect(got.value() == wanted.value(), std::to_string(x.data.rows()) + " x (" +
                                            std::to_string(x.first) + " + " +
                                            std::to_string(x.second) + ")");
}

template <class T>
void check(dice& d, gpu::measure what, std::size_t sink, cudaStream_t stream) {
  const gpu::differential_filter keep = draw_filter(d);
  const bool has_parts = keep.adjust != gpu::adjustment::benjamini_hochberg;
  if (sink == 0) {
    run<T>(d, what, stream, gpu::differential_edge_sink{.keep = keep}, has_parts);
  } else if (sink == 1) {
    run<T>(d, what, stream, gpu::differential_count_sink{.keep = keep}, has_parts);
  } else if (sink == 2) {
    const auto k = d.one_of<index_t>({1, 3, 10, 40, 2000});
    run<T>(d, what, stream, gpu::differential_top_k_sink{.k = k, .keep = keep}, has_parts);
  } else {
    run<T>(d, what, stream, gpu::discovery_sink{.keep = {.max_p = keep.max_p, .side = keep.side}},
           true);
  }
}

}  // namespace

std::vector<soak_case> differential_cases() {
  std::vector<soak_case> all;
  constexpr std::array sinks{"edges", "counts", "neighbours", "discoveries"};
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    for (std::size_t sink = 0; sink < sinks.size(); ++sink) {
      const auto run_one = [=](dice& d, cudaStream_t stream) {
        const auto as = [&]<class T>(T) { check<T>(d, what, sink, stream); };
        switch (d.between(0, 4)) {
          case 0:
            return as(std::int8_t{});
          case 1:
            return as(std::int32_t{});
          case 2:
            return as(double{});
          default:
            return as(float{});
        }
      };
      all.push_back(
          {std::string("differential ") + sinks[sink] + ", " + std::string(to_string(what)),
           run_one});
    }
  }
  return all;
}

}  // namespace gpu_test
