// Multiplies two random float matrices with every variant that this machine has, checks each result
// against the CPU, and prints what each variant gains.
//
//   matmul_variants [n]        n x n matrices, 2048 by default
//
// Times are of the whole call on host memory, copies to and from the device included: what a
// caller waits for. The kernels alone, beside cuBLAS, are in bench/matmul_cuda_bench.cu.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/matmul.hpp>

namespace {

gpu::matrix<float> random_matrix(gpu::index_t n, unsigned seed) {
  gpu::matrix<float> out(n, n);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::generate_n(out.data(), n * n, [&] { return uniform(engine); });
  return out;
}

/// The largest difference, as a fraction of what rounding may cost a sum of n products.
double difference(const gpu::matrix<float>& x, const gpu::matrix<float>& y) {
  double most = 0;
  const gpu::index_t count = x.rows() * x.cols();
  for (gpu::index_t e = 0; e < count; ++e) {
    most = std::max(most,
                    std::fabs(static_cast<double>(x.data()[e]) - static_cast<double>(y.data()[e])));
  }
  // 2^-24 per addition, twice because both sides round; |a_il b_lj| is at most 1.
  const auto depth = static_cast<double>(x.cols());
  return most / (2 * depth * 0x1p-24 * depth);
}

/// Milliseconds of the fastest of three calls, after one that warms up.
double time_of(const gpu::matrix<float>& a, const gpu::matrix<float>& b, gpu::matrix<float>& c,
               const gpu::matmul_options& options) {
  double best = INFINITY;
  for (int call = 0; call < 4; ++call) {
    const auto start = std::chrono::steady_clock::now();
    gpu::matmul(a.view(), b.view(), c.view(), options);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (call > 0) best = std::min(best, taken.count());
  }
  return best;
}

/// Whether the variant is there and agrees with the CPU; prints its line.
bool run_variant(const gpu::matrix<float>& a, const gpu::matrix<float>& b,
                 const gpu::matrix<float>& expected, gpu::matmul_variant variant,
                 double cpu_milliseconds) {
  const gpu::matmul_options options{.variant = variant, .exec = {.target = gpu::backend::cuda}};
  const std::string name(gpu::to_string(variant));
  gpu::matrix<float> c(a.rows(), b.cols());
  try {
    const double milliseconds = time_of(a, b, c, options);
    const bool agrees = difference(expected, c) <= 1.0;
    std::printf("cuda %-16s %10.2f ms %8.1f x   %s\n", name.c_str(), milliseconds,
                cpu_milliseconds / milliseconds, agrees ? "agrees" : "DIFFERS");
    return agrees;
  } catch (const gpu::unsupported&) {
    std::printf("cuda %-16s          - not offered here\n", name.c_str());
    return true;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const gpu::index_t n = argc > 1 ? std::atol(argv[1]) : 2048;
  if (n < 1) {
    std::fprintf(stderr, "usage: %s [n]\n", argv[0]);
    return 2;
  }
  const gpu::matrix<float> a = random_matrix(n, 1);
  const gpu::matrix<float> b = random_matrix(n, 2);
  gpu::matrix<float> expected(n, n);
  const gpu::matmul_options on_cpu{.exec = {.target = gpu::backend::cpu}};
  const double cpu = time_of(a, b, expected, on_cpu);
  const std::string name(gpu::to_string(gpu::plan_matmul<float>(n, n, n, on_cpu).variant));
  std::printf("%ld x %ld float, whole calls\n", static_cast<long>(n), static_cast<long>(n));
  std::printf("cpu  %-16s %10.2f ms      1.0 x\n", name.c_str(), cpu);
  if (!gpu::available_backends().back().usable) {
    std::printf("no CUDA device: %s\n", gpu::available_backends().back().reason.c_str());
    return 0;
  }
  bool all_agree = true;
  for (const auto variant :
       {gpu::matmul_variant::naive, gpu::matmul_variant::pitched, gpu::matmul_variant::shared_tiled,
        gpu::matmul_variant::register_tiled, gpu::matmul_variant::tensor}) {
    all_agree = run_variant(a, b, expected, variant, cpu) && all_agree;
  }
  return all_agree ? 0 : 1;
}
