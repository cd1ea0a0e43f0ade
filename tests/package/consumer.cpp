// A program of a user of the library.
#include <cstdlib>
#include <iostream>
#include <vector>

#include <gpu/similarity.hpp>

int main() {
  const std::vector<int> table{1, 2, 3, 4, 5, 5, 4, 3, 2, 1};
  const gpu::matrix_view<const int> rows(table.data(), 2, 5);
  std::cout << "gpu_similarity " << GPU_SIMILARITY_VERSION << ", " << rows.rows() << " rows\n";
  for (const auto& backend : gpu::available_backends()) {
    std::cout << backend.name << ": " << backend.description << '\n';
  }
  return gpu::resolve_backend({.target = gpu::backend::cpu}) == gpu::backend::cpu ? EXIT_SUCCESS
                                                                                  : EXIT_FAILURE;
}
