// All pairs on the GPU: every sink of each measure beside the CPU, with every variant, of tables in
// host and in device memory, with results that come to the host or stay.
#include <algorithm>
#include <array>
#include <cmath>

#include "soak/cases.hpp"
#include "soak/pair_jobs.hpp"
#include "support/device_call.hpp"
#include "support/stored_forms.hpp"

namespace gpu_test {
namespace {

/// Largest error of a dense result of unit rows by the tensor cores, of rows of `cols` elements, as
/// docs/pearson.md says.
double tensor_error(index_t cols) {
  const auto padded = static_cast<double>((cols + 15) / 16 * 16);
  return 3 * 0x1p-22 + 30 * 0x1p-26 * std::min(padded, 64.0) + 0x1p-24 * std::ceil(padded / 64);
}

/// Whether a table that may have missing values has any: else its rows are like all others.
template <class T>
bool has_nan(const gpu::matrix<T>& x) {
  return std::any_of(x.data(), x.data() + x.rows() * x.cols(), [](T v) { return v != v; });
}

struct cuda_side {
  static constexpr bool has_device_memory = true;
  bool is_in_device_memory = false;
  bool is_prepared = false;
  bool stays_on_device = false;  // the result
  int form = 0;                  // of tables in host memory: rows, columns, sparse rows

  /// run(call) with tables in device memory.
  template <class T, class Run>
  auto in_device_memory(const job<T>& of, const Run& run) const {
    const device_table<T> there(of.x, of.x.rows() % 2 * 3);
    const device_table<T> other(of.y, of.y.rows() % 2);
    return run(device_call<device_table<T>>{of.what, there, of.y.rows() == 0 ? nullptr : &other,
                                            of.options});
  }
  template <class T, class Sink>
  auto run(const job<T>& of, const Sink& sink) const {
    if (is_in_device_memory) {
      return in_device_memory(of, [&](const auto& call) { return call.run(sink); });
    }
    const auto call = [&](const auto& x) {
      return of.y.rows() == 0 ? gpu::all_pairs(of.what, x, of.options, sink)
                              : gpu::all_pairs(of.what, x, of.y, of.options, sink);
    };
    if (form == 1) return call(in_columns<T>(of.x).view());
    if (form == 2) return call(in_csr<T>(of.x).view());
    if (!is_prepared) return call(of.x.view());
    return gpu::all_pairs(of.what, of.x, gpu::prepare_rows(of.what, of.y, of.options), of.options,
                          sink);
  }
  template <class T>
  double dense_error(const job<T>& of) const {
    const pair_variant variant = of.options.variant;
    const bool is_exact =
        (of.what == measure::spearman && of.covariates.rows() == 0) ||
        of.what == measure::kendall ||
        (of.options.nans == gpu::nan_policy::pairwise && (has_nan(of.x) || has_nan(of.y))) ||
        variant == pair_variant::naive || variant == pair_variant::shared_tiled;
    return is_exact ? 0 : tensor_error(of.x.cols());
  }
};

template <class T>
void run_job(dice& d, measure what, kind of, pair_variant variant, sink_of sink,
             cudaStream_t stream) {
  const job_limits limits{
      .products = d.most_rows() < 100 ? 1'000'000
                                      : d.one_of<index_t>({1'000'000, 20'000'000, 200'000'000})};
  job<T> one = draw_job<T>(d, what, of, variant, limits);
  gpu::execution& exec = one.options.exec;
  exec = by_cuda();
  exec.cpu_threads = d.one_of({1, 16});
  if (d.between(0, 3) == 0) {
    exec.workspace_bytes = static_cast<std::size_t>(d.between(100'000, d.one_of({8, 48}) << 20));
    // Rows of Kendall are not staged.
    if (what == measure::kendall) exec.workspace_bytes += std::size_t{1} << 30;
  }
  cuda_side side{.is_in_device_memory = d.between(0, 2) == 0,
                 .is_prepared = may_be_prepared(one) && d.coin()};
  if (side.is_in_device_memory) {
    exec.stream = gpu::stream_ref(stream);
    side.stays_on_device = d.coin();
    // Few columns have an exact p in host memory, which results in device memory do not.
    if (side.stays_on_device && one.options.p_method == gpu::p_method::automatic) {
      one.options.p_method = gpu::p_method::t;
    }
  } else {
    side.form = d.one_of({0, 0, 1, 2});
    if (gpu::available_devices().size() > 1 && d.coin()) exec.devices = {0, 1};
  }
  check(d, sink, one, side);
}

}  // namespace

double largest_dense_error() {
  return largest_share;
}

std::vector<soak_case> pair_cases() {
  std::vector<soak_case> all;
  const auto add = [&](measure what, const std::string& name, kind of, pair_variant variant) {
    for (std::size_t s = 0; s < sink_names.size(); ++s) {
      const auto sink = static_cast<sink_of>(s);
      if (what == measure::cosine && sink == sink_of::discoveries) continue;
      const auto run = [=](dice& d, cudaStream_t stream) {
        with_drawn_type(d, of, [&]<class T>(T) { run_job<T>(d, what, of, variant, sink, stream); });
      };
      all.push_back({"pairs: " + std::string(gpu::to_string(what)) + name + ' ' + sink_names[s] +
                         ", " + std::string(to_string(variant)),
                     run});
    }
  };
  for (const measure what : gpu::all_measures()) {
    for (const pair_variant variant :
         {pair_variant::automatic, pair_variant::naive, pair_variant::shared_tiled,
          pair_variant::tensor, pair_variant::hopper}) {
      add(what, "", kind::plain, variant);
      if (what == measure::spearman) add(what, ", exact p,", kind::exact_p, variant);
    }
  }
  for (const measure what : {measure::spearman, measure::pearson, measure::cosine}) {
    add(what, ", missing values,", kind::missing_values, pair_variant::automatic);
    add(what, ", columns,", kind::columns, pair_variant::automatic);
  }
  return all;
}

}  // namespace gpu_test
