// Every entry point with its n-th CUDA call failing, n swept over all of them: the call ends in one
// of the library's errors, the same call after it is right again, and device memory is as before.
// The linker puts the functions of this file in place of the runtime's (--wrap), so that what is
// tested is the library as it is.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

constexpr std::int64_t never = -1;
std::atomic<std::int64_t> calls_left{never};  // until one fails
std::atomic<std::int64_t> calls_made{0};
std::atomic<bool> has_failed{false};

bool fails_now() {
  calls_made.fetch_add(1);
  if (calls_left.load() == never || calls_left.fetch_sub(1) != 1) return false;
  calls_left = never;
  has_failed = true;
  return true;
}

}  // namespace

// A function of the runtime, failing where its turn has come.
#define GPU_TEST_WRAP(name, error, parameters, arguments)   \
  cudaError_t __real_##name parameters;                     \
  cudaError_t __wrap_##name parameters;                     \
  cudaError_t __wrap_##name parameters {                    \
    return fails_now() ? (error) : __real_##name arguments; \
  }

extern "C" {
GPU_TEST_WRAP(cudaMallocAsync, cudaErrorMemoryAllocation,
              (void** memory, std::size_t bytes, cudaStream_t stream), (memory, bytes, stream))
GPU_TEST_WRAP(cudaMallocHost, cudaErrorMemoryAllocation, (void** memory, std::size_t bytes),
              (memory, bytes))
GPU_TEST_WRAP(cudaMemcpyAsync, cudaErrorInvalidValue,
              (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
               cudaStream_t stream),
              (to, from, bytes, kind, stream))
GPU_TEST_WRAP(cudaMemsetAsync, cudaErrorInvalidValue,
              (void* to, int value, std::size_t bytes, cudaStream_t stream),
              (to, value, bytes, stream))
GPU_TEST_WRAP(cudaStreamSynchronize, cudaErrorUnknown, (cudaStream_t stream), (stream))
GPU_TEST_WRAP(cudaStreamWaitEvent, cudaErrorInvalidResourceHandle,
              (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
GPU_TEST_WRAP(cudaStreamCreateWithPriority, cudaErrorMemoryAllocation,
              (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority))
GPU_TEST_WRAP(cudaEventCreateWithFlags, cudaErrorMemoryAllocation,
              (cudaEvent_t * event, unsigned flags), (event, flags))
GPU_TEST_WRAP(cudaEventRecord, cudaErrorInvalidResourceHandle,
              (cudaEvent_t event, cudaStream_t stream), (event, stream))
GPU_TEST_WRAP(cudaEventSynchronize, cudaErrorUnknown, (cudaEvent_t event), (event))
GPU_TEST_WRAP(cudaFuncSetAttribute, cudaErrorInvalidValue,
              (const void* function, cudaFuncAttribute attribute, int value),
              (function, attribute, value))
GPU_TEST_WRAP(cudaGetLastError, cudaErrorLaunchOutOfResources, (), ())
}

namespace {

using gpu::pair_variant;

const gpu::execution on_cuda{.target = gpu::backend::cuda};

struct entry_point {
  std::string name;
  std::function<std::vector<double>()> run;  // what it answers, as numbers
};

template <class Range>
std::vector<double> numbers(const Range& range) {
  return {range.begin(), range.end()};
}
template <class T>
std::vector<double> numbers(const gpu::matrix<T>& matrix) {
  return {matrix.data(), matrix.data() + matrix.rows() * matrix.cols()};
}
std::vector<double> numbers(const gpu::edge_list& list) {
  std::vector<double> out;
  for (const gpu::edge& e : list.edges) {
    out.insert(out.end(), {double(e.row), double(e.col), e.statistic, e.p});
  }
  return out;
}

// Small calls of every operation, and of every way that edges and counts go.
std::vector<entry_point> entry_points() {
  static const auto counts = gpu_test::tied_matrix<std::int32_t>(700, 30, 3);
  static const auto reals = gpu_test::random_matrix<float>(300, 64, 4);
  const auto with = [](pair_variant variant) {
    return gpu::pair_options{.variant = variant, .exec = on_cuda};
  };
  std::vector<entry_point> out;
  for (const pair_variant variant :
       {pair_variant::shared_tiled, pair_variant::tensor, pair_variant::hopper}) {
    if (!gpu_test::applies(variant)) continue;
    const gpu::pair_options options = with(variant);
    const std::string name(gpu::to_string(variant));
    for (const double max_p : {0.5, 1e-4}) {
      out.push_back({name + " edges", [=] {
                       return numbers(gpu::spearman_all_pairs(
                           counts, options, gpu::edge_sink{.keep = {.max_p = max_p}}));
                     }});
      out.push_back({name + " counts", [=] {
                       const auto all = gpu::spearman_all_pairs(
                           counts, options,
                           gpu::count_sink{.keep = {.max_p = max_p}, .histogram_bins = 20});
                       return numbers(all.degree);
                     }});
    }
    out.push_back({name + " partners", [=] {
                     return numbers(
                         gpu::spearman_all_pairs(counts, options, gpu::top_k_sink{.k = 3}).index);
                   }});
    out.push_back({name + " Pearson edges", [=] {
                     return numbers(gpu::pearson_all_pairs(
                         reals, options, gpu::edge_sink{.keep = {.max_p = 1e-3}}));
                   }});
  }
  out.push_back({"dense", [] {
                   return numbers(static_cast<const gpu::matrix<double>&>(
                       gpu::pearson_all_pairs(reals, gpu::pair_options{.exec = on_cuda})));
                 }});
  out.push_back({"rank", [] { return numbers(gpu::rank_rows(reals, {.exec = on_cuda})); }});
  out.push_back({"mean_filter",
                 [] { return numbers(gpu::mean_filter(reals, {.window = 9, .exec = on_cuda})); }});
  out.push_back({"top_k", [] { return numbers(gpu::top_k(reals, 5, {.exec = on_cuda}).values); }});
  out.push_back({"matmul", [] {
                   static const auto right = gpu_test::random_matrix<float>(64, 90, 5);
                   return numbers(gpu::matmul(reals, right, {.exec = on_cuda}));
                 }});
  return out;
}

// Device memory that this process has taken from the pool and not given back, whatever others do.
std::uint64_t used_memory() {
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  std::uint64_t used = 0;
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
  return used;
}

// The n-th CUDA call of `entry` fails; whether there was one.
bool fail_at(const entry_point& entry, std::int64_t n, const std::vector<double>& right) {
  has_failed = false;
  calls_left = n;
  try {
    const std::vector<double> got = entry.run();
    calls_left = never;
    // A call whose failure is survived (a cache that could not be filled) must still be right.
    CHECK(got == right);
  } catch (const gpu::error&) {
    calls_left = never;
    CHECK(has_failed);
  }
  return has_failed;
}

}  // namespace

TEST_CASE("Each failing CUDA call is an error, and the call after it is right", "[faults][cuda]") {
  for (const entry_point& entry : entry_points()) {
    INFO(entry.name);
    const std::vector<double> right = entry.run();
    CHECK(entry.run() == right);
    calls_made = 0;
    CHECK(entry.run() == right);
    const std::int64_t calls = calls_made;
    CHECK(calls > 0);
    const std::uint64_t before = used_memory();
    // All of the first calls, then a spread of the rest: long runs repeat the same few.
    for (std::int64_t n = 1; n <= calls; n += n < 60 ? 1 : 7) {
      INFO("call " << n << " of " << calls);
      fail_at(entry, n, right);
      CHECK(entry.run() == right);
    }
    CHECK(used_memory() == before);
  }
}
