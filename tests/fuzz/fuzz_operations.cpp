// Small calls of rank, top_k, mean_filter and binary_matmul on the CPU, beside the oracles of
// tests/reference.
#include <fuzzer/FuzzedDataProvider.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <gpu/binary_matmul.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

#include "fuzz/expect.hpp"
#include "reference/binary_matmul_reference.hpp"
#include "reference/mean_filter_reference.hpp"
#include "reference/rank_reference.hpp"
#include "reference/top_k_reference.hpp"

namespace {

using gpu::index_t;
using gpu_test::expect;

const gpu::execution one_thread{.target = gpu::backend::cpu, .cpu_threads = 1};

/// Values with many ties, or with any bits.
template <class T>
std::vector<T> take_values(FuzzedDataProvider& input, std::size_t count) {
  const bool has_ties = input.ConsumeBool();
  std::vector<T> values(count);
  for (T& value : values) {
    if (has_ties) {
      value = static_cast<T>(input.ConsumeIntegral<std::uint8_t>() % 7);
      if constexpr (std::is_floating_point_v<T>) {
        if (value == 5) value = -T{0};
        if (value == 6) value = std::numeric_limits<T>::infinity();
      }
    } else {
      input.ConsumeData(&value, sizeof(T));
    }
  }
  return values;
}

template <class T>
void check_rank(FuzzedDataProvider& input) {
  const auto rows = input.ConsumeIntegralInRange<index_t>(1, 3);
  const auto cols = input.ConsumeIntegralInRange<index_t>(1, 150);
  gpu::rank_options options{
      .ties = static_cast<gpu::tie_method>(input.ConsumeIntegralInRange<int>(0, 4)),
      .order = static_cast<gpu::rank_order>(input.ConsumeIntegralInRange<int>(0, 1)),
      .nans = gpu::nan_policy::propagate,
      .exec = one_thread};
  const auto values = take_values<T>(input, static_cast<std::size_t>(rows * cols));
  const gpu::matrix_view<const T> view(values.data(), rows, cols);
  const auto expected = gpu_test::reference_ranks<T>(view, options.ties, options.order);
  for (const auto variant :
       {gpu::rank_variant::automatic, gpu::rank_variant::counting, gpu::rank_variant::sort}) {
    if (variant == gpu::rank_variant::counting && cols > 128) continue;
    options.variant = variant;
    const auto got = gpu::rank_rows(view, options);
    for (index_t k = 0; k < rows * cols; ++k) {
      const double a = got.data()[k];
      const double b = expected.data()[k];
      expect(a == b || (std::isnan(a) && std::isnan(b)), "a rank");
    }
  }
}

template <class T>
bool has_same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check_top_k(FuzzedDataProvider& input) {
  const auto cols = input.ConsumeIntegralInRange<std::size_t>(1, 300);
  const auto k = input.ConsumeIntegralInRange<std::size_t>(1, 310);
  const bool largest = input.ConsumeBool();
  gpu::top_k_options options{
      .select = largest ? gpu::top_k_select::largest : gpu::top_k_select::smallest,
      .exec = one_thread};
  const auto values = take_values<T>(input, cols);
  const auto expected = gpu_test::reference_top_k(values.data(), cols, k, largest);
  for (const auto variant :
       {gpu::top_k_variant::automatic, gpu::top_k_variant::threshold, gpu::top_k_variant::sort}) {
    options.variant = variant;
    const auto got = gpu::top_k(values, static_cast<index_t>(k), options);
    expect(got.values.size() == expected.size(), "the number of entries");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expect(got.indices[i] == expected[i].index, "an index");
      expect(has_same_bits(got.values[i], expected[i].value), "a value");
    }
  }
  options.variant = gpu::top_k_variant::automatic;
  const auto distinct = gpu_test::reference_top_k_distinct(values.data(), cols, k, largest);
  const auto got = gpu::top_k_distinct(values, static_cast<index_t>(k), options);
  expect(got.values.size() == distinct.size(), "the number of distinct values");
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    expect(got.indices[i] == distinct[i].index && got.counts[i] == distinct[i].count &&
               has_same_bits(got.values[i], distinct[i].value),
           "a distinct value");
  }
}

template <class T>
T ulp(T value) {
  const T magnitude = std::fabs(value);
  return std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
}

/// Whether `got` is within what the documentation promises.
template <class In, class Out>
bool is_right(Out got, const gpu_test::expected_mean& expected, index_t window) {
  if constexpr (std::is_integral_v<Out>) {
    return got == static_cast<Out>(expected.integer_sum / expected.places);
  } else {
    // Sums beyond double are Inf or NaN, whatever the mean.
    constexpr long double largest = std::numeric_limits<double>::max();
    if (expected.magnitude * static_cast<long double>(window) > largest) return true;
    if (std::isnan(expected.mean)) return std::isnan(got);
    if (std::isinf(expected.mean)) return static_cast<long double>(got) == expected.mean;
    const long double error = std::fabs(static_cast<long double>(got) - expected.mean);
    if constexpr (std::is_same_v<Out, float>) {
      const auto rounded = static_cast<float>(expected.mean);
      if (std::isinf(rounded)) return true;
      return error <= 0.51L * static_cast<long double>(ulp(rounded)) +
                          std::ldexp(expected.magnitude * static_cast<long double>(window), -53);
    } else {
      return error <= 2 * static_cast<long double>(ulp(static_cast<double>(expected.magnitude)));
    }
  }
}

