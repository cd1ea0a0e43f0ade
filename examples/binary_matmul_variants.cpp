// Multiplies two matrices of signs with every variant that this machine has, checks that all give
// the very same integers as the CPU, and prints what each variant gains.
//
//   binary_matmul_variants [n]     n x n signs, 2,048 by default
//
// Times are of the whole call on host memory, copies included, the best of three.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include <gpu/binary_matmul.hpp>
#include <gpu/error.hpp>
#include <gpu/execution.hpp>

namespace {

gpu::bit_matrix random_signs(gpu::index_t n, unsigned seed) {
  gpu::matrix<float> values(n, n);
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  for (gpu::index_t i = 0; i < n; ++i) {
    for (float& value : values.row(i)) value = normal(engine);
  }
  return gpu::pack_bits(values.view());
}

struct timed_product {
  gpu::matrix<std::int32_t> product;
  double seconds = 1e30;
};

timed_product multiply(const gpu::bit_matrix& a, const gpu::bit_matrix& b, gpu::backend target,
                       gpu::binary_matmul_variant variant) {
  const gpu::binary_matmul_options options{.variant = variant, .exec = {.target = target}};
  timed_product best;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    best.product = gpu::binary_matmul(a.view(), b.view(), options);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best.seconds = std::min(best.seconds, taken.count());
  }
  return best;
}

bool same(const gpu::matrix<std::int32_t>& x, const gpu::matrix<std::int32_t>& y) {
  const auto bytes = static_cast<std::size_t>(x.rows() * x.cols()) * sizeof(std::int32_t);
  return x.rows() == y.rows() && std::memcmp(x.data(), y.data(), bytes) == 0;
}

void print(const std::string& name, double seconds, double operations, double reference,
           bool right) {
  std::printf("%-22s %10.4f %14.3g %9.2f   %s\n", name.c_str(), seconds, operations / seconds,
              reference / seconds, right ? "same" : "WRONG");
}

int run(gpu::index_t n) {
  const gpu::bit_matrix a = random_signs(n, 1);
  const gpu::bit_matrix b = random_signs(n, 2);
  const double operations =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const timed_product expected =
      multiply(a, b, gpu::backend::cpu, gpu::binary_matmul_variant::automatic);
  std::printf("%-22s %10s %14s %9s   %s\n", "variant", "seconds", "bit-op/s", "speed-up", "result");
  print("cpu popcount", expected.seconds, operations, expected.seconds, true);
  if (!gpu::available_backends().back().usable) {
    std::printf("no CUDA device: %s\n", gpu::available_backends().back().reason.c_str());
    return EXIT_SUCCESS;
  }
  bool right = true;
  for (const auto variant :
       {gpu::binary_matmul_variant::popcount, gpu::binary_matmul_variant::popcount_shared,
        gpu::binary_matmul_variant::popcount_tiled, gpu::binary_matmul_variant::tensor,
        gpu::binary_matmul_variant::hopper}) {
    try {
      const timed_product found = multiply(a, b, gpu::backend::cuda, variant);
      const bool equal = same(found.product, expected.product);
      right = right && equal;
      print("cuda " + std::string(gpu::to_string(variant)), found.seconds, operations,
            expected.seconds, equal);
    } catch (const gpu::unsupported&) {  // not a variant of this device
    }
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 2048;
  if (n < 1 || argc > 2) {
    std::fprintf(stderr, "usage: binary_matmul_variants [n]\n");
    return 2;
  }
  try {
    return run(n);
  } catch (const gpu::error& failure) {
    std::fprintf(stderr, "binary_matmul_variants: %s\n", failure.what());
    return EXIT_FAILURE;
  }
}
