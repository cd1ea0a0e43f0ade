// Tanimoto similarities of every CUDA variant against sets; against the CPU: soak_cuda.
#include <gpu/error.hpp>

#include "support/device_memory.hpp"
#include "support/device_offers.hpp"
#include "tanimoto/tanimoto_cases.hpp"

namespace {

using gpu::pair_variant;
using gpu_test::bit_table;
using gpu_test::tanimoto_oracle;

const gpu::execution on_cuda{.target = gpu::backend::cuda};
const gpu::execution on_cpu{.target = gpu::backend::cpu};

std::vector<gpu::pair_options> offered() {
  std::vector<gpu::pair_options> out;
  for (const auto variant :
       {pair_variant::shared_tiled, pair_variant::tensor, pair_variant::hopper}) {
    if (gpu_test::applies(variant)) out.push_back({.variant = variant, .exec = on_cuda});
  }
  out.push_back({.exec = on_cuda});
  return out;
}

}  // namespace

TEST_CASE("Every variant of Tanimoto equals sets", "[tanimoto][cuda]") {
  for (const gpu::pair_options& options : offered()) {
    INFO(gpu::to_string(options.variant));
    gpu_test::check_tanimoto_shapes(options);
    gpu_test::check_tanimoto_parts(options);
  }
}

TEST_CASE("Partners that come in the worst order overflow their lists", "[tanimoto][cuda]") {
  // Row 0 is like the later columns more and more: every panel beats what was before.
  constexpr gpu::index_t rows = 6000;
  std::vector<gpu_test::column_set> sets;
  gpu_test::column_set grown;
  for (gpu::index_t i = 0; i < rows; ++i) {
    grown.push_back(i);
    sets.push_back(grown);
  }
  gpu_test::column_set all(rows);
  std::iota(all.begin(), all.end(), 0);
  std::vector<gpu_test::column_set> queries(3, all);
  const bit_table y(rows, std::move(sets));
  const bit_table x(rows, std::move(queries));
  for (const gpu::pair_options& options : offered()) {
    INFO(gpu::to_string(options.variant));
    const auto table =
        gpu::tanimoto_all_pairs(x.view(), y.view(), options, gpu::top_k_sink{.k = 5});
    for (gpu::index_t i = 0; i < 3; ++i) {
      for (gpu::index_t n = 0; n < 5; ++n) {
        CHECK(table.index(i, n) == static_cast<gpu::node_id>(rows - 1 - n));
        CHECK(table.statistic(i, n) == static_cast<double>(rows - n) / rows);
      }
    }
  }
}

TEST_CASE("More partners than lists hold, and ties everywhere", "[tanimoto][cuda]") {
  const bit_table x(2500, 6, 0.5, 31);
  for (const gpu::pair_options& options : offered()) {
    INFO(gpu::to_string(options.variant));
    for (const gpu::index_t k : {1, 1000, 1024, 1025, 2600}) {
      const gpu::top_k_sink best{.k = k};
      const auto table = gpu::tanimoto_all_pairs(x.view(), options, best);
      const auto expected = gpu::tanimoto_all_pairs(x.view(), {.exec = on_cpu}, best);
      CHECK(table.summary.checksum == expected.summary.checksum);
      CHECK(table.count == expected.count);
    }
  }
}

TEST_CASE("A limit on device memory cuts a Tanimoto job", "[tanimoto][cuda]") {
  const bit_table x(3000, 200, 0.2, 51);
  for (gpu::pair_options options : offered()) {
    options.exec.workspace_bytes = std::size_t{40} << 20;
    const gpu::edge_sink all{};
    CHECK(gpu::tanimoto_all_pairs(x.view(), options, all).summary.checksum ==
          gpu::tanimoto_all_pairs(x.view(), {.exec = on_cpu}, all).summary.checksum);
    options.exec.workspace_bytes = 1000;
    CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), options, gpu::edge_sink{}),
                    gpu::out_of_memory);
  }
}

