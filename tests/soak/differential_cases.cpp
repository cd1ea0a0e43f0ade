// Differential correlation: every sink of each measure.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gpu/differential.hpp>

#include "soak/cases.hpp"
#include "support/correlated_rows.hpp"

namespace gpu_test {
namespace {

using gpu::index_t;

// A table, and two groups of its columns in no order, some of which are in neither.
struct drawn_table {
  explicit drawn_table(dice& d)
      : data(correlated_matrix<float>({.rows = d.rows(),
                                       .cols = d.between(8, d.one_of<index_t>({12, 40, 200, 700})),
                                       .pairs_in_blocks = d.one_of({0.001, 0.05, 0.5}),
                                       .levels = d.one_of({0, 2, 12}),
                                       .seed = d.seed()})),
        columns(static_cast<std::size_t>(data.cols())) {
    std::iota(columns.begin(), columns.end(), index_t{0});
    std::shuffle(columns.begin(), columns.end(), std::mt19937_64(d.seed()));
    first = static_cast<std::size_t>(d.between(4, data.cols() - 4));
    second = static_cast<std::size_t>(d.between(4, data.cols() - static_cast<index_t>(first)));
  }

  [[nodiscard]] gpu::column_groups groups() const {
    const std::span<const index_t> all(columns);
    return {all.first(first), all.subspan(first, second)};
  }

  gpu::matrix<float> data;
  std::vector<index_t> columns;
  std::size_t first = 0;   // columns of the first group
  std::size_t second = 0;  // and of the second, behind them
};

gpu::differential_filter draw_filter(dice& d) {
  return {.max_p = d.one_of({1e-6, 1e-3, 0.05, 1.0}),
          .min_abs_z = d.one_of({0.0, 0.0, 1.0, 3.0}),
          .side = d.one_of({gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}),
          .adjust = d.one_of({gpu::adjustment::none, gpu::adjustment::none,
                              gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg})};
}

// Makes one call on both backends and compares the results by same(cuda, cpu).
template <class Sink, class Same>
void run(dice& d, gpu::measure what, const Sink& sink, const Same& same) {
  const drawn_table x(d);
  gpu::pair_options options{.exec = {.target = gpu::backend::cuda}};
  if (sink.keep.adjust != gpu::adjustment::benjamini_hochberg && d.between(0, 2) == 0) {
    options.part = {.index = d.between(0, 2), .of = 3};
  }
  gpu::pair_options on_cpu = options;
  on_cpu.exec = by_cpu();
  const auto got = gpu::differential_pairs(what, x.data, x.groups(), options, sink);
  const auto wanted = gpu::differential_pairs(what, x.data, x.groups(), on_cpu, sink);
  expect(got.summary.pairs_tested == wanted.summary.pairs_tested && same(got, wanted),
         std::to_string(x.data.rows()) + " x (" + std::to_string(x.first) + " + " +
             std::to_string(x.second) + ")");
}

void edges(dice& d, gpu::measure what) {
  run(d, what, gpu::differential_edge_sink{.keep = draw_filter(d)},
      [](const auto& got, const auto& wanted) { return got.edges == wanted.edges; });
}

void counts(dice& d, gpu::measure what) {
  run(d, what, gpu::differential_count_sink{.keep = draw_filter(d)},
      [](const auto& got, const auto& wanted) {
        return got.degree == wanted.degree && got.summary.pairs_kept == wanted.summary.pairs_kept;
      });
}

void partners(dice& d, gpu::measure what) {
  run(d, what,
      gpu::differential_top_k_sink{.k = d.one_of<index_t>({1, 3, 10, 40}), .keep = draw_filter(d)},
      [](const auto& got, const auto& wanted) {
        return got.count == wanted.count && same_values(got.index, wanted.index) &&
               same_values(got.first, wanted.first) && same_values(got.z, wanted.z) &&
               same_values(got.p, wanted.p);
      });
}

}  // namespace

std::vector<soak_case> differential_cases() {
  std::vector<soak_case> all;
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    const auto add = [&](const std::string& sink, auto function) {
      all.push_back({"differential " + sink + ", " + std::string(to_string(what)),
                     [=](dice& d, cudaStream_t) { function(d, what); }});
    };
    add("edges", &edges);
    add("counts", &counts);
    add("neighbours", &partners);
  }
  return all;
}

}  // namespace gpu_test
