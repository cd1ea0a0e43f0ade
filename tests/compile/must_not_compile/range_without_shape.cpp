// A range has no rows and columns until it is told them.
// MESSAGE: no matching function for call to
#include <vector>

#include <gpu/spearman.hpp>

auto use(const std::vector<double>& data) {
#ifdef MISUSE
  return gpu::spearman_all_pairs(data);
#else
  return gpu::spearman_all_pairs(gpu::as_matrix(data, 10, 10));
#endif
}
