// The CPU product through OpenBLAS; cpu/matmul/blas_absent.cpp stands in where there is none.
#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/parallel.hpp"
#include "cpu/matmul/matmul.hpp"

namespace gpu::cpu {
namespace {

// Extents are handed over in parts that OpenBLAS's 32-bit integers hold.
constexpr index_t largest_part = index_t{1} << 30;
constexpr index_t largest_stride = std::numeric_limits<blasint>::max();

// Holds OpenBLAS's process-wide thread count at `threads` for the life of the scope.
class blas_threads {
 public:
  explicit blas_threads(int threads) : lock_(mutex()), previous_(openblas_get_num_threads()) {
    openblas_set_num_threads(threads);
  }
  blas_threads(const blas_threads&) = delete;
  blas_threads& operator=(const blas_threads&) = delete;
  ~blas_threads() { openblas_set_num_threads(previous_); }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  int previous_;
};

CBLAS_TRANSPOSE cblas_of(transposition value) {
  return value == transposition::transpose ? CblasTrans : CblasNoTrans;
}

struct part {
  index_t begin;
  index_t size;
};

template <class T>
const T* element(matrix_view<const T> x, transposition how, index_t row, index_t col) {
  return how == transposition::none ? x.row(row) + col : x.row(col) + row;
}

template <class T>
void multiply_part(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                   const matmul_options& options, part rows, part cols, part depth) {
  const auto narrow = [](index_t value) { return static_cast<blasint>(value); };
  // A single row may have any stride: it is never followed.
  const auto stride = [&](index_t value) {
    return narrow(std::clamp<index_t>(value, 1, largest_stride));
  };
  const T* a_part = element(a, options.a, rows.begin, depth.begin);
  const T* b_part = element(b, options.b, depth.begin, cols.begin);
  T* c_part = c.row(rows.begin) + cols.begin;
  const auto alpha = static_cast<T>(options.alpha);
  const T beta = depth.begin == 0 ? static_cast<T>(options.beta) : T{1};
  if constexpr (sizeof(T) == sizeof(float)) {
    cblas_sgemm(CblasRowMajor, cblas_of(options.a), cblas_of(options.b), narrow(rows.size),
                narrow(cols.size), narrow(depth.size), alpha, a_part, stride(a.row_stride()),
                b_part, stride(b.row_stride()), beta, c_part, stride(c.row_stride()));
  } else {
    cblas_dgemm(CblasRowMajor, cblas_of(options.a), cblas_of(options.b), narrow(rows.size),
                narrow(cols.size), narrow(depth.size), alpha, a_part, stride(a.row_stride()),
                b_part, stride(b.row_stride()), beta, c_part, stride(c.row_stride()));
  }
}

template <class T>
bool fits(matrix_view<T> x) {
  return x.rows() <= 1 || x.row_stride() <= largest_stride;
}

}  // namespace

bool has_blas() {
  return true;
}

template <class T>
void matmul_blas(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                 const matmul_options& options) {
  const index_t depth = options.a == transposition::transpose ? a.rows() : a.cols();
  const bool has_product = depth > 0 && static_cast<T>(options.alpha) != T{0};
  if (c.empty() || !has_product || !fits(a) || !fits(b) || !fits(c)) {
    return matmul_naive(a, b, c, options);
  }
  const blas_threads scope(thread_count(options.exec.cpu_threads));
  const auto part_at = [](index_t begin, index_t size) {
    return part{begin, std::min(largest_part, size - begin)};
  };
  for (index_t i = 0; i < c.rows(); i += largest_part) {
    for (index_t j = 0; j < c.cols(); j += largest_part) {
      for (index_t l = 0; l < depth; l += largest_part) {
        multiply_part(a, b, c, options, part_at(i, c.rows()), part_at(j, c.cols()),
                      part_at(l, depth));
      }
    }
  }
}

template void matmul_blas(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                          const matmul_options&);
template void matmul_blas(matrix_view<const double>, matrix_view<const double>, matrix_view<double>,
                          const matmul_options&);

}  // namespace gpu::cpu
