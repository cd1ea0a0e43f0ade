// Products of matrices: dense ones within their error bound, those of bits exactly.
#include <algorithm>

#include "soak/cases.hpp"
#include "support/device_memory.hpp"
#include "support/generators.hpp"

namespace gpu_test {
namespace {

using gpu::binary_matmul_variant;
using gpu::index_t;
using gpu::matmul_variant;
using gpu::pair_variant;
using gpu::transposition;

template <class T>
gpu::matrix<double> as_doubles(const gpu::matrix<T>& x) {
  gpu::matrix<double> out(x.rows(), x.cols());
  for (index_t i = 0; i < x.rows() * x.cols(); ++i)
    out.data()[i] = static_cast<double>(x.data()[i]);
  return out;
}

/// Euclidean norms of the rows of op(X), or of its columns.
std::vector<double> norms(const gpu::matrix<double>& x, bool of_rows) {
  std::vector<double> squares(static_cast<std::size_t>(of_rows ? x.rows() : x.cols()));
  for (index_t i = 0; i < x.rows(); ++i) {
    for (index_t j = 0; j < x.cols(); ++j) {
      squares[static_cast<std::size_t>(of_rows ? i : j)] += x(i, j) * x(i, j);
    }
  }
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

template <class T>
void product(dice& d, matmul_variant variant, cudaStream_t stream) {
  const index_t most = d.most_rows();
  const index_t m = d.between(1, most);
  const index_t n = d.between(1, most);
  const index_t k = d.between(0, d.coin() ? 40 : most);
  gpu::matmul_options options{.a = d.one_of({transposition::none, transposition::transpose}),
                              .b = d.one_of({transposition::none, transposition::transpose})};
  if (d.coin()) {
    options.alpha = d.one_of({1.0, -1.0, 0.5, 0.0});
    options.beta = d.one_of({0.0, 1.0, 2.0});
  }
  const bool a_flipped = options.a == transposition::transpose;
  const bool b_flipped = options.b == transposition::transpose;
  const auto a = random_matrix<T>(a_flipped ? k : m, a_flipped ? m : k, d.seed());
  const auto b = random_matrix<T>(b_flipped ? n : k, b_flipped ? k : n, d.seed());
  const auto c = random_matrix<T>(m, n, d.seed());

  options.exec = by_cpu();
  const gpu::matrix<double> wide_a = as_doubles(a);
  const gpu::matrix<double> wide_b = as_doubles(b);
  gpu::matrix<double> wanted = as_doubles(c);
  gpu::matmul(wide_a, wide_b, wanted, options);

  options.variant = variant;
  const bool is_on_host = d.coin();
  options.exec = is_on_host ? by_cuda() : by_cuda(stream);
  gpu::matrix<T> got(m, n);
  std::copy(c.data(), c.data() + m * n, got.data());
  if (is_on_host) {
    gpu::matmul(a, b, got, options);
  } else {
    const device_array<T> on_a(a.data(), static_cast<std::size_t>(m * k));
    const device_array<T> on_b(b.data(), static_cast<std::size_t>(k * n));
    const device_array<T> on_c(c.data(), static_cast<std::size_t>(m * n));
    const gpu::device_matrix_view<const T> a_view(on_a.data(), a.rows(), a.cols());
    const gpu::device_matrix_view<const T> b_view(on_b.data(), b.rows(), b.cols());
    gpu::matmul(a_view, b_view, gpu::device_matrix_view<T>(on_c.data(), m, n), options);
    GPU_TEST_CUDA(cudaStreamSynchronize(stream));
    on_c.copy_to(got.data());
  }
  const std::vector<double> left = norms(wide_a, !a_flipped);
  const std::vector<double> right = norms(wide_b, b_flipped);
  const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double sizes = left[static_cast<std::size_t>(i)] * right[static_cast<std::size_t>(j)] +
                           std::fabs(static_cast<double>(c(i, j)));
      const double allowed = (2 * static_cast<double>(k) + 60) * unit * sizes;
      if (std::fabs(static_cast<double>(got(i, j)) - wanted(i, j)) <= 2 * allowed) continue;
      throw wrong_answer(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                         ", element " + std::to_string(i) + ", " + std::to_string(j));
    }
  }
}

void bits(dice& d, binary_matmul_variant variant, cudaStream_t) {
  const index_t cols = d.between(1, d.coin() ? 70 : 3000);
  const auto x = random_matrix<float>(d.rows(), cols, d.seed());
  const auto y = random_matrix<float>(d.rows(), cols, d.seed());
  const gpu::bit_matrix a = gpu::pack_bits(x, 0.0F, by_cpu());
  const gpu::bit_matrix b = gpu::pack_bits(y, 0.0F, by_cpu());
  gpu::binary_matmul_options options{
      .product = d.one_of({gpu::bit_product::xnor_dot, gpu::bit_product::hamming_distance,
                           gpu::bit_product::and_count})};
  options.exec = by_cpu();
  const auto wanted = gpu::binary_matmul(a.view(), b.view(), options);
  options.variant = variant;
  options.exec = by_cuda();
  expect(same_values(gpu::binary_matmul(a.view(), b.view(), options), wanted), "products of bits");
  // The device packs the same bits.
  const gpu::bit_matrix packed = gpu::pack_bits(x, 0.0F, {.target = gpu::backend::cuda});
  const auto words = static_cast<std::size_t>(a.view().rows() * a.view().row_words());
  expect(same_values(packed.view().words(), a.view().words(), words), "packed bits");
}

void tanimoto(dice& d, pair_variant variant, cudaStream_t) {
  const index_t cols = d.between(1, d.coin() ? 70 : 3000);
  const gpu::bit_matrix x =
      gpu::pack_bits(random_matrix<float>(d.rows(), cols, d.seed()), 0.5F, by_cpu());
  const gpu::bit_matrix y =
      gpu::pack_bits(random_matrix<float>(d.rows(), cols, d.seed()), 0.5F, by_cpu());
  const bool is_against = d.coin();
  const gpu::pair_filter keep{.min_abs = 0.1 * static_cast<double>(d.between(0, 10))};
  const gpu::pair_options by_host{.exec = by_cpu()};
  const gpu::pair_options by_device{.variant = variant, .exec = by_cuda()};
  const auto run = [&](const gpu::pair_options& options, const auto& sink) {
    return is_against ? gpu::tanimoto_all_pairs(x, y, options, sink)
                      : gpu::tanimoto_all_pairs(x, options, sink);
  };
  const gpu::edge_sink edges{.keep = keep};
  expect(run(by_device, edges).summary.checksum == run(by_host, edges).summary.checksum,
         "edges of bits");
  const gpu::top_k_sink best{.k = d.between(1, 40), .keep = keep};
  expect(run(by_device, best).summary.checksum == run(by_host, best).summary.checksum,
         "partners of bits");
  const gpu::count_sink counts{.keep = keep, .histogram_bins = 50};
  const auto got = run(by_device, counts);
  const auto wanted = run(by_host, counts);
  expect(got.degree == wanted.degree && got.y_degree == wanted.y_degree &&
             got.histogram == wanted.histogram,
         "counts of bits");
}

}  // namespace

