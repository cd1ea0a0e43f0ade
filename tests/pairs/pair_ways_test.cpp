// Random jobs of all pairs on the CPU: whatever threads, memory, form of the input, prepared rows,
// variant and forced way a job has, every sink says what one thread says plainly. Run once per
// instruction set.
#include <algorithm>
#include <array>
#include <optional>

#include "cpu/pairs/loops/kernels.hpp"
#include "plan/forced/forced_ways.hpp"
#include "soak/pair_jobs.hpp"
#include "support/catch.hpp"
#include "support/cpu_level.hpp"
#include "support/least_workspace.hpp"
#include "support/stored_forms.hpp"

namespace {

using namespace gpu_test;
using gpu::cpu::cpu_pair_way;
using gpu::cpu::cpu_row_form;
using gpu::detail::ways_in_force;

enum class stored_by { rows, columns, columns_apart, csr, csr_of_64_bits };

struct cpu_side {
  static constexpr bool has_device_memory = false;
  stored_by form = stored_by::rows;
  bool is_prepared = false;
  gpu::detail::forced_cpu_ways ways = {};

  template <class T, class Sink>
  auto call(const job<T>& of, const gpu::pair_options& options, const Sink& sink) const {
    if (is_prepared) {
      return gpu::all_pairs(of.what, of.x, gpu::prepare_rows(of.what, of.y, options), options,
                            sink);
    }
    const auto run = [&](const auto& x, const auto& y) {
      return of.y.rows() == 0 ? gpu::all_pairs(of.what, x, options, sink)
                              : gpu::all_pairs(of.what, x, y, options, sink);
    };
    switch (form) {
      case stored_by::columns:
        return run(in_columns<T>(of.x).view(), in_columns<T>(of.y).view());
      case stored_by::columns_apart:
        return run(columns_apart<T>(of.x).view(), in_columns<T>(of.y).view());
      case stored_by::csr:
        return run(in_csr<T>(of.x).view(), of.y.view());
      case stored_by::csr_of_64_bits:
        return run(in_csr<T, std::int64_t>(of.x).view(), in_csr<T>(of.y).view());
      case stored_by::rows:
        break;
    }
    return run(of.x.view(), of.y.view());
  }
  template <class T, class Sink>
  auto run(const job<T>& of, const Sink& sink) const {
    struct restored {
      ~restored() { ways_in_force() = {}; }
    } const at_the_end;
    ways_in_force().cpu = ways;
    return call(of, of.options, sink);
  }
  template <class T>
  static double dense_error(const job<T>&) {
    return 0;
  }
};

template <class T>
void run_job(dice& d, measure what, kind of, sink_of sink, const job_limits& limits) {
  job<T> one = draw_job<T>(d, what, of, pair_variant::automatic, limits);
  if (of == kind::plain || of == kind::columns) one.plain_variant = pair_variant::naive;
  one.options.variant =
      d.one_of({pair_variant::automatic, pair_variant::automatic, pair_variant::tiled});
  one.options.exec = {.target = gpu::backend::cpu, .cpu_threads = d.one_of({1, 2, 3, 8})};
  cpu_side side{.is_prepared = may_be_prepared(one) && d.coin()};
  if (!side.is_prepared) {
    side.form = d.one_of({stored_by::rows, stored_by::rows, stored_by::columns,
                          stored_by::columns_apart, stored_by::csr, stored_by::csr_of_64_bits});
  }
  if (of == kind::plain && (what == measure::spearman || what == measure::pearson) && d.coin()) {
    side.ways.way = d.one_of({cpu_pair_way::screen, cpu_pair_way::search, cpu_pair_way::every});
    side.ways.form =
        what == measure::pearson
            ? d.one_of({cpu_row_form::floats, cpu_row_form::wide})
            : d.one_of({cpu_row_form::bytes, cpu_row_form::short_sums, cpu_row_form::wide});
    const bool has_int8_sums = gpu::cpu::usable_pair_kernels().int8.search != nullptr;
    if (what == measure::spearman &&
        !gpu::cpu::can_take_rank_form(*side.ways.form, one.x.cols(), has_int8_sums)) {
      side.ways.form.reset();
    }
  } else if (d.coin()) {  // windows, of nearly the least memory there is
    const std::size_t least = least_workspace(
        [&](const gpu::pair_options& how) { (void)side.call(one, how, gpu::dense_sink{}); },
        one.options);
    one.options.exec.workspace_bytes =
        least + least * static_cast<std::size_t>(d.between(0, 200)) / 100;
  }
  check(d, sink, one, side);
}

}  // namespace

TEST_CASE("Every way to run a job gives its answer", "[pairs]") {
  const std::uint64_t jobs = at_named_level() ? 400 : 1000;
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < jobs; ++seed) {
    dice d(seed, 1537);
    const auto what = gpu::all_measures()[seed % gpu::all_measures().size()];
    const auto sink = static_cast<sink_of>(d.between(0, what == measure::cosine ? 3 : 4));
    auto of = d.one_of({kind::plain, kind::plain, kind::plain, kind::missing_values, kind::exact_p,
                        kind::columns});
    const bool has_columns = what != measure::kendall && what != measure::bicor;
    if (of == kind::exact_p && what != measure::spearman) of = kind::plain;
    if (of == kind::columns && !has_columns) of = kind::plain;
    INFO("job " << seed << ": " << gpu::to_string(what) << ", "
                << sink_names[static_cast<std::size_t>(sink)]);
    try {
      with_drawn_type<std::int64_t, std::uint32_t, std::uint64_t>(
          d, of, [&]<class T>(T) { run_job<T>(d, what, of, sink, {.products = 20'000'000}); });
      ++made;
    } catch (const gpu::unsupported&) {  // the drawn rows have no such way, or the options do not
                                         // go together
    } catch (const wrong_answer& error) {
      FAIL_CHECK(error.what());
    }
  }
  CHECK(made > jobs * 9 / 10);
}

TEST_CASE("Partners behind the first columns are found by their bars", "[pairs]") {
  for (std::uint64_t seed = 0; seed < (at_named_level() ? 15 : 60); ++seed) {
    dice d(seed, 1537);
    INFO("job " << seed);
    run_job<float>(d, seed % 3 == 0 ? measure::spearman : measure::pearson, kind::plain,
                   sink_of::neighbours, {.products = 20'000'000, .cols = 130, .least_rows = 600});
  }
}
