#include "cuda/pairs/hopper/classed_rows.hpp"

#include <vector>

#include "cuda/pairs/hopper/class_counting.hpp"

namespace gpu::cuda {
namespace {

// The host memory may end once this returns.
template <class T>
device_buffer<T> upload(const std::vector<T>& from, cudaStream_t stream) {
  device_buffer<T> to(from.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyHostToDevice, stream));
  return to;
}

}  // namespace

std::size_t ordered_classes::bytes(index_t rows, index_t cols) {
  return static_cast<std::size_t>(rows) * sizeof(std::uint32_t) +
         kernels::screen_order_bytes(rows) +
         2 * static_cast<std::size_t>(largest_square_sum(cols) + 1) * sizeof(std::uint32_t);
}

ordered_classes::ordered_classes(const device_rows& rows, const area_sides& sides,
                                 cudaStream_t stream)
    : ranks_{.ranks = static_cast<const std::int8_t*>(rows.all().values),
             .stride = rows.all().pitch,
             .cols = rows.format().cols,
             .square_sums = rows.all().square_sums},
      sides_(sides),
      count_(rows.count()),
      order_(static_cast<std::size_t>(rows.count()), stream),
      layout_(find_layout(stream)) {}

kernels::class_order ordered_classes::order() const {
  const index_t rows = sides_.left + sides_.right;
  return {.square_sums = ranks_.square_sums,
          .order = order_.data() + (count_ - rows),
          .left = sides_.left,
          .rows = rows,
          .side_keys = static_cast<std::uint32_t>(largest_square_sum(ranks_.cols) + 1)};
}

class_layout ordered_classes::find_layout(cudaStream_t stream) {
  const index_t largest = largest_square_sum(ranks_.cols);
  const device_buffer<std::byte> temporary(kernels::screen_order_bytes(count_), stream);
  kernels::launch_screen_order(ranks_.square_sums, count_, sides_.rows, largest, order_.data(),
                               temporary.data(), stream);
  const auto side_keys = static_cast<std::size_t>(largest + 1);
  const device_buffer<std::uint32_t> starts(sides_.right > 0 ? 2 * side_keys : side_keys, stream);
  static_assert(class_layout::no_rows == 0xffffffffU);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(starts.data(), 0xff, starts.bytes(), stream));
  kernels::launch_class_starts(order(), starts.data(), stream);
  std::vector<std::uint32_t> host_starts(starts.size());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_starts.data(), starts.data(), starts.bytes(),
                                            cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return {host_starts, sides_.left + sides_.right, side_keys, sides_.rows.within};
}

std::size_t classed_rows::bytes(const class_layout& layout, int depth) {
  const auto padded = static_cast<std::size_t>(layout.padded_rows());
  return padded * (sizeof(std::uint32_t) + 1 + static_cast<std::size_t>(depth)) +
         layout.shifts.size() * sizeof(std::uint32_t) + (std::size_t{1} << 20);
}

classed_rows::classed_rows(const ordered_classes& classes, int depth, cudaStream_t stream)
    : slots_(static_cast<std::size_t>(classes.layout().padded_rows()), stream),
      tiles_(static_cast<std::size_t>(classes.layout().padded_rows() * depth), stream),
      extents_(upload<kernels::class_extents>(
          {{.items = classes.layout().items(),
            .chunk_blocks = classes.layout().chunk_blocks,
            .blocks = static_cast<std::uint32_t>(classes.layout().square_sums.size()),
            .left_blocks = static_cast<std::uint32_t>(classes.layout().left_blocks)}},
          stream)),
      square_sums_(upload(classes.layout().square_sums, stream)),
      panels_(upload(classes.layout().panels, stream)),
      items_before_(upload(classes.layout().items_before, stream)),
      first_panel_(upload(classes.layout().first_panel, stream)),
      packed_{.depth = depth,
              .padded_rows = classes.layout().padded_rows(),
              .extents = extents_.data(),
              .slots = slots_.data(),
              .tiles = tiles_.data(),
              .square_sums = square_sums_.data(),
              .panels = panels_.data(),
              .items_before = items_before_.data(),
              .first_panel = first_panel_.data()} {
  const device_buffer<std::uint32_t> shifts = upload(classes.layout().shifts, stream);
  kernels::launch_class_slots(classes.order(), shifts.data(), packed_, stream);
  kernels::launch_class_pack(classes.ranks(), packed_, stream);
}

}  // namespace gpu::cuda