std::vector<soak_case> product_cases() {
  std::vector<soak_case> all;
  for (const matmul_variant variant :
       {matmul_variant::automatic, matmul_variant::naive, matmul_variant::pitched,
        matmul_variant::shared_tiled, matmul_variant::register_tiled, matmul_variant::tensor}) {
    const std::string name(to_string(variant));
    all.push_back({"matmul, float, " + name,
                   [=](dice& d, cudaStream_t stream) { product<float>(d, variant, stream); }});
    all.push_back({"matmul, double, " + name,
                   [=](dice& d, cudaStream_t stream) { product<double>(d, variant, stream); }});
  }
  for (const binary_matmul_variant variant :
       {binary_matmul_variant::automatic, binary_matmul_variant::popcount,
        binary_matmul_variant::popcount_shared, binary_matmul_variant::popcount_tiled,
        binary_matmul_variant::tensor, binary_matmul_variant::hopper}) {
    all.push_back({"binary_matmul, " + std::string(to_string(variant)),
                   [=](dice& d, cudaStream_t stream) { bits(d, variant, stream); }});
  }
  for (const pair_variant variant : {pair_variant::automatic, pair_variant::shared_tiled,
                                     pair_variant::tensor, pair_variant::hopper}) {
    all.push_back({"tanimoto_all_pairs, " + std::string(to_string(variant)),
                   [=](dice& d, cudaStream_t stream) { tanimoto(d, variant, stream); }});
  }
  return all;
}

}  // namespace gpu_test
