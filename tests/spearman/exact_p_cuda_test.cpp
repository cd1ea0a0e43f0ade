// p by permutations on CUDA: every sink gives the bits of the CPU, whose results
// exact_edges_test.cpp compares with an oracle.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/discovery.hpp>
#include <gpu/error.hpp>
#include <gpu/prepared_rows.hpp>

#include "support/catch.hpp"
#include "support/device_table.hpp"
#include "support/generators.hpp"
#include "support/measure_cuda_cases.hpp"
#include "support/pair_target.hpp"
#include "support/same_or_nan.hpp"
#include "support/skip.hpp"

namespace {

using gpu_test::cpu_tiled;
using gpu_test::cuda_best;
using gpu_test::pair_target;

constexpr std::array sides{gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less};

enum class rows_with { no_ties, one_tied, some_ties, one_untied, ties };
constexpr std::array all_rows{rows_with::no_ties, rows_with::one_tied, rows_with::some_ties,
                              rows_with::one_untied, rows_with::ties};

bool is_tied(rows_with what, gpu::index_t row) {
  switch (what) {
    case rows_with::no_ties:
      return false;
    case rows_with::one_tied:
      return row == 1;
    case rows_with::some_ties:
      return row % 3 == 1;
    case rows_with::one_untied:
      return row != 1;
    case rows_with::ties:
      return true;
  }
  return true;
}

// Rows that move together in threes, of which some are rounded; where some have ties, one row is
// constant.
gpu::matrix<float> make_rows(gpu::index_t rows, gpu::index_t cols, rows_with what,
                             std::uint64_t seed) {
  const auto noise = gpu_test::random_matrix<double>(rows, cols, seed);
  const auto common = gpu_test::random_matrix<double>(3, cols, seed + 1);
  gpu::matrix<float> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      double x = noise(i, k) + common(i % 3, k);
      if (is_tied(what, i)) x = std::round(2 * x);
      if (i == 5 && what == rows_with::some_ties) x = 3;
      out(i, k) = static_cast<float>(x);
    }
  }
  return out;
}

gpu::pair_options exact(const pair_target& target) {
  gpu::pair_options out = target.options();
  out.p_method = gpu::p_method::exact;
  return out;
}

void check_summaries(const gpu::pair_summary& got, const gpu::pair_summary& wanted) {
  CHECK(got.used == gpu::backend::cuda);
  CHECK(wanted.used == gpu::backend::cpu);
  CHECK(got.checksum == wanted.checksum);
  CHECK(got.pairs_tested == wanted.pairs_tested);
  CHECK(got.pairs_kept == wanted.pairs_kept);
  CHECK(got.pairs_by_t == wanted.pairs_by_t);
  CHECK(got.max_p_effective == wanted.max_p_effective);
  CHECK(got.cut_at_least == wanted.cut_at_least);
  CHECK(got.cut_at_most == wanted.cut_at_most);
  CHECK(got.constant_rows == wanted.constant_rows);
}

void check_partners(const gpu::neighbor_table& got, const gpu::neighbor_table& wanted) {
  const auto entries = static_cast<std::size_t>(wanted.index.rows() * wanted.index.cols());
  CHECK(got.count == wanted.count);
  CHECK(std::equal(got.index.data(), got.index.data() + entries, wanted.index.data()));
  CHECK(std::equal(got.statistic.data(), got.statistic.data() + entries, wanted.statistic.data(),
                   gpu_test::same_or_nan));
}

// Every sink of one call on CUDA and on the CPU; on_cuda(sink) and on_cpu(sink) make them.
template <class OnCuda, class OnCpu>
void check_sinks(const gpu::pair_filter& keep, gpu::index_t k, const OnCuda& on_cuda,
                 const OnCpu& on_cpu) {
  const gpu::edge_sink edges{.keep = keep};
  const auto wanted = on_cpu(edges);
  const auto got = on_cuda(edges);
  check_summaries(got.summary, wanted.summary);
  CHECK(got.edges == wanted.edges);

  const gpu::count_sink counts{.keep = keep, .histogram_bins = 37};
  const auto wanted_counts = on_cpu(counts);
  const auto got_counts = on_cuda(counts);
  CHECK(got_counts.kept == wanted_counts.kept);
  CHECK(got_counts.tested == wanted_counts.tested);
  CHECK(got_counts.degree == wanted_counts.degree);
  CHECK(got_counts.histogram == wanted_counts.histogram);

  for (const auto order : {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
    const gpu::top_k_sink partners{.k = k, .keep = keep, .order = order};
    check_partners(on_cuda(partners), on_cpu(partners));
  }
}

void check_table(const gpu::matrix<float>& data, const gpu::pair_filter& keep, gpu::index_t k,
                 const pair_target& target, gpu::pair_part part = {}) {
  INFO("[" << data.rows() << ", " << data.cols() << "], max_p " << keep.max_p << ", min_abs "
           << keep.min_abs << ", tail " << static_cast<int>(keep.side) << ", adjust "
           << static_cast<int>(keep.adjust) << ", part " << part.index << " of " << part.of);
  const auto on = [&](const pair_target& where) {
    return [&data, where, part](const auto& sink) {
      gpu::pair_options options = exact(where);
      options.part = part;
      return gpu::spearman_all_pairs(data, options, sink);
    };
  };
  check_sinks(keep, k, on(target), on(cpu_tiled));
}

}  // namespace

