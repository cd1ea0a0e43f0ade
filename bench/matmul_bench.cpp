// Matrix products on the CPU: plain loops beside OpenBLAS.
#include <benchmark/benchmark.h>

#include <string>

#include <gpu/matmul.hpp>

#include "common/data.hpp"

namespace {

template <class T>
void bench_cpu(benchmark::State& state, gpu::matmul_variant variant) {
  const gpu::index_t n = state.range(0);
  const auto a = gpu_bench::random_values<T>(n * n, 1);
  const auto b = gpu_bench::random_values<T>(n * n, 2);
  gpu::matrix<T> c(n, n);
  const gpu::matmul_options options{.variant = variant, .exec = {.target = gpu::backend::cpu}};
  for (auto _ : state) {
    gpu::matmul(gpu::matrix_view<const T>(a.data(), n, n),
                gpu::matrix_view<const T>(b.data(), n, n), c.view(), options);
    benchmark::DoNotOptimize(c.data());
  }
  state.SetItemsProcessed(state.iterations() * 2 * n * n * n);
}

template <class T>
void register_cpu(const std::string& type) {
  const auto add = [&](gpu::matmul_variant variant, gpu::index_t largest) {
    const std::string name = "matmul/" + type + "/cpu/" + std::string(gpu::to_string(variant));
    auto* bench = benchmark::RegisterBenchmark(name.c_str(), bench_cpu<T>, variant);
    bench->UseRealTime()->Unit(benchmark::kMillisecond);
    for (gpu::index_t n = 256; n <= largest; n *= 2) bench->Arg(n);
  };
  add(gpu::matmul_variant::naive, 1024);
  if (gpu::plan_matmul<T>(1, 1, 1, {.exec = {.target = gpu::backend::cpu}}).variant ==
      gpu::matmul_variant::blas) {
    add(gpu::matmul_variant::blas, 4096);
  }
}

[[maybe_unused]] const bool registered = [] {
  register_cpu<float>("float");
  register_cpu<double>("double");
  return true;
}();

}  // namespace
