// Dense results in the caller's device memory: the tiles write them there.
#include <type_traits>

#include "cuda/pairs/on_device/sinks.hpp"

namespace gpu::cuda {
namespace {

template <class Value>
class stream_dense final : public stream_sink {
 public:
  stream_dense(const call_shape& shape, const basic_device_dense_sink<Value>& sink)
      : stream_sink(std::is_same_v<Value, float> ? row_extra::dense_floats : row_extra::dense),
        shape_(shape),
        sink_(sink) {}

  void take_ready(stream_rows& rows) const override { rows.write_to(sink_.out); }
  void run(const stream_rows& rows, const detail::keep_range&, cudaStream_t stream) const override {
    if (shape_.format.ready) return;
    const detail::pair_area& area = shape_.area;
    rows.launch(dense_step(dense_tile_of<Value>(shape_.format), sink_.out.data(),
                           sink_.out.row_stride(), area.rows.begin, area.cols.begin),
                area.rows, kernels::pair_region::whole, stream);
  }

 private:
  const call_shape& shape_;
  const basic_device_dense_sink<Value>& sink_;
};

}  // namespace

template <class Value>
std::unique_ptr<stream_sink> make_sink(const call_shape& shape,
                                       const basic_device_dense_sink<Value>& sink, arena&) {
  return std::make_unique<stream_dense<Value>>(shape, sink);
}
template std::unique_ptr<stream_sink> make_sink<double>(const call_shape&, const device_dense_sink&,
                                                        arena&);
template std::unique_ptr<stream_sink> make_sink<float>(const call_shape&,
                                                       const device_dense_sink_f32&, arena&);

}  // namespace gpu::cuda
