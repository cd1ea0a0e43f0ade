#pragma once
// The sinks of device results, each in a file of its own.

#include <cuda_runtime_api.h>

#include <memory>

#include <gpu/device_sinks.hpp>

#include "base/keep_range.hpp"
#include "cuda/pairs/on_device/stream_rows.hpp"

namespace gpu::cuda {

/// A sink takes its scratch memory from the call's arena when it is made, and runs once the rows
/// are prepared.
class stream_sink {
 public:
  explicit stream_sink(row_extra extra) : extra_(extra) {}
  virtual ~stream_sink() = default;
  stream_sink(const stream_sink&) = delete;
  stream_sink& operator=(const stream_sink&) = delete;

  /// What tiles need besides the rows.
  [[nodiscard]] row_extra extra() const { return extra_; }
  /// What has to be zero before it runs.
  [[nodiscard]] virtual kernels::zeroed_words zeros() const { return {}; }
  /// Before rows are prepared whose statistics are ready then: where they go, if they are the
  /// result.
  virtual void take_ready(stream_rows& /*rows*/) const {}
  virtual void run(const stream_rows& rows, const detail::keep_range& keep,
                   cudaStream_t stream) const = 0;

 private:
  row_extra extra_;
};

/// `shape` and `sink` outlive what is made.
template <class Value>
std::unique_ptr<stream_sink> make_sink(const call_shape& shape,
                                       const basic_device_dense_sink<Value>& sink, arena& memory);
std::unique_ptr<stream_sink> make_sink(const call_shape& shape, const device_count_sink& sink,
                                       arena& memory);
std::unique_ptr<stream_sink> make_sink(const call_shape& shape, const device_edge_sink& sink,
                                       arena& memory);
std::unique_ptr<stream_sink> make_sink(const call_shape& shape, const device_top_k_sink& sink,
                                       arena& memory);

/// Whether a screen is expected to find the edges; else nothing is made ready for one.
bool is_screened(const call_shape& shape, const device_edge_sink& sink);

}  // namespace gpu::cuda
