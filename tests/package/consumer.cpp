// A program of a user of the library: finds which rows of a small table move together.
#include <cstdlib>
#include <iostream>
#include <vector>

#include <gpu/similarity.hpp>

int main() {
  const std::vector<int> table{1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 9, 4, 7, 6};
  const gpu::matrix_view<const int> rows(table.data(), 3, 5);
  std::cout << "gpu_similarity " << GPU_SIMILARITY_VERSION << '\n';
  for (const auto& backend : gpu::available_backends()) {
    std::cout << backend.name << ": " << backend.description << '\n';
  }
  const auto result = gpu::spearman_all_pairs(rows, {.exec = {.target = gpu::backend::cpu}},
                                              gpu::edge_sink{.keep = {.min_abs = 0.9}});
  for (const gpu::edge& edge : result.edges) {
    std::cout << edge.row << ' ' << edge.col << ' ' << edge.statistic << '\n';
  }
  const bool right = result.edges.size() == 1 && result.edges[0].statistic == -1.0;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