TEST_CASE("Deep rows leave the warpgroups", "[tanimoto][cuda]") {
  const bit_table x(40, 70000, 0.3, 61);
  gpu_test::check_tanimoto(tanimoto_oracle(x, x), {.exec = on_cuda});
  if (gpu_test::applies(pair_variant::hopper)) {
    CHECK_THROWS_AS(
        gpu::tanimoto_all_pairs(x.view(), {.variant = pair_variant::hopper, .exec = on_cuda}),
        gpu::unsupported);
  }
}

TEST_CASE("CUDA refuses variants that Tanimoto lacks", "[tanimoto][cuda]") {
  const bit_table x(40, 70, 0.3, 61);
  for (const auto variant : {pair_variant::naive, pair_variant::tiled}) {
    CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), {.variant = variant, .exec = on_cuda}),
                    gpu::unsupported);
  }
}

TEST_CASE("Rows of bits in device memory, and prepared ones", "[tanimoto][cuda]") {
  const bit_table x(300, 200, 0.2, 71, 2);
  const bit_table y(400, 200, 0.2, 72);
  const auto on_device = [](const bit_table& table) {
    return gpu_test::device_array<std::uint32_t>(table.words.data(), table.words.size());
  };
  const auto x_words = on_device(x);
  const auto y_words = on_device(y);
  const gpu::device_bit_matrix_view x_bits(x_words.data(), x.rows, x.cols, x.row_words);
  const gpu::device_bit_matrix_view y_bits(y_words.data(), y.rows, y.cols, y.row_words);
  gpu::pair_options by_cpu{.alpha = 0.3, .beta = 2, .exec = on_cpu};
  const gpu::top_k_sink best{.k = 7};
  const gpu::edge_sink edges{.keep = {.min_abs = 0.2}};
  for (gpu::pair_options options : offered()) {
    INFO(gpu::to_string(options.variant));
    CHECK(gpu::dice_all_pairs(x_bits, options, edges).summary.checksum ==
          gpu::dice_all_pairs(x.view(), {.exec = on_cpu}, edges).summary.checksum);
    options.alpha = by_cpu.alpha;
    options.beta = by_cpu.beta;
    const auto kept = gpu::prepare_rows(gpu::measure::tversky, y_bits, options);
    CHECK(kept.rows() == 400);
    CHECK(kept.where() == gpu::backend::cuda);
    const auto wanted = gpu::tversky_all_pairs(x.view(), y.view(), by_cpu, best);
    const auto wanted_edges = gpu::tversky_all_pairs(x.view(), y.view(), by_cpu, edges);
    for (int query = 0; query < 2; ++query) {
      CHECK(gpu::tversky_all_pairs(x_bits, kept, options, best).summary.checksum ==
            wanted.summary.checksum);
      CHECK(gpu::tversky_all_pairs(x.view(), kept, options, edges).summary.checksum ==
            wanted_edges.summary.checksum);
    }
    CHECK(gpu::tversky_all_pairs(x_bits, y_bits, options, best).summary.checksum ==
          wanted.summary.checksum);
    const gpu::connectivity_sink powers{.powers = {1, 6}};
    const auto sums = gpu::dice_all_pairs(x_bits, {.variant = options.variant}, powers);
    const auto same = gpu::dice_all_pairs(x.view(), {.exec = on_cpu}, powers);
    CHECK(sums.connectivity(17, 1) == same.connectivity(17, 1));
    const auto plan = gpu::plan_all_pairs(gpu::measure::dice, x.view(), {.exec = on_cuda}, edges);
    CHECK(plan.used == gpu::backend::cuda);
    CHECK(plan.kept_estimate > 0);
  }
  const gpu_test::device_array<double> out(90'000);
  const gpu::device_dense_sink into{.out = {out.data(), 300, 300}};
  CHECK_THROWS_AS(gpu::dice_all_pairs(x_bits, into), gpu::unsupported);
}
