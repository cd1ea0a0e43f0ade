// From the kind of tile at run time to the launches of its .cu file.

#include <stdexcept>
#include <type_traits>

#include "kernels/pairs/tiles/launches.hpp"

namespace gpu::kernels {

template <class Sink>
void launch_pairs(pair_tile_kind tile, const pair_panel& panel, const Sink& sink,
                  cudaStream_t stream) {
  switch (tile) {
    case pair_tile_kind::naive_spearman:
      return launch_tile<pair_tile_kind::naive_spearman>(panel, sink, stream);
    case pair_tile_kind::naive_pearson:
      return launch_tile<pair_tile_kind::naive_pearson>(panel, sink, stream);
    case pair_tile_kind::shared_int8:
      return launch_tile<pair_tile_kind::shared_int8>(panel, sink, stream);
    case pair_tile_kind::shared_int16:
      return launch_tile<pair_tile_kind::shared_int16>(panel, sink, stream);
    case pair_tile_kind::shared_int32:
      return launch_tile<pair_tile_kind::shared_int32>(panel, sink, stream);
    case pair_tile_kind::shared_double:
      return launch_tile<pair_tile_kind::shared_double>(panel, sink, stream);
    case pair_tile_kind::tensor_int8:
      return launch_tile<pair_tile_kind::tensor_int8>(panel, sink, stream);
    case pair_tile_kind::tensor_limbs:
      return launch_tile<pair_tile_kind::tensor_limbs>(panel, sink, stream);
    case pair_tile_kind::tensor_float:
      return launch_tile<pair_tile_kind::tensor_float>(panel, sink, stream);
    case pair_tile_kind::tensor_half:
      if constexpr (std::is_same_v<Sink, candidate_sink_args>) {
        return launch_tile<pair_tile_kind::tensor_half>(panel, sink, stream);
      }
      throw std::logic_error("tensor_half: estimates do for candidates alone");
    case pair_tile_kind::products_double:
      return launch_tile<pair_tile_kind::products_double>(panel, sink, stream);
    case pair_tile_kind::products_integer:
      return launch_tile<pair_tile_kind::products_integer>(panel, sink, stream);
    case pair_tile_kind::products_limbs:
      return launch_tile<pair_tile_kind::products_limbs>(panel, sink, stream);
    case pair_tile_kind::products_half:
      return launch_tile<pair_tile_kind::products_half>(panel, sink, stream);
    case pair_tile_kind::pairwise_ranks:
      return launch_tile<pair_tile_kind::pairwise_ranks>(panel, sink, stream);
    case pair_tile_kind::pairwise_values:
      return launch_tile<pair_tile_kind::pairwise_values>(panel, sink, stream);
    case pair_tile_kind::signs:
      return launch_tile<pair_tile_kind::signs>(panel, sink, stream);
  }
}

template void launch_pairs(pair_tile_kind, const pair_panel&, const candidate_sink_args&,
                           cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const count_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const bin_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const dense_sink_args&, cudaStream_t);

}  // namespace gpu::kernels