template <class In, class Out>
void check_mean_filter(FuzzedDataProvider& input) {
  const auto cols = input.ConsumeIntegralInRange<index_t>(1, 100);
  gpu::mean_filter_options options{.window = input.ConsumeIntegralInRange<index_t>(1, 150),
                                   .exec = one_thread};
  options.boundary = static_cast<gpu::boundary>(input.ConsumeIntegralInRange<int>(0, 6));
  if (options.boundary != gpu::boundary::valid) {
    options.origin =
        input.ConsumeIntegralInRange<index_t>(-(options.window / 2), (options.window - 1) / 2);
  }
  if (input.ConsumeBool()) options.nans = gpu::nan_policy::omit;
  const auto values = take_values<In>(input, static_cast<std::size_t>(cols));
  const std::span<const In> row(values);
  for (const auto variant : {gpu::mean_filter_variant::automatic, gpu::mean_filter_variant::direct,
                             gpu::mean_filter_variant::block_sums}) {
    options.variant = variant;
    std::vector<Out> got(
        static_cast<std::size_t>(gpu::filtered_size(cols, options.window, options.boundary)));
    gpu::mean_filter(row, std::span(got), options);
    for (std::size_t j = 0; j < got.size(); ++j) {
      const auto expected =
          gpu_test::reference_mean<In>(row, options, static_cast<std::int64_t>(j));
      expect(is_right<In, Out>(got[j], expected, options.window), "a mean");
    }
  }
}

void check_binary_matmul(FuzzedDataProvider& input) {
  const auto m = input.ConsumeIntegralInRange<index_t>(1, 9);
  const auto n = input.ConsumeIntegralInRange<index_t>(1, 9);
  const auto k = input.ConsumeIntegralInRange<index_t>(1, 700);
  const auto product = static_cast<gpu::bit_product>(input.ConsumeIntegralInRange<int>(0, 2));
  const auto a_values = take_values<std::int8_t>(input, static_cast<std::size_t>(m * k));
  const auto b_values = take_values<std::int8_t>(input, static_cast<std::size_t>(n * k));
  const gpu::matrix_view<const std::int8_t> a_view(a_values.data(), m, k);
  const auto a = gpu::pack_bits(a_view, std::int8_t{3}, one_thread);
  const auto b = gpu::pack_bits(gpu::matrix_view<const std::int8_t>(b_values.data(), n, k),
                                std::int8_t{3}, one_thread);
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < k; ++j) expect(a(i, j) == (a_view(i, j) >= 3), "a bit");
  }
  const auto got = gpu::binary_matmul(a.view(), b.view(), {.product = product, .exec = one_thread});
  const auto expected = gpu_test::reference_binary_matmul(a.view(), b.view(), product);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect(got.data()[i] == expected[i], "a product");
  }
}

template <class T>
void check_by_type(FuzzedDataProvider& input, bool ranks) {
  if (ranks) {
    check_rank<T>(input);
  } else {
    check_top_k<T>(input);
  }
}

void check_any_type(FuzzedDataProvider& input, bool ranks) {
  switch (input.ConsumeIntegralInRange<int>(0, 6)) {
    case 0:
      return check_by_type<std::int8_t>(input, ranks);
    case 1:
      return check_by_type<std::int16_t>(input, ranks);
    case 2:
      return check_by_type<std::int32_t>(input, ranks);
    case 3:
      return check_by_type<std::uint8_t>(input, ranks);
    case 4:
      return check_by_type<std::uint16_t>(input, ranks);
    case 5:
      return check_by_type<float>(input, ranks);
    default:
      return check_by_type<double>(input, ranks);
  }
}

void check_any_filter(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange<int>(0, 5)) {
    case 0:
      return check_mean_filter<std::uint8_t, std::uint8_t>(input);
    case 1:
      return check_mean_filter<std::uint16_t, double>(input);
    case 2:
      return check_mean_filter<std::int32_t, std::int32_t>(input);
    case 3:
      return check_mean_filter<std::int32_t, double>(input);
    case 4:
      return check_mean_filter<float, float>(input);
    default:
      return check_mean_filter<double, double>(input);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  switch (input.ConsumeIntegralInRange<int>(0, 3)) {
    case 0:
      check_any_type(input, true);
      break;
    case 1:
      check_any_type(input, false);
      break;
    case 2:
      check_any_filter(input);
      break;
    default:
      check_binary_matmul(input);
      break;
  }
  return 0;
}
