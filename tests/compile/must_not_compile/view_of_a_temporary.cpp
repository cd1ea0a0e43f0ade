// A view is taken of a matrix that has a name; a call that blocks may be handed a temporary.
// MESSAGE: no matching function for call to .*borrowed_matrix
#include <gpu/rank.hpp>

auto use() {
#ifdef MISUSE
  return gpu::view_of(gpu::matrix<double>(2, 3));
#else
  return gpu::rank_rows(gpu::matrix<double>(2, 3));
#endif
}
