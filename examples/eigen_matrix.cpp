// A matrix of Eigen, column by column as it is: its columns are samples, its rows genes. A type of
// another library is taken by every call once gpu::matrix_access says how to view it.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <Eigen/Dense>
#include <gpu/similarity.hpp>

// What has the elements of an Eigen matrix in memory: matrices, maps and blocks of either order.
template <class Matrix>
  requires std::derived_from<Matrix, Eigen::DenseBase<Matrix>> &&
           (static_cast<bool>(Matrix::Flags & Eigen::DirectAccessBit) &&
            Matrix::InnerStrideAtCompileTime == 1)
struct gpu::matrix_access<Matrix> {
  static auto view(const Matrix& x) {
    using value = const typename Matrix::Scalar;
    if constexpr (Matrix::IsRowMajor) {
      return gpu::matrix_view<value>(x.derived().data(), x.rows(), x.cols(), x.outerStride());
    } else {
      return gpu::column_matrix_view<value>(x.derived().data(), x.rows(), x.cols(),
                                            x.outerStride());
    }
  }
};

namespace {

// The correlation of rows i and j, by Eigen.
double by_eigen(const Eigen::MatrixXd& x, Eigen::Index i, Eigen::Index j) {
  const Eigen::VectorXd a = x.row(i).array() - x.row(i).mean();
  const Eigen::VectorXd b = x.row(j).array() - x.row(j).mean();
  return a.dot(b) / (a.norm() * b.norm());
}

void run() {
  std::srand(1);
  Eigen::MatrixXd genes = Eigen::MatrixXd::Random(200, 40);
  for (Eigen::Index i = 1; i < 10; ++i) genes.row(i) += 2 * genes.row(0);

  const auto edges = gpu::pearson_all_pairs(genes, gpu::edge_sink{.keep = {.max_p = 1e-6}});
  double largest_difference = 0;
  for (const gpu::edge& e : edges) {
    largest_difference =
        std::max(largest_difference, std::abs(e.statistic - by_eigen(genes, e.row, e.col)));
  }
  std::printf("%td edges, at most %.1e from Eigen's own\n", edges.end() - edges.begin(),
              largest_difference);

  // A block is taken as well, and the transpose compares its columns.
  const auto some = genes.topRows(50);
  const auto samples = gpu::pearson_all_pairs(gpu::transposed(some), gpu::dense_sink{});
  std::printf("samples 0 and 1: r %.3f, by Eigen %.3f\n", samples(0, 1),
              by_eigen(some.transpose(), 0, 1));
  if (edges.edges.empty() || largest_difference > 1e-12) throw std::runtime_error("other answers");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "eigen_matrix: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
