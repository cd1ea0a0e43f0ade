// Operations on rows: ranks, filters, selection; on host memory and on device memory.
#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

#include "soak/cases.hpp"
#include "support/device_memory.hpp"
#include "support/generators.hpp"

namespace gpu_test {
namespace {

using gpu::index_t;
using gpu::mean_filter_variant;
using gpu::rank_variant;
using gpu::top_k_variant;

template <class T>
gpu::matrix<T> draw_matrix(dice& d, index_t rows, index_t cols) {
  if (d.coin()) return random_matrix<T>(rows, cols, d.seed());
  return tied_matrix<T>(rows, cols, d.seed(), 0.5, d.one_of({2, 40}));
}

std::size_t size_of(index_t rows, index_t cols) {
  return static_cast<std::size_t>(rows * cols);
}

/// A matrix on the device, and back.
template <class T>
class device_copy {
 public:
  explicit device_copy(const gpu::matrix<T>& x)
      : memory_(x.data(), size_of(x.rows(), x.cols())), rows_(x.rows()), cols_(x.cols()) {}
  device_copy(index_t rows, index_t cols)
      : memory_(size_of(rows, cols)), rows_(rows), cols_(cols) {}
  [[nodiscard]] gpu::device_matrix_view<T> view() const { return {memory_.data(), rows_, cols_}; }
  [[nodiscard]] gpu::matrix<T> to_host(cudaStream_t stream) const {
    GPU_TEST_CUDA(cudaStreamSynchronize(stream));
    gpu::matrix<T> out(rows_, cols_);
    memory_.copy_to(out.data());
    return out;
  }

