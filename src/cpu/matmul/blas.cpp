// The CPU product through OpenBLAS; cpu/matmul/blas_absent.cpp stands in where there is none.
#include <cblas.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>

#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "base/round_up.hpp"
#include "cpu/matmul/matmul.hpp"

namespace gpu::cpu {
namespace {

// Extents are handed over in parts that OpenBLAS's 32-bit integers hold.
constexpr index_t largest_part = index_t{1} << 30;
constexpr index_t largest_stride = std::numeric_limits<blasint>::max();
// Multiplies of a thread between two polls of the call's progress: a quarter of a second where a
// core does 16 in a nanosecond. Parts of C have at least the edge, and multiples of it, so that
// OpenBLAS works on them as fast as on the whole.
constexpr double work_per_poll = 0x1p32;
constexpr index_t least_edge = 128;

// Memory that a first product on `threads` threads may take: OpenBLAS keeps a buffer of up to
// 128 MiB a thread and one of the caller; the rest is for the stacks and heaps of the threads.
constexpr std::size_t blas_buffer_bytes = std::size_t{128} << 20;
constexpr std::size_t blas_thread_bytes = std::size_t{80} << 20;
constexpr std::size_t blas_bytes(int threads) {
  return (static_cast<std::size_t>(threads) + 1) * blas_buffer_bytes +
         (static_cast<std::size_t>(threads) - 1) * blas_thread_bytes;
}

// Where OpenBLAS gets no memory for a buffer it asks again for ever. So the address space of all
// buffers is asked for, and given back, before the first product on so many threads of this
// process: OpenBLAS keeps its buffers for later products, but not for a child of fork.
// The caller holds the lock of blas_threads.
void check_blas_memory(int threads) {
  static pid_t process = 0;
  static int held = 0;
  if (process != getpid()) {
    process = getpid();
    held = 0;
  }
  if (threads <= held) return;
  const std::size_t bytes = blas_bytes(threads);
  void* const probe =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) throw std::bad_alloc();
  munmap(probe, bytes);
  held = threads;
}

// Holds OpenBLAS's process-wide thread count at `threads` for the life of the scope.
class blas_threads {
 public:
  explicit blas_threads(int threads) : lock_(mutex()), previous_(openblas_get_num_threads()) {
    check_blas_memory(threads);
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

struct part_extents {
  index_t rows;
  index_t cols;
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

// Rows or columns of a part, of `extent` in all: about `wanted`, and parts are about as large.
index_t part_of(index_t extent, index_t wanted) {
  wanted = std::clamp(wanted / least_edge * least_edge, least_edge, largest_part);
  return round_up(ceil_div(extent, ceil_div(extent, wanted)), least_edge);
}

// Extents of the parts of C that are multiplied at once: squares, or all of the shorter extent.
part_extents parts_of(index_t rows, index_t cols, index_t depth, int threads) {
  const double area = work_per_poll * threads / static_cast<double>(depth);
  const double edge = std::sqrt(area);
  const auto beside = [&](index_t other) {
    const double most =
        static_cast<double>(other) < edge ? area / static_cast<double>(other) : edge;
    return static_cast<index_t>(std::min(most, static_cast<double>(largest_part)));
  };
  return {part_of(rows, beside(cols)), part_of(cols, beside(rows))};
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
  const int threads = detail::thread_count(options.exec.cpu_threads);
  const part_extents most = parts_of(c.rows(), c.cols(), depth, threads);
  const blas_threads scope(threads);
  for (index_t i = 0; i < c.rows(); i += most.rows) {
    const part rows{i, std::min(most.rows, c.rows() - i)};
    for (index_t j = 0; j < c.cols(); j += most.cols) {
      const part cols{j, std::min(most.cols, c.cols() - j)};
      for (index_t l = 0; l < depth; l += largest_part) {
        if (i + j + l > 0) detail::poll_progress();
        multiply_part(a, b, c, options, rows, cols, part{l, std::min(largest_part, depth - l)});
      }
    }
  }
}

template void matmul_blas(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                          const matmul_options&);
template void matmul_blas(matrix_view<const double>, matrix_view<const double>, matrix_view<double>,
                          const matmul_options&);

}  // namespace gpu::cpu
