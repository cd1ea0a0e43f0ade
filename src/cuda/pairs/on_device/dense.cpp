// Dense results in the caller's device memory: the tiles write them there.
#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/tile_step.hpp"

namespace gpu::cuda {

template <class Value>
stream_dense<Value>::stream_dense(const call_shape& shape,
                                  const basic_device_dense_sink<Value>& sink, arena&)
    : shape_(shape), sink_(sink) {}

template <class Value>
void stream_dense<Value>::run(const stream_rows& rows, const detail::keep_range&,
                              cudaStream_t stream) const {
  if (shape_.format.ready) return;
  const auto step =
      dense_step(dense_tile_of<Value>(shape_.format), sink_.out.data(), sink_.out.row_stride(),
                 shape_.area.rows.begin, shape_.area.cols.begin);
  rows.for_each_panel(shape_.area.rows, shape_.area.cols, kernels::pair_region::whole, step.tile,
                      [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
}

template class stream_dense<double>;
template class stream_dense<float>;

}  // namespace gpu::cuda
