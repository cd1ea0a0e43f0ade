#include "tanimoto/jobs/panels.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include <gpu/binary_matmul.hpp>

#include "base/parallel.hpp"
#include "tanimoto/best_partners.hpp"
#include "tanimoto/ratio.hpp"

namespace gpu::tanimoto {
namespace {

// How many bits of each row are 1.
std::vector<std::int32_t> count_ones(bit_matrix_view bits, int threads) {
  constexpr index_t rows_at_once = 256;
  auto out = detail::new_vector<std::int32_t>(bits.rows());
  const index_t words = bit_words(bits.cols());
  const index_t used = bits.cols() % 32;
  const std::uint32_t last = used == 0 ? ~std::uint32_t{0} : (std::uint32_t{1} << used) - 1;
  const index_t tasks = (bits.rows() + rows_at_once - 1) / rows_at_once;
  detail::parallel_for(tasks, threads, [&](index_t task, int) {
    const index_t end = std::min(bits.rows(), (task + 1) * rows_at_once);
    for (index_t i = task * rows_at_once; i < end; ++i) {
      int ones = 0;
      for (index_t w = 0; w < words; ++w) {
        ones += std::popcount(bits.row(i)[w] & (w + 1 == words ? last : ~std::uint32_t{0}));
      }
      out[static_cast<std::size_t>(i)] = ones;
    }
  });
  return out;
}

// row(i, statistic) for each row of the job by all threads: statistic(j) is that of row i of x with
// row j of y.
template <class Row>
void for_each_row(const panel_job& job, const Row& row) {
  constexpr index_t panel_counts = index_t{1} << 26;
  const bit_matrix_view x = job.tables.x;
  const bit_matrix_view y = job.tables.y;
  const int threads = detail::thread_count(job.exec.cpu_threads);
  const std::vector<std::int32_t> x_ones = count_ones(x, threads);
  const std::vector<std::int32_t> y_ones = count_ones(y, threads);
  binary_matmul_options product{.product = bit_product::and_count, .variant = job.variant};
  product.exec = job.exec;
  product.exec.on_progress = {};
  const index_t step = std::max<index_t>(1, panel_counts / std::max<index_t>(1, y.rows()));
  for (index_t first = job.rows.begin; first < job.rows.end; first += step) {
    const index_t rows = std::min(step, job.rows.end - first);
    const matrix<std::int32_t> common = gpu::binary_matmul(
        bit_matrix_view(x.row(first), rows, x.cols(), x.row_words()), y, product);
    detail::parallel_for(rows, threads, [&](index_t within, int) {
      const index_t i = first + within;
      const std::int32_t own = x_ones[static_cast<std::size_t>(i)];
      row(i, [&](index_t j) {
        const std::int32_t both = common(within, j);
        return ratio(both, in_either(own, y_ones[static_cast<std::size_t>(j)], both));
      });
    });
    job.progress.advance(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(y.rows()));
  }
}

}  // namespace

template <class Value>
void fill_dense(const panel_job& job, matrix_view<Value> out) {
  for_each_row(job, [&](index_t i, const auto& statistic) {
    Value* const to = out.row(i - job.rows.begin);
    for (index_t j = 0; j < out.cols(); ++j) to[j] = static_cast<Value>(statistic(j));
  });
}

template void fill_dense(const panel_job&, matrix_view<double>);
template void fill_dense(const panel_job&, matrix_view<float>);

void fill_partners(const panel_job& job, double least, const partner_rows& out) {
  for_each_row(job, [&](index_t i, const auto& statistic) {
    best_partners best(out.index.cols(), least);
    for (index_t j = 0; j < job.tables.y.rows(); ++j) {
      if (job.tables.is_against || i != j) best.offer(static_cast<node_id>(j), statistic(j));
    }
    const index_t at = i - job.rows.begin;
    out.count[at] = best.write(out.index.row(at), out.statistic.row(at));
  });
}

}  // namespace gpu::tanimoto
