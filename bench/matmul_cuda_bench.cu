// Every variant of matmul on the device beside cuBLAS: device-resident operands, caller's
// workspace, cold L2, and the error of a sample of C against double in the same run.
#include <benchmark/benchmark.h>
#ifdef GPU_SIMILARITY_BENCH_CUBLAS
#include <cublas_v2.h>
#endif

#include <algorithm>
#include <cmath>
#include <string>

#include <gpu/matmul.hpp>

#include "common/cuda_timing.hpp"
#include "common/data.hpp"

namespace {

using gpu::index_t;
using gpu::matmul_variant;
using gpu::transposition;

struct product {
  index_t m;
  index_t n;
  index_t k;
  transposition a = transposition::none;
  transposition b = transposition::none;
  [[nodiscard]] std::string name() const {
    const auto op = [](transposition x) { return x == transposition::none ? 'n' : 't'; };
    return std::to_string(m) + 'x' + std::to_string(n) + 'x' + std::to_string(k) + '/' + op(a) +
           op(b);
  }
};

/// Operands shared by all benchmarks: the largest product's, of which the others take the start.
template <class T>
struct operands {
  static constexpr index_t elements = 8192 * 8192;
  std::vector<T> a = gpu_bench::random_values<T>(elements, 1);
  std::vector<T> b = gpu_bench::random_values<T>(elements, 2);
  gpu_bench::device_array<T> device_a{a};
  gpu_bench::device_array<T> device_b{b};
  gpu_bench::device_array<T> device_c{static_cast<std::size_t>(elements)};

  static operands& shared() {
    static operands instance;
    return instance;
  }
};

/// Root mean square and maximum over 256 elements of |error| / (|a_i| |b_j|), in units of 2^-24
/// (float) or 2^-53 (double).
template <class T>
void report_error(benchmark::State& state, const product& p) {
  const operands<T>& x = operands<T>::shared();
  const auto at = [](const std::vector<T>& v, index_t row, index_t col, index_t rows, index_t cols,
                     transposition how) {
    return static_cast<long double>(v[static_cast<std::size_t>(
        how == transposition::none ? row * cols + col : col * rows + row)]);
  };
  constexpr int sample = 256;
  const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  double squares = 0;
  double most = 0;
#pragma omp parallel for reduction(+ : squares) reduction(max : most)
  for (int s = 0; s < sample; ++s) {
    const index_t i = static_cast<index_t>(gpu_bench::hash(s) % static_cast<std::uint64_t>(p.m));
    const index_t j = static_cast<index_t>(gpu_bench::hash(~s) % static_cast<std::uint64_t>(p.n));
    long double sum = 0;
    long double a_norm = 0;
    long double b_norm = 0;
    for (index_t l = 0; l < p.k; ++l) {
      const long double u = at(x.a, i, l, p.m, p.k, p.a);
      const long double v = at(x.b, l, j, p.k, p.n, p.b);
      sum += u * v;
      a_norm += u * u;
      b_norm += v * v;
    }
    T c = 0;
    static_cast<void>(
        cudaMemcpy(&c, x.device_c.data() + i * p.n + j, sizeof(T), cudaMemcpyDeviceToHost));
    const auto error =
        static_cast<double>(std::fabs(sum - static_cast<long double>(c)) /
                            std::max(std::sqrt(a_norm) * std::sqrt(b_norm), 1e-300L)) /
        unit;
    squares += error * error;
    most = std::max(most, error);
  }
  state.counters["error_rms_u"] = std::sqrt(squares / sample);
  state.counters["error_max_u"] = most;
}

template <class T>
void report(benchmark::State& state, const product& p) {
  gpu_bench::report_items(state, 2 * p.m * p.n * p.k);
  report_error<T>(state, p);
}

template <class T>
gpu::device_matrix_view<const T> stored(const gpu_bench::device_array<T>& x, index_t rows,
                                        index_t cols, transposition how) {
  const bool flipped = how == transposition::transpose;
  return {x.data(), flipped ? cols : rows, flipped ? rows : cols};
}

template <class T>
void bench_variant(benchmark::State& state, matmul_variant variant, product p) {
  operands<T>& x = operands<T>::shared();
  gpu::matmul_options options{.a = p.a, .b = p.b, .variant = variant};
  const gpu::matmul_plan plan = gpu::plan_matmul<T>(p.m, p.n, p.k, options);
  const gpu_bench::device_array<std::byte> workspace(plan.workspace_bytes);
  if (plan.workspace_bytes > 0) {
    options.workspace = {workspace.data(), static_cast<index_t>(workspace.size())};
  }
  state.SetLabel(std::string(gpu::to_string(plan.variant)) + " " + std::to_string(plan.tile_rows) +
                 "x" + std::to_string(plan.tile_cols) + " splits " +
                 std::to_string(plan.depth_splits));
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    options.exec.stream = stream;
    gpu::matmul(stored(x.device_a, p.m, p.k, p.a), stored(x.device_b, p.k, p.n, p.b),
                gpu::device_matrix_view<T>(x.device_c.data(), p.m, p.n), options);
  });
  report<T>(state, p);
}

