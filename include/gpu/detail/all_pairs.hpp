#pragma once
/// @file
/// The compiled entry points behind all_pairs and plan_all_pairs, and how their arguments are told
/// apart.

#include <concepts>
#include <type_traits>

#include <gpu/bit_matrix.hpp>
#include <gpu/connectivity.hpp>
#include <gpu/detail/any_view.hpp>
#include <gpu/device_sinks.hpp>
#include <gpu/discovery.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

class prepared_rows;

namespace detail {

GPU_SIMILARITY_EXPORT void all_pairs_on_device(measure what, const pair_tables& data,
                                               const pair_options& options,
                                               const any_device_sink& sink);

/// Compiled into the library for every sink with a result in host memory.
template <class Sink>
GPU_SIMILARITY_EXPORT sink_result_t<Sink> all_pairs_on_host(measure what, const pair_tables& data,
                                                            const pair_options& options,
                                                            const Sink& sink);

template <pair_sink Sink>
sink_result_t<Sink> all_pairs(measure what, const pair_tables& data, const pair_options& options,
                              const Sink& sink) {
  if constexpr (device_pair_sink<Sink>) {
    all_pairs_on_device(what, data, options, sink);
  } else {
    return all_pairs_on_host(what, data, options, sink);
  }
}

// A call is one table or two, then options, a sink, or both in this order. One function template
// reads all of these, so that a compiler has one candidate to talk about: the type of an argument
// says what it is, and {} in the place of one is the type that is its template parameter's default.

/// Which arguments a function takes.
enum class call_kind {
  all_pairs,  ///< y can be prepared rows.
  plan        ///< A filter may be written instead of an edge_sink.
};

/// The place of an argument that is not there.
struct nothing {};

template <class X>
concept pair_options_like = std::derived_from<X, pair_options>;

/// Rows of bits, in host or in device memory.
template <class X>
concept bit_table =
    std::convertible_to<X, bit_matrix_view> || std::convertible_to<X, device_bit_matrix_view>;
template <class X>
concept device_bit_table = std::convertible_to<X, device_bit_matrix_view>;

/// What all pairs are of.
template <class X>
concept pair_table = table_like<X> || bit_table<X>;
template <class X>
concept second_table = pair_table<X> || std::same_as<X, prepared_rows>;
/// Both of numbers or both of bits, in one memory.
template <class X, class Y>
inline constexpr bool are_together =
    bit_table<X> || bit_table<Y>
        ? bit_table<X> && bit_table<Y> && device_bit_table<X> == device_bit_table<Y>
        : tables_together<X, Y>;

/// The type of the argument that follows one of type `Before` if it is {} or left out.
template <class Before, class Sink>
using argument_after =
    std::conditional_t<pair_options_like<Before>, Sink,
                       std::conditional_t<second_table<Before>, pair_options, nothing>>;

/// What is wrong with a call. It is a template parameter of the functions, so that compilers print
/// it. clang prints it with a candidate that it ignored. GCC needs three times as many lines for an
/// ignored candidate, so there a wrong call selects a deleted overload.
enum class misuse {
  none,
  data_is_not_a_table__pass_gpu_as_matrix_of_a_range_or_a_gpu_matrix_view,
  x_and_y_are_not_both_in_host_memory_or_both_in_device_memory,
  argument_after_the_data_is_not_a_table_nor_pair_options_nor_a_sink,
  argument_after_the_tables_is_not_pair_options_nor_a_sink,
  argument_after_the_options_is_not_a_sink,
  pair_options_come_before_the_sink,
  nothing_comes_after_the_sink,
  sink_in_device_memory_needs_data_in_device_memory
};

template <call_kind Kind, class X, class Y, class Options, class Sink>
consteval misuse misuse_of() {
  constexpr bool two = second_table<Y> && (pair_table<Y> || Kind != call_kind::plan);
  using next = std::conditional_t<two, Options, Y>;
  using second = std::conditional_t<two, Sink, Options>;
  using third = std::conditional_t<two, nothing, Sink>;
  constexpr bool with_options = pair_options_like<next>;
  using sink = std::conditional_t<with_options, second, next>;
  using rest = std::conditional_t<with_options, third, second>;

  if (!pair_table<X>) {
    return misuse::data_is_not_a_table__pass_gpu_as_matrix_of_a_range_or_a_gpu_matrix_view;
  }
  if (two && pair_table<Y> && !are_together<X, Y>) {
    return misuse::x_and_y_are_not_both_in_host_memory_or_both_in_device_memory;
  }
  if (!pair_sink<sink> && !(Kind == call_kind::plan && std::same_as<sink, pair_filter>)) {
    if (with_options) return misuse::argument_after_the_options_is_not_a_sink;
    if (two) return misuse::argument_after_the_tables_is_not_pair_options_nor_a_sink;
    return misuse::argument_after_the_data_is_not_a_table_nor_pair_options_nor_a_sink;
  }
  if (pair_options_like<rest>) return misuse::pair_options_come_before_the_sink;
  if (!std::same_as<rest, nothing>) return misuse::nothing_comes_after_the_sink;
  if (device_pair_sink<sink> && !device_matrix_like<X> && !device_bit_table<X>) {
    return misuse::sink_in_device_memory_needs_data_in_device_memory;
  }
  return misuse::none;
}

/// The first type that is a sink.
template <class Y, class Options, class Sink>
using sink_of =
    std::conditional_t<pair_sink<Y>, Y,
                       std::conditional_t<pair_sink<Options>, Options,
                                          std::conditional_t<pair_sink<Sink>, Sink, dense_sink>>>;

/// The first argument of a type, or of one derived from it.
template <class Wanted, class First, class... Rest>
const Wanted& argument_of(const First& first, const Rest&... rest) {
  if constexpr (std::derived_from<First, Wanted>) {
    return first;
  } else {
    return argument_of<Wanted>(rest...);
  }
}

/// The words of rows of bits as a table.
template <memory_space Space>
any_table words_of(const basic_bit_matrix_view<const std::uint32_t, Space>& bits) {
  return basic_matrix_view<const std::int32_t, Space>(
      reinterpret_cast<const std::int32_t*>(bits.words()), bits.rows(), bit_words(bits.cols()),
      bits.row_words());
}

/// One table of a call.
template <pair_table X>
pair_tables tables_of(const X& x) {
  if constexpr (device_bit_table<X>) {
    const device_bit_matrix_view bits = x;
    return {.x = words_of(bits), .bits = bits.cols()};
  } else if constexpr (bit_table<X>) {
    const bit_matrix_view bits = x;
    return {.x = words_of(bits), .bits = bits.cols()};
  } else {
    return {.x = read_table(x)};
  }
}

/// The tables of a call.
template <class X, class Y>
pair_tables tables_of(const X& x, const Y& y) {
  pair_tables out = tables_of(x);
  if constexpr (std::same_as<Y, prepared_rows>) {
    out.prepared_y = y.table();
  } else if constexpr (pair_table<Y>) {
    const pair_tables other = tables_of(y);
    out.y = other.x;
    out.y_bits = other.bits;
  }
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace gpu
