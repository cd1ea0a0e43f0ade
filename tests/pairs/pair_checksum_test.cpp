// The checksum of pairs: values of an independent computation, its sums, and that every sink that
// gives pairs one by one fills it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "support/catch.hpp"
#include "support/generators.hpp"

namespace {

gpu::pair_checksum sum_of(std::span<const gpu::edge> edges) {
  gpu::pair_checksum sum;
  for (const gpu::edge& e : edges) sum += gpu::checksum_of(e.row, e.col, e.statistic);
  return sum;
}

}  // namespace

TEST_CASE("Checksums are those of a plain computation in Python", "[checksum]") {
  struct known {
    gpu::node_id row;
    gpu::node_id col;
    double statistic;
    std::uint64_t mix1;
    std::uint64_t mix2;
  };
  const std::array<known, 5> literals{
      {{0, 0, 0.0, 0x9474f0eb06d79fd8, 0x8a22d30f9a9f8d85},
       {0, 1, 1.0, 0xac4198503a602092, 0x833735b11f60fad4},
       {3, 5, -0.25, 0xfc40ab6a30993612, 0xafe47751e070dcf1},
       {4294967294, 7, 0.1, 0x2a1014aa2c45e01c, 0x5741325ddc5b3dba},
       {12, 4294967295, -1.0, 0x753b29f2c194e462, 0x9dd2ca3f234ed0c9}}};
  for (const known& k : literals) {
    const gpu::pair_checksum got = gpu::checksum_of(k.row, k.col, k.statistic);
    CHECK(got == gpu::pair_checksum{.count = 1, .mix1 = k.mix1, .mix2 = k.mix2});
  }
  gpu::pair_checksum sum;
  for (gpu::node_id i = 0; i < 100; ++i) {
    sum += gpu::checksum_of(i, (i * i + 1) % 101, (static_cast<double>(i) - 50) / 64);
  }
  CHECK(sum ==
        gpu::pair_checksum{.count = 100, .mix1 = 0xdd96c3c6608a1fe5, .mix2 = 0x5db9a68edf128fa3});
}

TEST_CASE("A checksum sees what is lost, doubled, swapped or changed", "[checksum]") {
  using gpu::checksum_of;
  const gpu::pair_checksum two = checksum_of(0, 3, 0.5) + checksum_of(1, 2, 0.25);
  CHECK(two == checksum_of(1, 2, 0.25) + checksum_of(0, 3, 0.5));
  CHECK(two != checksum_of(0, 2, 0.5) + checksum_of(1, 3, 0.25));
  CHECK(two != checksum_of(0, 3, 0.25) + checksum_of(1, 2, 0.5));
  CHECK(two != checksum_of(3, 0, 0.5) + checksum_of(1, 2, 0.25));
  CHECK(two != checksum_of(0, 3, 0.5) + checksum_of(0, 3, 0.5));
  CHECK(two != checksum_of(0, 3, 0.5));
  CHECK(checksum_of(1, 2, 0.25) != checksum_of(1, 2, std::nextafter(0.25, 1)));
  CHECK(checksum_of(1, 2, -0.0) == checksum_of(1, 2, 0.0));
}

TEST_CASE("Every sink that gives pairs tells their checksum", "[checksum]") {
  const auto x = gpu_test::tied_matrix<std::int32_t>(700, 30, 1, 0.3);
  const auto y = gpu_test::tied_matrix<float>(300, 30, 2, 0.3);
  gpu::pair_options options;
  options.exec.target = gpu::backend::cpu;
  const gpu::pair_filter keep{.max_p = 0.3};
  const auto check = [&](const auto& call) {
    const gpu::edge_list list = call(options, gpu::edge_sink{.keep = keep});
    REQUIRE(list.edges.size() > 40000);
    CHECK(list.summary.checksum == sum_of(list.edges));
    std::uint64_t streamed = 0;
    const auto consume = [&](std::span<const gpu::edge> batch) { streamed += batch.size(); };
    for (const gpu::index_t batch : {999, 200000}) {
      const gpu::pair_summary stream =
          call(options, gpu::stream_sink{.keep = keep,
                                         .consume = consume,
                                         .order = gpu::edge_order::unspecified,
                                         .batch_edges = batch});
      CHECK(stream.checksum == list.summary.checksum);
    }
    CHECK(streamed == 2 * list.edges.size());
    const gpu::neighbor_table table = call(options, gpu::top_k_sink{.k = 7, .keep = keep});
    gpu::pair_checksum entries;
    for (gpu::index_t i = 0; i < table.index.rows(); ++i) {
      for (gpu::index_t e = 0; e < table.count[static_cast<std::size_t>(i)]; ++e) {
        entries += gpu::checksum_of(static_cast<gpu::node_id>(i), table.index(i, e),
                                    table.statistic(i, e));
      }
    }
    CHECK(table.summary.checksum == entries);
    CHECK(table.summary.pairs_kept == entries.count);
    CHECK(call(options, gpu::count_sink{.keep = keep}).summary.checksum == gpu::pair_checksum{});
  };
  check([&](const gpu::pair_options& how, const auto& sink) {
    return gpu::spearman_all_pairs(x, how, sink);
  });
  check([&](const gpu::pair_options& how, const auto& sink) {
    return gpu::pearson_all_pairs(x, y, how, sink);
  });
}

TEST_CASE("Folding does not change the checksum of edges", "[checksum]") {
  const auto x = gpu_test::tied_matrix<std::int32_t>(600, 4, 3, 0.5, 3);
  gpu::pair_options options;
  options.p_method = gpu::p_method::t;  // rows are folded where p is that of t
  options.exec.target = gpu::backend::cpu;
  const gpu::pair_filter keep{.max_p = 0.4};
  const auto plain = gpu::spearman_all_pairs(x, options, gpu::edge_sink{.keep = keep});
  options.fold = gpu::row_folding::always;
  const auto folded = gpu::spearman_all_pairs(x, options, gpu::edge_sink{.keep = keep});
  REQUIRE(folded.summary.patterns > 0);
  CHECK(folded.summary.checksum == plain.summary.checksum);
}
