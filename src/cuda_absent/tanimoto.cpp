#include "tanimoto/search.hpp"

#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

std::unique_ptr<tanimoto::search> make_tanimoto_search(const detail::measure_traits&,
                                                       const detail::pair_input&) {
  throw_not_built();
}
detail::engine_plan plan_tanimoto_search(const detail::pair_input&) {
  throw_not_built();
}
std::shared_ptr<detail::prepared_table> prepare_bits(const detail::pair_request&) {
  throw_not_built();
}

}  // namespace gpu::cuda