 private:
  device_array<T> memory_;
  index_t rows_;
  index_t cols_;
};

template <class T>
void rank(dice& d, rank_variant variant, cudaStream_t stream) {
  const index_t longest = variant == rank_variant::counting     ? 128
                          : variant == rank_variant::block_sort ? 4096
                                                                : 20'000;
  const index_t cols = d.coin() ? d.between(1, 130) : d.between(1, longest);
  const index_t rows = std::min(d.rows(), 1 + 2'000'000 / cols);
  const gpu::matrix<T> x = draw_matrix<T>(d, rows, cols);
  gpu::rank_options options{
      .ties = d.one_of({gpu::tie_method::average, gpu::tie_method::average, gpu::tie_method::min,
                        gpu::tie_method::max, gpu::tie_method::dense, gpu::tie_method::ordinal}),
      .order = d.one_of({gpu::rank_order::ascending, gpu::rank_order::descending})};
  options.exec = by_cpu();
  const auto wanted = gpu::rank_rows(x, options);
  options.variant = variant;
  const bool is_on_host = d.coin();
  options.exec = is_on_host ? by_cuda() : by_cuda(stream);
  if (is_on_host) {
    expect(same_values(gpu::rank_rows(x, options), wanted), "ranks of host memory");
  } else {
    const device_copy<T> from(x);
    const device_copy<double> ranks(rows, cols);
    gpu::rank_rows(from.view(), ranks.view(), options);
    expect(same_values(ranks.to_host(stream), wanted), "ranks of device memory");
  }
}

/// Within the bounds that both backends keep to, added up.
template <class Out>
void compare_means(const gpu::matrix<Out>& got, const gpu::matrix<Out>& wanted, double magnitude) {
  for (index_t i = 0; i < got.rows() * got.cols(); ++i) {
    const auto a = static_cast<double>(got.data()[i]);
    const auto b = static_cast<double>(wanted.data()[i]);
    if (a != a && b != b) continue;
    const double unit = std::is_same_v<Out, float> ? 0x1p-22 : 0x1p-50;
    const double allowed = std::is_integral_v<Out> ? 0 : unit * magnitude;
    if (!(std::fabs(a - b) <= allowed)) {
      throw wrong_answer("element " + std::to_string(i) + " is " + std::to_string(a) + ", not " +
                         std::to_string(b));
    }
  }
}

template <class T>
double largest_of(const gpu::matrix<T>& x) {
  double largest = 0;
  for (index_t i = 0; i < x.rows() * x.cols(); ++i) {
    const double value = std::fabs(static_cast<double>(x.data()[i]));
    if (value > largest) largest = value;
  }
  return largest;
}

gpu::boundary draw_boundary(dice& d) {
  using gpu::boundary;
  return d.one_of({boundary::zero, boundary::reflect, boundary::nearest, boundary::mirror,
                   boundary::wrap, boundary::shrink, boundary::valid});
}

template <class In, class Out>
void filter(dice& d, mean_filter_variant variant, cudaStream_t stream) {
  const index_t longest = variant == mean_filter_variant::constant_memory ? 256
                          : variant == mean_filter_variant::shared_memory ? 1000
                          : variant == mean_filter_variant::direct        ? 300
                                                                          : 4500;
  const bool is_wide = variant == mean_filter_variant::multi_level;
  gpu::mean_filter_options options{
      .window = is_wide ? d.between(1152, 30'000) : d.between(1, d.coin() ? 20 : longest),
      .boundary = draw_boundary(d)};
  if (d.between(0, 7) == 0) options.window = d.between(1'000'000, 2'000'000'000);
  const index_t cols = is_wide ? d.between(40'000, 100'000) : d.between(1, d.coin() ? 60 : 12'000);
  using enum gpu::boundary;
  if (options.boundary != zero && options.boundary != shrink && options.boundary != valid) {
    options.window = std::min(options.window, std::max<index_t>(511, 2 * cols - 1));
  }
  const index_t rows = std::min(d.rows(), 1 + 400'000 / cols);
  const gpu::matrix<In> x = draw_matrix<In>(d, rows, cols);
  if (std::is_floating_point_v<In> && d.coin()) options.nans = gpu::nan_policy::omit;
  const index_t out_cols = gpu::filtered_size(cols, options.window, options.boundary);
  gpu::matrix<Out> wanted(rows, out_cols);
  options.exec = by_cpu();
  gpu::mean_filter(x, wanted, options);
  options.variant = variant;
  const bool is_on_host = d.coin();
  options.exec = is_on_host ? by_cuda() : by_cuda(stream);
  gpu::matrix<Out> got(rows, out_cols);
  if (is_on_host) {
    gpu::mean_filter(x, got, options);
  } else {
    const device_copy<In> from(x);
    const device_copy<Out> to(rows, out_cols);
    gpu::mean_filter(from.view(), to.view(), options);
    got = to.to_host(stream);
  }
  compare_means(got, wanted, largest_of(x));
}

template <class In, class Out>
void convolution(dice& d, mean_filter_variant variant, cudaStream_t stream) {
  const index_t longest = variant == mean_filter_variant::block_sums ? 9 : 256;
  const gpu::matrix<double> weights = random_matrix<double>(1, d.between(1, longest), d.seed());
  const index_t cols = d.between(1, d.coin() ? 60 : 5000);
  const index_t rows = std::min(d.rows(), 1 + 100'000 / cols);
  const gpu::matrix<In> x = draw_matrix<In>(d, rows, cols);
  gpu::convolve_options options{.boundary = draw_boundary(d)};
  if (options.boundary == gpu::boundary::shrink) options.boundary = gpu::boundary::zero;
  const index_t out_cols = gpu::filtered_size(cols, weights.cols(), options.boundary);
  gpu::matrix<Out> wanted(rows, out_cols);
  options.exec = by_cpu();
  gpu::convolve(x, weights.row(0), wanted, options);
  options.variant = variant;
  options.exec = by_cuda(stream);
  const device_copy<In> from(x);
  const device_copy<Out> to(rows, out_cols);
  gpu::convolve(from.view(), weights.row(0), to.view(), options);
  // Both sums are off by half of this at most.
  const double scale = largest_of(x) * largest_of(weights) * static_cast<double>(weights.cols());
  compare_means(to.to_host(stream), wanted,
                scale * (1 + static_cast<double>(weights.cols()) * 0x1p-1));
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && same_values(a.data(), b.data(), a.size());
}

template <class T>
void select(dice& d, top_k_variant variant, cudaStream_t stream) {
  const bool of_rows = d.coin() || variant == top_k_variant::warp_rows;
  const index_t longest = variant == top_k_variant::warp_rows    ? 1024
                          : variant == top_k_variant::block_rows ? 6000
                                                                 : 200'000;
  const index_t cols = d.between(1, d.coin() ? 300 : longest);
  const index_t rows = of_rows ? std::min(d.rows(), 1 + 200'000 / cols) : 1;
  const index_t most = variant == top_k_variant::two_pass_insert ? 32
                       : variant == top_k_variant::threshold     ? 4096
                                                                 : 20'000;
  const index_t k = d.between(1, d.coin() ? 20 : most);
  const gpu::matrix<T> x = draw_matrix<T>(d, rows, cols);
  gpu::top_k_options options{
      .select = d.one_of({gpu::top_k_select::largest, gpu::top_k_select::smallest})};
  options.exec = by_cpu();
  const auto wanted = gpu::top_k(x, k, options);
  options.variant = variant;
  const bool is_on_host = d.coin();
  options.exec = is_on_host ? by_cuda() : by_cuda(stream);
  if (is_on_host) {
    const auto got = gpu::top_k(x, k, options);
    expect(same_values(got.values, wanted.values) && same_values(got.indices, wanted.indices),
           "entries of host memory");
  } else {
    const index_t entries = std::min(k, cols);
    const device_copy<T> from(x);
    const device_copy<T> values(rows, entries);
    const device_copy<index_t> indices(rows, entries);
    gpu::top_k(from.view(), k, values.view(), indices.view(), options);
    expect(same_values(values.to_host(stream), wanted.values) &&
               same_values(indices.to_host(stream), wanted.indices),
           "entries of device memory");
  }
}

template <class T>
void select_distinct(dice& d, top_k_variant variant, cudaStream_t) {
  const index_t cols = d.between(1, d.coin() ? 300 : 50'000);
  const gpu::matrix<T> x = draw_matrix<T>(d, 1, cols);
  const index_t k = d.between(1, 200);
  gpu::top_k_options options{
      .select = d.one_of({gpu::top_k_select::largest, gpu::top_k_select::smallest})};
  options.exec = by_cpu();
  const auto wanted = gpu::top_k_distinct(x.row(0), k, options);
  options.variant = variant;
  options.exec = {.target = gpu::backend::cuda};
  const auto got = gpu::top_k_distinct(x.row(0), k, options);
  expect(same_bytes(got.values, wanted.values) && same_bytes(got.indices, wanted.indices) &&
             same_bytes(got.counts, wanted.counts),
         "distinct entries");
}

template <class Variant, class Function>
void add(std::vector<soak_case>& all, const std::string& name, Variant variant, Function function) {
  all.push_back({name + ", " + std::string(to_string(variant)),
                 [=](dice& d, cudaStream_t stream) { function(d, variant, stream); }});
}

const char* name_of(rank_variant variant) {
  switch (variant) {
    case rank_variant::counting:
      return ", counting";
    case rank_variant::block_sort:
      return ", block_sort";
    case rank_variant::segmented_sort:
      return ", segmented_sort";
    default:
      return ", automatic";
  }
}

void add_ranks(std::vector<soak_case>& all) {
  for (const auto variant : {rank_variant::automatic, rank_variant::counting,
                             rank_variant::block_sort, rank_variant::segmented_sort}) {
    const auto add_one = [&](const char* type, auto function) {
      all.push_back({std::string("rank_rows, ") + type + name_of(variant),
                     [=](dice& d, cudaStream_t stream) { function(d, variant, stream); }});
    };
    add_one("int8", &rank<std::int8_t>);
    add_one("int16", &rank<std::int16_t>);
    add_one("uint8", &rank<std::uint8_t>);
    add_one("int32", &rank<std::int32_t>);
    add_one("uint16", &rank<std::uint16_t>);
    add_one("float", &rank<float>);
    add_one("double", &rank<double>);
  }
}

void add_filters(std::vector<soak_case>& all) {
  for (const auto variant :
       {mean_filter_variant::automatic, mean_filter_variant::direct,
        mean_filter_variant::constant_memory, mean_filter_variant::shared_memory,
        mean_filter_variant::block_sums, mean_filter_variant::multi_level}) {
    add(all, "mean_filter, double", variant, &filter<double, double>);
    add(all, "mean_filter, float", variant, &filter<float, float>);
    add(all, "mean_filter, float to double", variant, &filter<float, double>);
    add(all, "mean_filter, int8", variant, &filter<std::int8_t, std::int8_t>);
    add(all, "mean_filter, int32 to double", variant, &filter<std::int32_t, double>);
    add(all, "mean_filter, uint16", variant, &filter<std::uint16_t, std::uint16_t>);
    add(all, "mean_filter, uint16 to double", variant, &filter<std::uint16_t, double>);
    add(all, "mean_filter, int32", variant, &filter<std::int32_t, std::int32_t>);
    add(all, "mean_filter, int16", variant, &filter<std::int16_t, std::int16_t>);
    add(all, "mean_filter, uint8 to double", variant, &filter<std::uint8_t, double>);
    if (variant == mean_filter_variant::block_sums) break;
  }
  add(all, "mean_filter, double", mean_filter_variant::multi_level, &filter<double, double>);
  add(all, "mean_filter, float", mean_filter_variant::multi_level, &filter<float, float>);
  for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::constant_memory,
                             mean_filter_variant::shared_memory, mean_filter_variant::block_sums}) {
    add(all, "convolve, double", variant, &convolution<double, double>);
    add(all, "convolve, int16 to double", variant, &convolution<std::int16_t, double>);
    add(all, "convolve, float to double", variant, &convolution<float, double>);
    add(all, "convolve, float", variant, &convolution<float, float>);
    add(all, "convolve, int32 to double", variant, &convolution<std::int32_t, double>);
  }
}

void add_selection(std::vector<soak_case>& all) {
  for (const auto variant :
       {top_k_variant::automatic, top_k_variant::threshold, top_k_variant::radix_select,
        top_k_variant::sort, top_k_variant::two_pass_insert, top_k_variant::block_rows,
        top_k_variant::warp_rows}) {
    add(all, "top_k, float", variant, &select<float>);
    add(all, "top_k, double", variant, &select<double>);
    add(all, "top_k, int16", variant, &select<std::int16_t>);
    add(all, "top_k, int8", variant, &select<std::int8_t>);
    add(all, "top_k, int32", variant, &select<std::int32_t>);
    add(all, "top_k, uint8", variant, &select<std::uint8_t>);
    add(all, "top_k, uint16", variant, &select<std::uint16_t>);
    add(all, "top_k_distinct, float", variant, &select_distinct<float>);
    add(all, "top_k_distinct, uint8", variant, &select_distinct<std::uint8_t>);
    add(all, "top_k_distinct, int16", variant, &select_distinct<std::int16_t>);
    add(all, "top_k_distinct, double", variant, &select_distinct<double>);
  }
}

}  // namespace

std::vector<soak_case> row_cases() {
  std::vector<soak_case> all;
  add_ranks(all);
  add_filters(all);
  add_selection(all);
  return all;
}

}  // namespace gpu_test
