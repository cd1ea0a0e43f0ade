// Connectivity on CUDA: held to the definition and to the CPU, and the same bytes whatever memory
// there is. Devices that share the rows are in device_group_cuda_test.
#include "connectivity/connectivity_cases.hpp"
#include "support/measure_cuda_cases.hpp"

namespace {

using namespace gpu_test;

}  // namespace

TEST_CASE("Connectivity on CUDA is the sum of powers", "[connectivity][cuda]") {
  for (const gpu::measure what : gpu::all_measures()) {
    sums_are_those_of_the_definition(what, cuda_best);
  }
  sums_are_those_of_the_textbook(cuda_best);
  sums_are_those_of_the_definition(gpu::measure::pearson, cuda_shared);
  sums_are_those_of_the_definition(gpu::measure::spearman, cuda_naive);
}

TEST_CASE("Powers, parts and missing values on CUDA", "[connectivity][cuda]") {
  many_powers_are_each_of_their_own(cuda_best);
  parts_join_to_the_whole(cuda_best);
  missing_values_add_nothing(cuda_best, {gpu::measure::pearson, gpu::measure::spearman});
}

TEST_CASE("Connectivity on CUDA is that of the CPU", "[connectivity][cuda]") {
  // More columns than a block of the device adds up.
  for (const gpu::index_t rows : {300, 9000}) {
    const auto data = network_rows(rows, 35, 2);
    const gpu::connectivity_sink sink{.powers = {1, 6, 20, 2.5},
                                      .network = gpu::network_kind::signed_network};
    const auto wanted = gpu::pearson_all_pairs(data, network_options(cpu_tiled), sink);
    const auto got = gpu::pearson_all_pairs(data, network_options(cuda_best), sink);
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < rows; ++i) {
      for (gpu::index_t p = 0; p < 4; ++p) {
        const double a = wanted.connectivity(i, p);
        const double b = got.connectivity(i, p);
        const double units = static_cast<double>(rows) / 4 + 100;
        wrong += !(std::fabs(a - b) <= units * 0x1p-53 * a) && !(std::isnan(a) && std::isnan(b));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Connectivity on CUDA is the same whatever shares the work", "[connectivity][cuda]") {
  const auto data = network_rows(9000, 40, 4);
  const gpu::connectivity_sink sink{.powers = mixed_powers()};
  const auto wanted = gpu::pearson_all_pairs(data, network_options(cuda_best), sink);
  SECTION("again") {
    const auto again = gpu::pearson_all_pairs(data, network_options(cuda_best), sink);
    CHECK(same_bytes_of(again.connectivity, wanted.connectivity));
  }
  SECTION("little memory") {
    gpu::pair_options options = network_options(cuda_best);
    options.exec.workspace_bytes = std::size_t{8} << 20;
    const auto got = gpu::pearson_all_pairs(data, options, sink);
    CHECK(same_bytes_of(got.connectivity, wanted.connectivity));
  }
  SECTION("a table in device memory") {
    const device_table<float> there(data, 3);
    const gpu::device_matrix_view<const float> view = there.view();
    const auto got = gpu::pearson_all_pairs(view, network_options(cuda_best), sink);
    CHECK(same_bytes_of(got.connectivity, wanted.connectivity));
  }
}

TEST_CASE("What connectivity on CUDA cannot do is refused", "[connectivity][cuda]") {
  const auto data = random_matrix<float>(30, 12, 1);
  const auto too_long = random_matrix<float>(3, 2049, 1);
  CHECK_THROWS_AS(gpu::kendall_all_pairs(too_long, cuda_best.options(), gpu::connectivity_sink{}),
                  gpu::unsupported);
  gpu::pair_options tiny = cuda_best.options();
  tiny.exec.workspace_bytes = 64;
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data, tiny, gpu::connectivity_sink{}), gpu::out_of_memory);
}

TEST_CASE("Topological overlap with the product on CUDA", "[connectivity][cuda]") {
  const auto data = random_matrix<float>(200, 12, 6);
  const auto r = gpu::pearson_all_pairs(data, cpu_tiled.options());
  gpu::overlap_options on_cpu;
  on_cpu.exec.target = gpu::backend::cpu;
  gpu::overlap_options on_cuda;
  on_cuda.exec.target = gpu::backend::cuda;
  const auto wanted = gpu::topological_overlap(r.view(), on_cpu);
  const auto got = gpu::topological_overlap(r.view(), on_cuda);
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < 200; ++i) {
    for (gpu::index_t j = 0; j < 200; ++j) {
      wrong += !(std::fabs(got(i, j) - wanted(i, j)) <= 1e-13);
    }
  }
  CHECK(wrong == 0);
}
