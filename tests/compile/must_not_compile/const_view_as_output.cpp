// Results cannot be written through a view of constant elements.
#include <gpu/rank.hpp>

void use(gpu::device_matrix_view<const float> data, gpu::device_matrix_view<double> ranks) {
#ifdef MISUSE
  gpu::rank_rows(data, gpu::device_matrix_view<const double>(ranks));
#else
  gpu::rank_rows(data, ranks);
#endif
}
