// Options of one operation are not taken by another.
// MESSAGE: no matching function for call to
#include <gpu/rank.hpp>
#include <gpu/spearman.hpp>

auto use(gpu::matrix_view<const int> data) {
#ifdef MISUSE
  return gpu::spearman_all_pairs(data, gpu::rank_options{});
#else
  return gpu::spearman_all_pairs(data, gpu::spearman_options{});
#endif
}
