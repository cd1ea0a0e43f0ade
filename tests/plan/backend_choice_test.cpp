// Which backend is expected to end a job first: by shapes that were timed on both.
#include "plan/short_jobs.hpp"

#include "support/catch.hpp"

namespace {

using gpu::index_t;
using gpu::detail::backend_seconds;
namespace costs = gpu::detail::default_costs;

backend_seconds seconds_of(const gpu::detail::measure_traits& what, index_t rows, index_t cols,
                           int threads, const gpu::detail::cpu_costs& cpu) {
  const auto all = static_cast<double>(rows);
  return gpu::detail::seconds_of(what, {.rows = rows, .cols = cols, .pairs = all * (all - 1) / 2},
                                 threads, cpu);
}

bool cpu_is_first(const backend_seconds& of) {
  return of.cpu <= of.cuda;
}
bool cpu_is_first_in_a_fresh_process(const backend_seconds& of) {
  return of.cpu <= of.cuda + of.cuda_start;
}

}  // namespace

TEST_CASE("Small jobs end first on the CPU, large ones on CUDA", "[backend]") {
  for (const auto* what : {&gpu::detail::spearman_traits, &gpu::detail::pearson_traits,
                           &gpu::detail::kendall_traits}) {
    for (const auto* cpu : {&costs::baseline, &costs::avx2, &costs::avx512_vnni, &costs::amx}) {
      for (const int threads : {1, 2, 16}) {
        INFO(what->info.name << ", threads " << threads);
        CHECK(cpu_is_first(seconds_of(*what, 2, 3, threads, *cpu)));
        CHECK(cpu_is_first(seconds_of(*what, 40, 20, threads, *cpu)));
        CHECK_FALSE(cpu_is_first(seconds_of(*what, 40'000, 100, threads, *cpu)));
        CHECK_FALSE(
            cpu_is_first_in_a_fresh_process(seconds_of(*what, 2'000'000, 30, threads, *cpu)));
      }
    }
  }
}

TEST_CASE("A device is started for jobs that its start does not outlast", "[backend]") {
  // Timed as fresh processes on an H200 with 16 cores: 0.44 s on CUDA and 0.23 on the CPU, and
  // 0.50 and 0.24. Calls of a process that had used the device took a few milliseconds there.
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{2000, 784}, {12'625, 128}}) {
    const auto of = seconds_of(gpu::detail::spearman_traits, rows, cols, 16, costs::avx512_vnni);
    CHECK(cpu_is_first_in_a_fresh_process(of));
    CHECK_FALSE(cpu_is_first(of));
  }
  // 64 x 64: 67 us on the CPU, 490 on CUDA.
  CHECK(cpu_is_first(seconds_of(gpu::detail::spearman_traits, 64, 64, 1, costs::avx2)));
}

TEST_CASE("Expected times grow with the job and fall with the threads", "[backend]") {
  const auto small = seconds_of(gpu::detail::pearson_traits, 1000, 200, 4, costs::avx2);
  const auto more_rows = seconds_of(gpu::detail::pearson_traits, 2000, 200, 4, costs::avx2);
  const auto longer_rows = seconds_of(gpu::detail::pearson_traits, 1000, 400, 4, costs::avx2);
  const auto more_threads = seconds_of(gpu::detail::pearson_traits, 1000, 200, 8, costs::avx2);
  for (const auto& more : {more_rows, longer_rows}) {
    CHECK(more.cpu > small.cpu);
    CHECK(more.cuda > small.cuda);
  }
  CHECK(more_threads.cpu < small.cpu);
  CHECK(more_threads.cuda == small.cuda);
}
