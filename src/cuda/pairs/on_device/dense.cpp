// Dense results in the caller's device memory: the tiles write them there.
#include <type_traits>

#include "cuda/pairs/on_device/sinks.hpp"

namespace gpu::cuda {

template <class Value>
stream_dense<Value>::stream_dense(const call_shape& shape,
                                  const basic_device_dense_sink<Value>& sink, arena&)
    : shape_(shape), sink_(sink) {}

template <class Value>
void stream_dense<Value>::run(const stream_rows& rows, const detail::keep_range&,
                              cudaStream_t stream) const {
  kernels::dense_sink_args args{.pitch = sink_.out.row_stride(),
                                .first_row = shape_.area.rows.begin,
                                .first_col = shape_.area.cols.begin};
  if constexpr (std::is_same_v<Value, double>) {
    args.out_double = sink_.out.data();
  } else {
    args.out_float = sink_.out.data();
  }
  // A result in doubles has double precision.
  const kernels::pair_tile_kind tile =
      std::is_same_v<Value, double> ? shape_.format.exact_tile() : shape_.format.deciding_tile();
  rows.for_each_panel(
      shape_.area.rows, shape_.area.cols, kernels::pair_region::whole, tile,
      [&](const kernels::pair_panel& panel) { kernels::launch_pairs(tile, panel, args, stream); });
}

template class stream_dense<double>;
template class stream_dense<float>;

}  // namespace gpu::cuda
