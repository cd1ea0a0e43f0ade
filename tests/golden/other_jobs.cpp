// Jobs of the operations that are not all pairs of a measure.

#include <sstream>
#include <vector>

#include "golden/draws.hpp"
#include "golden/jobs.hpp"

namespace gpu_test::golden {
namespace {

using gpu::index_t;

index_t draw_extent(draws& from, std::initializer_list<index_t> values) {
  return from.one_of(values);
}

answer differential(draws& from, const gpu::execution& where) {
  const auto what = from.one_of({gpu::measure::pearson, gpu::measure::spearman});
  const index_t rows = draw_extent(from, {2, 9, 33, 65, 130});
  const index_t cols = draw_extent(from, {12, 30, 61, 300});
  const auto table = draw_table(from, rows, cols, from.one_of({values::alike, values::levels}));
  std::vector<index_t> first;
  std::vector<index_t> second;
  for (index_t c = 0; c < cols; ++c) (c % 3 == 0 ? first : second).push_back(c);
  const gpu::column_groups groups{first, second};
  gpu::differential_filter keep{.max_p = from.one_of({0.5, 0.05, 1e-3})};
  if (from.one_in(2))
    keep.adjust = from.one_of({gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg});
  if (from.one_in(3)) keep.side = gpu::tail::greater;
  gpu::pair_options options{.exec = where};
  if (keep.adjust != gpu::adjustment::benjamini_hochberg && from.one_in(3)) options.part = {1, 3};
  const auto sink = from.below(3);
  std::ostringstream text;
  text << "differential " << gpu::to_string(what) << ' ' << rows << 'x' << cols << " sink=" << sink
       << " max-p=" << keep.max_p << " adjust=" << static_cast<int>(keep.adjust)
       << " part=" << options.part.of;
  return answer_of(text.str(), [&](checksum& sum) {
    if (sink == 0) {
      const auto out = gpu::differential_pairs(what, table, groups, options,
                                               gpu::differential_edge_sink{.keep = keep});
      sum.add(out.edges);
      sum.add(out.summary);
    } else if (sink == 1) {
      const auto out = gpu::differential_pairs(what, table, groups, options,
                                               gpu::differential_count_sink{.keep = keep});
      sum.add(out.degree);
      sum.add(out.summary);
    } else {
      const auto out = gpu::differential_pairs(what, table, groups, options,
                                               gpu::differential_top_k_sink{.k = 3, .keep = keep});
      sum.add(out.index);
      sum.add(out.z);
      sum.add(out.p);
      sum.add(out.count);
      sum.add(out.summary);
    }
  });
}

answer max_t(draws& from, const gpu::execution& where) {
  const auto what = from.one_of(
      {gpu::measure::pearson, gpu::measure::spearman, gpu::measure::cosine, gpu::measure::bicor});
  const index_t rows = draw_extent(from, {2, 9, 40});
  const index_t cols = draw_extent(from, {5, 12, 40});
  const auto table = draw_table(from, rows, cols, values::alike);
  const gpu::max_t_options how{.permutations = 20,
                               .seed = from.below(100),
                               .side = from.one_of({gpu::tail::two_sided, gpu::tail::less})};
  std::ostringstream text;
  text << "max_t " << gpu::to_string(what) << ' ' << rows << 'x' << cols
       << " side=" << static_cast<int>(how.side);
  return answer_of(text.str(), [&](checksum& sum) {
    sum.add(gpu::max_t(what, table, gpu::pair_options{.exec = where}, how).maxima);
  });
}

answer tanimoto(draws& from, const gpu::execution& where) {
  const index_t rows = draw_extent(from, {2, 33, 65, 200});
  const index_t bits = draw_extent(from, {1, 31, 64, 166, 1024, 2048});
  const auto packed = gpu::pack_bits(draw_table(from, rows, bits, values::sparse));
  gpu::pair_options options{.exec = where};
  if (from.one_in(3)) options.part = {1, 3};
  const gpu::pair_filter keep{.min_abs = from.one_of({0.0, 0.2, 0.6, 1.0})};
  const auto sink = from.below(4);
  std::ostringstream text;
  text << "tanimoto " << rows << 'x' << bits << " sink=" << sink << " min-abs=" << keep.min_abs
       << " part=" << options.part.of;
  return answer_of(text.str(), [&](checksum& sum) {
    if (sink == 0) {
      const auto out = gpu::tanimoto_all_pairs(packed, options);
      sum.add(static_cast<const gpu::matrix<double>&>(out));
      sum.add(out.summary);
    } else if (sink == 1) {
      const auto out = gpu::tanimoto_all_pairs(packed, options, gpu::edge_sink{.keep = keep});
      sum.add(std::span<const gpu::edge>(out.edges));
      sum.add(out.summary);
    } else if (sink == 2) {
      const auto out = gpu::tanimoto_all_pairs(packed, options,
                                               gpu::count_sink{.keep = keep, .histogram_bins = 20});
      sum.add(out.degree);
      sum.add(out.histogram);
      sum.add(out.summary);
    } else {
      const auto out =
          gpu::tanimoto_all_pairs(packed, options, gpu::top_k_sink{.k = 3, .keep = keep});
      sum.add(out.index);
      sum.add(out.statistic);
      sum.add(out.count);
      sum.add(out.summary);
    }
  });
}

answer ranks(draws& from, const gpu::execution& where) {
  const index_t rows = draw_extent(from, {1, 7, 40});
  const index_t cols = draw_extent(from, {1, 2, 30, 129, 1030, 9000});
  const auto table = draw_table(from, rows, cols, from.one_of({values::normal, values::levels}));
  const gpu::rank_options options{
      .ties = from.one_of({gpu::tie_method::average, gpu::tie_method::min, gpu::tie_method::max,
                           gpu::tie_method::dense, gpu::tie_method::ordinal}),
      .order = from.one_of({gpu::rank_order::ascending, gpu::rank_order::descending}),
      .exec = where};
  std::ostringstream text;
  text << "rank " << rows << 'x' << cols << " ties=" << static_cast<int>(options.ties)
       << " order=" << static_cast<int>(options.order);
  return answer_of(text.str(), [&](checksum& sum) { sum.add(gpu::rank_rows(table, options)); });
}

answer best_values(draws& from, const gpu::execution& where) {
  const index_t rows = draw_extent(from, {1, 7, 40});
  const index_t cols = draw_extent(from, {1, 30, 1030, 9000});
  const auto table = draw_table(from, rows, cols, from.one_of({values::normal, values::levels}));
  const index_t k = draw_extent(from, {1, 3, 20, 400});
  const bool distinct = from.one_in(3);
  const gpu::top_k_options options{
      .select = from.one_of({gpu::top_k_select::largest, gpu::top_k_select::smallest}),
      .exec = where};
  std::ostringstream text;
  text << "top_k " << rows << 'x' << cols << " k=" << k << (distinct ? " distinct" : "")
       << " select=" << static_cast<int>(options.select);
  return answer_of(text.str(), [&](checksum& sum) {
    if (distinct) {
      const auto out = gpu::top_k_distinct(table, k, options);
      for (index_t r = 0; r < rows; ++r) {
        const index_t found = out.found[static_cast<std::size_t>(r)];
        sum.add(found);
        for (index_t i = 0; i < found; ++i) {
          sum.add(out.values(r, i));
          sum.add(out.indices(r, i));
          sum.add(out.counts(r, i));
        }
      }
    } else {
      const auto out = gpu::top_k(table, k, options);
      sum.add(out.values);
      sum.add(out.indices);
    }
  });
}

answer moving_means(draws& from, const gpu::execution& where) {
  const index_t rows = draw_extent(from, {1, 7});
  const index_t cols = draw_extent(from, {1, 30, 1030, 20000});
  const auto table = draw_table(from, rows, cols, from.one_of({values::normal, values::levels}));
  gpu::mean_filter_options options{
      .window = draw_extent(from, {1, 2, 5, 31, 301, 5000}),
      .boundary = from.one_of({gpu::boundary::zero, gpu::boundary::reflect, gpu::boundary::nearest,
                               gpu::boundary::mirror, gpu::boundary::wrap, gpu::boundary::shrink,
                               gpu::boundary::valid}),
      .exec = where};
  std::ostringstream text;
  text << "mean_filter " << rows << 'x' << cols << " window=" << options.window << ' '
       << gpu::to_string(options.boundary);
  return answer_of(text.str(), [&](checksum& sum) { sum.add(gpu::mean_filter(table, options)); });
}

answer products_of_bits(draws& from, const gpu::execution& where) {
  const index_t k = draw_extent(from, {1, 31, 64, 1000});
  const auto a =
      gpu::pack_bits(draw_table(from, draw_extent(from, {1, 33, 130}), k, values::normal));
  const auto b = gpu::pack_bits(draw_table(from, draw_extent(from, {1, 65}), k, values::normal));
  std::ostringstream text;
  text << "binary_matmul " << a.view().rows() << 'x' << k << 'x' << b.view().rows();
  return answer_of(text.str(), [&](checksum& sum) {
    sum.add(gpu::binary_matmul(a, b, gpu::binary_matmul_options{.exec = where}));
  });
}

}  // namespace

answer answer_of_others(std::uint64_t number, const gpu::execution& where) {
  draws from(number + 1'000'000);
  switch (number % 8) {
    case 0:
    case 1:
      return differential(from, where);
    case 2:
      return max_t(from, where);
    case 3:
      return tanimoto(from, where);
    case 4:
      return ranks(from, where);
    case 5:
      return best_values(from, where);
    case 6:
      return moving_means(from, where);
    default:
      return products_of_bits(from, where);
  }
}

}  // namespace gpu_test::golden