#ifdef GPU_SIMILARITY_BENCH_CUBLAS
template <class T>
void bench_cublas(benchmark::State& state, product p) {
  operands<T>& x = operands<T>::shared();
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  const T one = 1;
  const T zero = 0;
  const auto op = [](transposition how) {
    return how == transposition::none ? CUBLAS_OP_N : CUBLAS_OP_T;
  };
  const index_t lda = p.a == transposition::none ? p.k : p.m;
  const index_t ldb = p.b == transposition::none ? p.n : p.k;
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    cublasSetStream(handle, stream);
    if constexpr (sizeof(T) == 4) {
      cublasSgemm_64(handle, op(p.b), op(p.a), p.n, p.m, p.k, &one, x.device_b.data(), ldb,
                     x.device_a.data(), lda, &zero, x.device_c.data(), p.n);
    } else {
      cublasDgemm_64(handle, op(p.b), op(p.a), p.n, p.m, p.k, &one, x.device_b.data(), ldb,
                     x.device_a.data(), lda, &zero, x.device_c.data(), p.n);
    }
  });
  report<T>(state, p);
  cublasDestroy(handle);
}
#endif

template <class T>
void register_product(const std::string& type, const product& p, bool every_variant) {
  const auto time = [](auto* bench) {
    bench->UseManualTime()->Unit(benchmark::kMicrosecond)->MinTime(0.05);
  };
  const std::string base = "matmul/" + type + "/cuda/" + p.name() + "/";
#ifdef GPU_SIMILARITY_BENCH_CUBLAS
  time(benchmark::RegisterBenchmark((base + "peer_cublas").c_str(), bench_cublas<T>, p));
#endif
  const auto add = [&](matmul_variant variant) {
    const std::string name = base + std::string(gpu::to_string(variant));
    time(benchmark::RegisterBenchmark(name.c_str(), bench_variant<T>, variant, p));
  };
  if (every_variant) {
    for (const auto v :
         {matmul_variant::naive, matmul_variant::pitched, matmul_variant::shared_tiled}) {
      add(v);
    }
  }
  add(matmul_variant::register_tiled);
  add(matmul_variant::tensor);
  add(matmul_variant::automatic);
}

template <class T>
void register_products(const std::string& type) {
  constexpr auto none = transposition::none;
  constexpr auto flipped = transposition::transpose;
  for (const index_t n : {256, 512, 1000, 1024, 2048, 4096, 8192}) {
    register_product<T>(type, {n, n, n}, n == 1024 || n == 4096);
  }
  for (const product& p : {product{1021, 1023, 1019},
                           {4097, 4095, 4099},
                           {4096, 4096, 4096, flipped, none},
                           {4096, 4096, 4096, none, flipped},
                           {4096, 4096, 4096, flipped, flipped},
                           {65536, 128, 128},
                           {65536, 32, 1024},
                           {65536, 16, 512},
                           {65536, 256, 1024},
                           {32, 65536, 128},
                           {128, 128, 65536}}) {
    register_product<T>(type, p, false);
  }
}

[[maybe_unused]] const bool registered = [] {
  if (gpu_bench::has_device()) {
    register_products<float>("float");
    register_products<double>("double");
  }
  return true;
}();

}  // namespace
