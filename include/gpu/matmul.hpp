#pragma once
/// @file
/// Dense matrix multiply, C = alpha op(A) op(B) + beta C, for float and double.

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// Whether an operand is used as it is stored, or transposed. Nothing is copied for it.
enum class transposition { none, transpose };

/// The implementation that multiplies. All of them are deterministic: same input, same device and
/// same options give the same bytes.
enum class matmul_variant {
  automatic,       ///< Chosen by type, shape and device.
  naive,           ///< One element of C at a time, straight from memory. CPU and CUDA.
  pitched,         ///< CUDA: rows padded to the device's pitch, so that loads are wide.
  shared_tiled,    ///< CUDA: square tiles of A and B in shared memory.
  register_tiled,  ///< CUDA: a tile of C in each thread's registers; IEEE arithmetic, cc 7.5 on.
  tensor,          ///< CUDA, cc 8.0 on: tensor cores; of float, three half-precision products.
  blas             ///< CPU: OpenBLAS, where the library was built with it.
};

/// Options of matmul.
struct matmul_options {
  /// How A is used: op(A) is [m, k], so A is stored [m, k], or [k, m] where transposed.
  transposition a = transposition::none;
  /// How B is used: op(B) is [k, n], so B is stored [k, n], or [n, k] where transposed.
  transposition b = transposition::none;
  /// What the product is multiplied by, any number, rounded to the element type. 0 never reads A
  /// and B: C becomes beta C.
  double alpha = 1;
  /// What C is multiplied by before the product is added, likewise. 0 never reads C, whatever it
  /// holds; the overload that returns a new matrix takes nothing else.
  double beta = 0;
  /// The implementation; gpu::unsupported where the backend, shape or type does not offer it.
  matmul_variant variant = matmul_variant::automatic;
  /// Device overload only: scratch memory of the caller, at least plan_matmul().workspace_bytes,
  /// 256-byte aligned, used by nothing else until the stream has passed this call. Empty: scratch
  /// comes from the stream's memory pool (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};

/// What a call of matmul would run.
struct matmul_plan {
  backend used = backend::cpu;  ///< Where it would run.
  std::string device = {};      ///< Name of the device, "cpu" for the CPU.
  /// The implementation, never `automatic`.
  matmul_variant variant = matmul_variant::naive;
  index_t tile_rows = 0;            ///< Rows of C that one block computes; 0 where BLAS decides.
  index_t tile_cols = 0;            ///< Columns of C that one block computes; 0 likewise.
  index_t depth_splits = 1;         ///< Parts that k is cut into, summed in a fixed order.
  std::size_t workspace_bytes = 0;  ///< Scratch memory besides A, B and C.
  std::size_t result_bytes = 0;     ///< Size of C.
};

/// The element types of matmul.
template <class T>
concept matmul_element = std::same_as<T, float> || std::same_as<T, double>;

/// Operands, const or not, and a result of one element type.
template <class A, class B, class C>
concept matmul_operands = matmul_element<C> && std::same_as<std::remove_const_t<A>, C> &&
                          std::same_as<std::remove_const_t<B>, C>;

namespace detail {
template <class T>
GPU_SIMILARITY_EXPORT void matmul(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                                  const matmul_options& options);
template <class T>
GPU_SIMILARITY_EXPORT void matmul(device_matrix_view<const T> a, device_matrix_view<const T> b,
                                  device_matrix_view<T> c, const matmul_options& options);
template <class T>
GPU_SIMILARITY_EXPORT matmul_plan plan_matmul(index_t m, index_t n, index_t k,
                                              const matmul_options& options);
/// The extents of op(A) op(B), or gpu::invalid_argument where the operands do not fit.
struct matmul_extents {
  index_t m = 0;
  index_t n = 0;
  index_t k = 0;
};
/// gpu::invalid_argument where there is no C that options.beta could stand before.
GPU_SIMILARITY_EXPORT void check_new_product(const matmul_options& options);
GPU_SIMILARITY_EXPORT matmul_extents check_matmul_extents(index_t a_rows, index_t a_cols,
                                                          index_t b_rows, index_t b_cols,
                                                          const matmul_options& options);

/// The element type of two host operands; float where they have none in common.
template <class A, class B>
using matmul_element_of =
    std::conditional_t<std::same_as<element_of<A>, double> && std::same_as<element_of<B>, double>,
                       double, float>;
template <class T, class... Operands>
inline constexpr bool all_of_type = (std::same_as<element_of<Operands>, T> && ...);

template <class A, class B, class C>
inline constexpr bool are_operands = matmul_operands<A, B, C>;
template <class T>
inline constexpr bool is_matmul_element = matmul_element<T>;

/// A host operand as a read-only view of T.
template <class T, matrix_like Operand>
matrix_view<const T> read_operand(const Operand& operand) {
  if constexpr (all_of_type<T, Operand>) {
    return view_as_matrix(operand);
  } else {
    return {};
  }
}
}  // namespace detail

/// C = alpha op(A) op(B) + beta C into the caller's matrix `c` [m, n]; any extents, 0 and 1 among
/// them (k = 0 gives beta C), any row strides. Elements between the rows of `c` are not touched.
///
/// Error for alpha = 1 and beta = 0, with u = 2^-24 (float) or 2^-53 (double) and a_i, b_j a row of
/// op(A) and a column of op(B): every variant but `tensor` of float satisfies
/// |error of c_ij| <= k u / (1 - k u) sum_l |a_il b_lj|
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5), whatever the
/// order of the sum, where nothing under- or overflows. `tensor` of float satisfies
/// |error of c_ij| <= (k / 64 + 48) u |a_i| |b_j| in Euclidean norms; on data of even scale its
/// error is below that of a float32 chain of k additions from k = 256 on. `tensor` of double rounds
/// as fused multiply-adds do. Otherwise that bound, times |alpha|, grows by
/// 3 u (|alpha| sum_l |a_il b_lj| + |beta c_ij|); of `blas`, which adds beta C where
/// they choose, the whole is (k + 3) u / (1 - (k + 3) u) (|alpha| sum_l |a_il b_lj| + |beta c_ij|).
///
/// Inf, NaN and subnormal numbers: every variant follows IEEE 754, `tensor` included: of float, it
/// scales rows and columns by powers of two, and where an operand holds an Inf or NaN the device
/// takes `register_tiled` for the whole product instead, without asking the host. Overflow of a
/// result gives Inf.
/// @param a stored as `options.a` says; in host memory, as spearman_all_pairs takes it.
/// @param b stored as `options.b` says, likewise.
/// @param c [m, n], a gpu::matrix or a view of elements that are not const; written whole, and read
/// where options.beta is not 0; must not overlap `a` or `b`.
/// @param options transposition, alpha, beta, variant, backend.
/// @throw gpu::invalid_argument where extents do not fit each other or `c` overlaps an operand;
///   gpu::unsupported where the variant is not offered for this backend, type, device or build;
///   gpu::backend_unavailable, gpu::out_of_memory, gpu::cuda_error.
/// Cost: 2 m n k operations. On CUDA another alpha or beta costs one more pass over C, beta not 0
/// also scratch memory of C's size. Blocks until `c` is complete; CUDA copies the
/// operands to the device in panels that fit `exec.workspace_bytes`.
template <matrix_like A, matrix_like B, detail::output_matrix C>
void matmul(const A& a, const B& b, C&& c, const matmul_options& options = {}) {
  using T = detail::matmul_element_of<A, B>;
  static_assert(detail::all_of_type<T, A, B, C>,
                "matmul: expected operands and a result of float, or all of double");
  if constexpr (detail::all_of_type<T, A, B, C>) {
    detail::matmul(detail::read_operand<T>(a), detail::read_operand<T>(b),
                   detail::view_as_matrix(c), options);
  }
}

