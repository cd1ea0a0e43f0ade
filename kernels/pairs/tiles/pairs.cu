// From the kind of tile at run time to the launches of its .cu file.

#include <stdexcept>
#include <type_traits>

#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/ready.hpp"

namespace gpu::kernels {

namespace {

// The kinds that any sink goes with.
template <pair_tile_kind... Kinds, class Sink>
void launch_any(pair_tile_kind tile, const pair_panel& panel, const Sink& sink,
                cudaStream_t stream) {
  (void)((tile == Kinds && (launch_tile<Kinds>(panel, sink, stream), true)) || ...);
}

}  // namespace

template <class Sink>
void launch_pairs(pair_tile_kind tile, const pair_panel& panel, const Sink& sink,
                  cudaStream_t stream) {
  using enum pair_tile_kind;
  if (is_ready(panel)) return launch_ready(panel, sink, stream);
  if (tile == tensor_half) {
    if constexpr (std::is_same_v<Sink, candidate_sink_args>) {
      return launch_tile<tensor_half>(panel, sink, stream);
    }
    throw std::logic_error("tensor_half: estimates do for candidates alone");
  }
  launch_any<naive_spearman, naive_pearson, shared_int8, shared_double, tensor_int8, tensor_limbs,
             tensor_float, tensor_double, products_double, products_limbs, products_half,
             pairwise_ranks, pairwise_values, signs>(tile, panel, sink, stream);
}

template void launch_pairs(pair_tile_kind, const pair_panel&, const candidate_sink_args&,
                           cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const count_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const bin_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const dense_sink_args&, cudaStream_t);

}  // namespace gpu::kernels
