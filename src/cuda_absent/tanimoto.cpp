#include "tanimoto/search.hpp"

#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

std::unique_ptr<tanimoto::search> make_tanimoto_search(const tanimoto::bit_tables&,
                                                       const tanimoto_options&) {
  throw_not_built();
}

}  // namespace gpu::cuda