TEST_CASE("exact p on CUDA, ties and columns", "[spearman][exact]") {
  for (const rows_with what : all_rows) {
    for (const gpu::index_t cols : {4, 9, 10, 30, 64, 128, 129, 300, 1290, 1291}) {
      INFO("rows " << static_cast<int>(what));
      const auto data = make_rows(cols > 300 ? 60 : 210, cols, what, 11);
      for (const gpu::tail side : sides) {
        for (const double max_p : {1.0, 0.05, 1e-4}) {
          check_table(data, {.max_p = max_p, .side = side}, 5, cuda_best);
        }
      }
      check_table(data, {.max_p = 0.05, .min_abs = 0.4}, 5, cuda_best);
      check_table(data, {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni}, 5, cuda_best);
    }
  }
}

TEST_CASE("the default p of few columns on CUDA", "[spearman][exact]") {
  const auto on = [](const gpu::matrix<float>& data, const pair_target& target) {
    return [&data, target](const auto& sink) {
      gpu::pair_options options = target.options();
      options.p_method = gpu::p_method::automatic;
      return gpu::spearman_all_pairs(data, options, sink);
    };
  };
  for (const gpu::index_t cols : {3, 5, 6, 7, 8, 9, 10, 12, 40}) {
    for (const rows_with what : all_rows) {
      auto data = make_rows(240, cols, what, 12);
      // Rows of two values, of every share: their least p are far apart.
      for (gpu::index_t i = 0; i < data.rows(); i += what == rows_with::ties ? 2 : 7) {
        for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = k < i % cols ? 1.0F : 0.0F;
      }
      for (const gpu::tail side : sides) {
        for (const double max_p : {1.0, 0.6, 0.2, 0.05, 0.01, 1e-3, 1e-5, 1e-9}) {
          INFO(cols << " columns, rows " << static_cast<int>(what) << ", max_p " << max_p);
          check_sinks({.max_p = max_p, .side = side}, 5, on(data, cuda_best), on(data, cpu_tiled));
        }
        for (const auto adjust :
             {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
          INFO(cols << " columns, rows " << static_cast<int>(what) << ", adjusted");
          check_sinks({.max_p = 0.2, .side = side, .adjust = adjust}, 5, on(data, cuda_best),
                      on(data, cpu_tiled));
        }
      }
    }
  }
}

TEST_CASE("exact p on CUDA, variants", "[spearman][exact]") {
  for (const auto variant : {gpu::pair_variant::naive, gpu::pair_variant::shared_tiled,
                             gpu::pair_variant::tensor, gpu::pair_variant::hopper}) {
    const pair_target target{gpu::backend::cuda, variant};
    for (const gpu::index_t cols : {9, 100, 200}) {
      INFO("variant " << gpu::to_string(variant));
      const auto data = make_rows(150, cols, rows_with::some_ties, 23);
      try {
        (void)gpu::spearman_all_pairs(data, exact(target), gpu::edge_sink{.keep = {.max_p = 1e-9}});
      } catch (const gpu::unsupported&) {
        continue;  // not of this device
      }
      check_table(data, {.max_p = 0.02}, 9, target);
    }
  }
}

TEST_CASE("discoveries by exact p on CUDA", "[spearman][exact]") {
  for (const rows_with what : all_rows) {
    for (const gpu::index_t cols : {8, 14, 40, 150, 1300}) {
      const auto data = make_rows(cols > 1000 ? 60 : 160, cols, what, 31);
      for (const gpu::tail side : sides) {
        for (const double max_p : {0.05, 1.0}) {
          INFO("rows " << static_cast<int>(what));
          check_table(data,
                      {.max_p = max_p, .side = side, .adjust = gpu::adjustment::benjamini_hochberg},
                      4, cuda_best);
        }
      }
    }
  }
}

TEST_CASE("discoveries of parts by exact p on CUDA", "[spearman][exact]") {
  const auto data = make_rows(190, 13, rows_with::some_ties, 21);
  const auto find = [&](const pair_target& target) {
    gpu::discovery_sink sink{.keep = {.max_p = 0.05}};
    for (int pass = 0; !sink.search || !sink.search->is_decided(); ++pass) {
      REQUIRE(pass < 20);
      std::optional<gpu::discovery_counts> sum;
      for (gpu::index_t part = 0; part < 3; ++part) {
        gpu::pair_options options = exact(target);
        options.part = {.index = part, .of = 3};
        const auto counts = gpu::spearman_all_pairs(data, options, sink);
        if (sum) {
          *sum += counts;
        } else {
          sum = counts;
        }
      }
      sink.search = gpu::next_search(*sum);
    }
    return sink.search->max_p_effective();
  };
  CHECK(find(cuda_best) == find(cpu_tiled));
}

TEST_CASE("many rows by exact p on CUDA", "[spearman][exact]") {
  // Enough rows and cuts strict enough for screens.
  for (const rows_with what : {rows_with::no_ties, rows_with::some_ties, rows_with::ties}) {
    for (const gpu::index_t cols : {30, 100, 160, 600}) {
      INFO("rows " << static_cast<int>(what));
      const auto data = make_rows(cols > 200 ? 2000 : 5000, cols, what, 41);
      check_table(data, {.max_p = cols < 50 ? 1e-8 : 1e-12}, 6, cuda_best);
    }
  }
}

TEST_CASE("parts by exact p on CUDA", "[spearman][exact]") {
  for (const rows_with what : all_rows) {
    const auto data = make_rows(230, 17, what, 51);
    for (gpu::index_t part = 0; part < 4; ++part) {
      INFO("rows " << static_cast<int>(what));
      check_table(data, {.max_p = 0.01}, 3, cuda_best, {.index = part, .of = 4});
    }
  }
}

TEST_CASE("x against y by exact p on CUDA, in host and device memory", "[spearman][exact]") {
  for (const rows_with of_x : {rows_with::no_ties, rows_with::some_ties, rows_with::ties}) {
    for (const rows_with of_y : {rows_with::no_ties, rows_with::some_ties, rows_with::ties}) {
      for (const gpu::index_t cols : {9, 25, 140}) {
        INFO("rows " << static_cast<int>(of_x) << " and " << static_cast<int>(of_y) << ", " << cols
                     << " columns");
        const auto x = make_rows(90, cols, of_x, 61);
        const auto y = make_rows(170, cols, of_y, 71);
        const gpu_test::device_table<float> x_there(x, 3);
        const gpu_test::device_table<float> y_there(y, 1);
        const gpu::device_matrix_view<const float> device_x = x_there.view();
        const gpu::device_matrix_view<const float> device_y = y_there.view();
        const auto on_cpu = [&](const auto& sink) {
          return gpu::spearman_all_pairs(x.view(), y.view(), exact(cpu_tiled), sink);
        };
        for (const gpu::adjustment adjust :
             {gpu::adjustment::none, gpu::adjustment::benjamini_hochberg}) {
          const gpu::pair_filter keep{.max_p = 0.05, .adjust = adjust};
          check_sinks(
              keep, 5,
              [&](const auto& sink) {
                return gpu::spearman_all_pairs(x.view(), y.view(), exact(cuda_best), sink);
              },
              on_cpu);
          check_sinks(
              keep, 5,
              [&](const auto& sink) {
                return gpu::spearman_all_pairs(device_x, device_y, exact(cuda_best), sink);
              },
              on_cpu);
        }
      }
    }
  }
}

TEST_CASE("tables in device memory and prepared rows by exact p on CUDA", "[spearman][exact]") {
  for (const rows_with what : all_rows) {
    INFO("rows " << static_cast<int>(what));
    const auto data = make_rows(220, 21, what, 81);
    const gpu_test::device_table<float> there(data, 2);
    const gpu::device_matrix_view<const float> on_device = there.view();
    const gpu::pair_filter keep{.max_p = 0.03};
    check_sinks(
        keep, 4,
        [&](const auto& sink) {
          return gpu::spearman_all_pairs(on_device, exact(cuda_best), sink);
        },
        [&](const auto& sink) { return gpu::spearman_all_pairs(data, exact(cpu_tiled), sink); });

    const auto query = make_rows(40, 21, rows_with::some_ties, 91);
    for (const gpu::p_method method : {gpu::p_method::t, gpu::p_method::exact}) {
      gpu::pair_options options = cuda_best.options();
      options.p_method = method;
      const auto prepared = gpu::prepare_rows(gpu::measure::spearman, data.view(), options);
      for (const gpu::matrix<float>* const x : {&query, &data}) {
        check_sinks(
            keep, 4,
            [&](const auto& sink) {
              return gpu::all_pairs(gpu::measure::spearman, x->view(), prepared, exact(cuda_best),
                                    sink);
            },
            [&](const auto& sink) {
              return gpu::spearman_all_pairs(x->view(), data.view(), exact(cpu_tiled), sink);
            });
      }
    }
  }
}

TEST_CASE("rows with NaN and small workspaces by exact p on CUDA", "[spearman][exact]") {
  auto data = make_rows(300, 40, rows_with::some_ties, 101);
  data(7, 3) = std::numeric_limits<float>::quiet_NaN();
  data(8, 0) = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t workspace : {std::size_t{0}, std::size_t{8} << 20}) {
    INFO("workspace " << workspace);
    const auto on = [&](const pair_target& target) {
      return [&data, target, workspace](const auto& sink) {
        gpu::pair_options options = exact(target);
        options.nans = gpu::nan_policy::propagate;
        options.exec.workspace_bytes = workspace;
        return gpu::spearman_all_pairs(data, options, sink);
      };
    };
    for (const gpu::adjustment adjust :
         {gpu::adjustment::none, gpu::adjustment::benjamini_hochberg}) {
      check_sinks({.max_p = 0.05, .adjust = adjust}, 5, on(cuda_best), on(cpu_tiled));
    }
  }
}

