// The kernels that all levels of AVX-512 share. Included inside the unnamed namespace of a file
// compiled for one of them, behind the bodies of the loops.

// Int16 multiplies two 16-bit values a lane. Made by the compiler: no code of these files may run
// before the machine is known.
template <class Int16>
consteval pair_kernels avx512_table() {
  return {.int16 = kernel_body<Int16>::kernels(),
          .float32 = kernel_body<avx512_float32>::kernels(),
          .rho = rho_of_row<std::int32_t>,
          .add_products = product_body<Int16>::add,
          .rho_of_doubles = rho_of_row<double>,
          .select = select_compressed,
          .ordered_dots = avx512_dots::ordered,
          .add_partial_sums = avx512_dots::add,
          .combine_partial_sums = avx512_dots::combine_all,
          .row = unit_row_body<avx512_eight>::passes(),
          .round_doubles = rounding_body<avx512_eight, double>::kernels(),
          .round_int16 = rounding_body<avx512_eight, std::int16_t>::kernels(),
          .round_int32 = rounding_body<avx512_eight, std::int32_t>::kernels(),
          .pairwise_counts = pairwise_counts,
          .pairwise_statistics = pairwise_body<avx512_pairwise>::statistics,
          .pairwise_rank_sums = pairwise_rank_sums,
          .mask_values = mask_body<avx512_masks>::values,
          .mask_ranks = mask_body<avx512_masks>::ranks,
          .int8_dot = dot_of<std::int8_t>,
          .int16_dot = dot_of<std::int16_t>,
          .int32_dot = dot_of<std::int32_t>};
}
