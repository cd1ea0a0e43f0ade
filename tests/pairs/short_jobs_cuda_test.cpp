// Jobs that are too short for the faster ways of counts and edges: what they take instead gives
// the same, on either side of each step. The other tests of CUDA take the faster ways of jobs of
// any size.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/device_sinks.hpp>

#include "plan/forced/forced_ways.hpp"
#include "support/catch.hpp"
#include "support/correlated_rows.hpp"
#include "support/device_table.hpp"

namespace {

using gpu::index_t;

// Whether short jobs take the faster ways, until this ends.
class taking_fast_ways {
 public:
  explicit taking_fast_ways(bool value) { of_process() = value; }
  ~taking_fast_ways() { of_process() = before_; }
  taking_fast_ways(const taking_fast_ways&) = delete;
  taking_fast_ways& operator=(const taking_fast_ways&) = delete;

 private:
  static bool& of_process() { return gpu::detail::ways_in_force().cuda.never_short; }
  bool before_ = of_process();
};

template <class Call>
auto in_both_ways(const Call& call) {
  const auto run = [&](bool fast) {
    const taking_fast_ways now(fast);
    return call();
  };
  return std::pair(run(false), run(true));
}

struct short_job {
  gpu::measure what;
  gpu::matrix<float> data;
  gpu::pair_filter keep;
  gpu::pair_options options = {.exec = {.target = gpu::backend::cuda}};
};

std::size_t check_short_on_host(const short_job& of) {
  const auto [edges, other_edges] = in_both_ways([&] {
    return gpu::all_pairs(of.what, of.data, of.options, gpu::edge_sink{.keep = of.keep});
  });
  CHECK(edges.summary.checksum == other_edges.summary.checksum);
  CHECK(edges.edges.size() == other_edges.edges.size());
  for (const index_t bins : {0, 50}) {
    const auto [counts, others] = in_both_ways([&] {
      return gpu::all_pairs(of.what, of.data, of.options,
                            gpu::count_sink{.keep = of.keep, .histogram_bins = bins});
    });
    CHECK(counts.kept == edges.edges.size());
    CHECK(counts.degree == others.degree);
    CHECK(counts.histogram == others.histogram);
  }
  return edges.edges.size();
}

void check_short_on_device(const short_job& of) {
  const gpu_test::device_table<float> data(of.data);
  const auto [degrees, others] = in_both_ways([&] {
    const gpu_test::device_table<std::uint32_t> degree(1, of.data.rows());
    gpu::all_pairs(
        of.what, data.view(), of.options,
        gpu::device_count_sink{.degree = {degree.view().data(), of.data.rows()}, .keep = of.keep});
    return degree.read();
  });
  CHECK(std::equal(degrees.data(), degrees.data() + of.data.rows(), others.data()));
}

// The lists of the host and of the device beside the CPU's, of a table and of it against another,
// with room for all edges and for some.
void check_short_lists(const short_job& of) {
  const taking_fast_ways now(false);
  gpu::pair_options on_cpu = of.options;
  on_cpu.exec.target = gpu::backend::cpu;
  const gpu::edge_sink sink{.keep = of.keep};
  const gpu_test::device_table<float> x(of.data, 2);
  const index_t y_rows = (of.data.rows() + 1) / 2;
  const gpu::matrix_view<const float> y(of.data.data(), y_rows, of.data.cols());
  const gpu::device_matrix_view<const float> y_there(x.view().data(), y_rows, of.data.cols(),
                                                     x.view().row_stride());
  const auto check = [&](const auto& wanted, const auto& host, const auto& run) {
    CHECK(std::ranges::equal(host, wanted));
    for (const std::size_t room : {wanted.size() + 3, wanted.size() / 2 + 1}) {
      const gpu_test::device_array<gpu::edge> list(room);
      const gpu_test::device_array<std::uint64_t> found(1);
      run(gpu::device_edge_sink{.edges = {list.data(), static_cast<index_t>(room)},
                                .found = {found.data(), 1},
                                .keep = of.keep});
      GPU_TEST_CUDA(cudaDeviceSynchronize());
      std::vector<gpu::edge> got(room);
      std::uint64_t count = 0;
      list.copy_to(got.data());
      found.copy_to(&count);
      CHECK(count == wanted.size());
      const std::size_t there = std::min(room, wanted.size());
      CHECK(std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(there),
                       wanted.begin()));
    }
  };
  check(gpu::all_pairs(of.what, of.data, on_cpu, sink).edges,
        gpu::all_pairs(of.what, x.view(), of.options, sink).edges,
        [&](const auto& to) { gpu::all_pairs(of.what, x.view(), of.options, to); });
  check(gpu::all_pairs(of.what, of.data, y, on_cpu, sink).edges,
        gpu::all_pairs(of.what, x.view(), y_there, of.options, sink).edges,
        [&](const auto& to) { gpu::all_pairs(of.what, x.view(), y_there, of.options, to); });
}

}  // namespace

TEST_CASE("Short jobs on CUDA give the same in every way", "[short_jobs][cuda]") {
  std::mt19937_64 random(17);
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  std::size_t edges = 0;
  for (int round = 0; round < 48; ++round) {
    const auto what = one_of(gpu::measure::spearman, gpu::measure::pearson, gpu::measure::bicor);
    const index_t cols = one_of(3, 4, 8, 10, 30, 64, 65, 130);
    // Around a tile of each multiprocessor, and in the middle.
    const index_t rows = one_of(2, 40, 200, 1030, 1050, 3000, 7000);
    short_job of{.what = what,
                 .data = gpu_test::correlated_matrix<float>({.rows = rows,
                                                             .cols = cols,
                                                             .pairs_in_blocks = one_of(0.001, 0.05),
                                                             .levels = one_of(0, 0, 3),
                                                             .seed = random()}),
                 .keep = {.max_p = one_of(1e-9, 1e-3, 0.05)}};
    if (round % 5 == 0) of.options.part = {.index = 1, .of = 3};
    INFO(rows << " x " << cols << ", measure " << static_cast<int>(what) << ", p "
              << of.keep.max_p);
    edges += check_short_on_host(of);
    if (round % 5 != 0) check_short_on_device(of);
    if (rows <= 3000) check_short_lists(of);
  }
  CHECK(edges > 10'000);
}