TEST_CASE("exact p on two GPUs", "[spearman][exact]") {
  int devices = 0;
  GPU_TEST_CUDA(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    gpu_test::note_skip(gpu_test::missing::absence, "one GPU, two are needed");
    return;
  }
  for (const rows_with what : all_rows) {
    INFO("rows " << static_cast<int>(what));
    const auto data = make_rows(500, 22, what, 111);
    const auto on_two = [&](const auto& sink) {
      gpu::pair_options options = exact(cuda_best);
      options.exec.devices = {0, 1};
      return gpu::spearman_all_pairs(data, options, sink);
    };
    const auto on_cpu = [&](const auto& sink) {
      return gpu::spearman_all_pairs(data, exact(cpu_tiled), sink);
    };
    for (const gpu::adjustment adjust :
         {gpu::adjustment::none, gpu::adjustment::benjamini_hochberg}) {
      check_sinks({.max_p = 0.05, .adjust = adjust}, 5, on_two, on_cpu);
    }
  }
}

TEST_CASE("random calls by exact p on CUDA", "[spearman][exact]") {
  std::uint64_t state = 12345;
  const auto draw = [&state](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
  };
  for (int call = 0; call < 120; ++call) {
    const auto rows = static_cast<gpu::index_t>(2 + draw(599));
    const std::uint64_t widest = draw(4) == 0 ? 400 : 60;
    const auto cols = static_cast<gpu::index_t>(4 + draw(widest));
    const rows_with what = all_rows[draw(all_rows.size())];
    constexpr std::array cuts{1.0, 0.5, 0.05, 1e-3, 1e-6};
    constexpr std::array adjustments{gpu::adjustment::none, gpu::adjustment::bonferroni,
                                     gpu::adjustment::benjamini_hochberg};
    gpu::pair_filter keep{.max_p = cuts[draw(cuts.size())],
                          .min_abs = draw(4) == 0 ? 0.3 : 0.0,
                          .side = sides[draw(sides.size())],
                          .adjust = adjustments[draw(adjustments.size())]};
    gpu::pair_part part;
    if (draw(3) == 0) {
      part = {.index = static_cast<gpu::index_t>(draw(3)), .of = 3};
      if (keep.adjust == gpu::adjustment::benjamini_hochberg) keep.adjust = gpu::adjustment::none;
    }
    const auto k = static_cast<gpu::index_t>(
        1 + draw(std::min<std::uint64_t>(20, static_cast<std::uint64_t>(rows) - 1)));
    INFO("call " << call << ", rows " << static_cast<int>(what));
    check_table(make_rows(rows, cols, what, 1000 + static_cast<std::uint64_t>(call)), keep, k,
                cuda_best, part);
  }
}