/// As above, into a new gpu::matrix [m, n].
/// @throw gpu::invalid_argument also where options.beta is not 0: there is no C to read.
template <matrix_like A, matrix_like B>
[[nodiscard]] auto matmul(const A& a, const B& b, const matmul_options& options = {}) {
  using T = detail::matmul_element_of<A, B>;
  static_assert(detail::all_of_type<T, A, B>,
                "matmul: expected two operands of float, or two of double");
  const matrix_view<const T> left = detail::read_operand<T>(a);
  const matrix_view<const T> right = detail::read_operand<T>(b);
  detail::check_new_product(options);
  const detail::matmul_extents extents =
      detail::check_matmul_extents(left.rows(), left.cols(), right.rows(), right.cols(), options);
  matrix<T> c(extents.m, extents.n);
  detail::matmul(left, right, c.view(), options);
  return c;
}

/// As above on device memory: asynchronous on `options.exec.stream`, no synchronisation, and can
/// be captured into a CUDA graph. Scratch memory, where plan_matmul names some, is
/// `options.workspace` or comes from the stream's memory pool.
template <class A, class B, class C>
void matmul(device_matrix_view<A> a, device_matrix_view<B> b, device_matrix_view<C> c,
            const matmul_options& options = {}) {
  static_assert(detail::are_operands<A, B, C>,
                "matmul: expected operands and a result of float, or all of double, the result not "
                "const");
  if constexpr (detail::are_operands<A, B, C>) {
    detail::matmul<C>(device_matrix_view<const C>(a), device_matrix_view<const C>(b), c, options);
  }
}

/// What matmul would run for op(A) [m, k] and op(B) [k, n] of type T, without running it. The
/// workspace suffices for the device overload with operands of any alignment.
/// @throw gpu::invalid_argument for a negative extent; otherwise as matmul.
template <class T>
[[nodiscard]] matmul_plan plan_matmul(index_t m, index_t n, index_t k,
                                      const matmul_options& options = {}) {
  static_assert(detail::is_matmul_element<T>, "plan_matmul<T>: expected float or double as T");
  if constexpr (detail::is_matmul_element<T>) {
    return detail::plan_matmul<T>(m, n, k, options);
  } else {
    return {};
  }
}

/// "automatic", "naive", ...: the name of the enumerator.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(matmul_variant variant) noexcept;

}  // namespace v0
}  // namespace gpu
