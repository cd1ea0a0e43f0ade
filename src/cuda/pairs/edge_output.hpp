#pragma once
// Delivers decided edges from device memory to their receiver.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/edges/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Writes edges in their final form, copies them to page-locked memory and hands them to the
/// receiver in batches: while the receiver has one, the next are copied.
class edge_output {
 public:
  /// `expected`: about how many edges there will be. More edges have larger batches, which with the
  /// rest take at most about `room` bytes of device memory.
  edge_output(const detail::edge_request& request, const detail::edge_receiver& receive,
              double expected, std::size_t room);
  /// Waits for what is under way.
  ~edge_output();
  edge_output(const edge_output&) = delete;
  edge_output& operator=(const edge_output&) = delete;

  /// Device memory that such an output takes.
  static std::size_t bytes(const detail::edge_request& request, double expected, std::size_t room);

  /// Allocates what the delivery of `expected` edges needs, so that push() need not do it.
  void open(double expected);
  /// Hands on `count` edges once `ready` has passed, and records `read` where their memory may be
  /// written again. The last ones stay here until the next push() or drain().
  void push(const kernels::decided_edges& from, std::uint64_t count, const event& ready,
            const event& read);
  /// Hands on everything that was pushed.
  void drain();

 private:
  struct batch {
    // The edges, and behind them their checksum.
    explicit batch(std::size_t edges, cudaStream_t stream)
        : device(edges + 1, stream), host(edges + 1) {}
    device_buffer<edge> device;
    pinned_buffer<edge> host;
    event written;
    event copied;
    std::size_t count = 0;
    bool has_p = false;
  };
  // The bus copies half as fast into memory that the host has just read, because the lines are in
  // its caches. With four batches in turn, those of a batch have left the second level by then.
  static constexpr int batch_count = 4;
  // What a delivery takes. A call that keeps no edge makes none of it.
  struct lane {
    explicit lane(std::size_t batch_edges)
        : batches{batch(batch_edges, writing.get()), batch(batch_edges, writing.get()),
                  batch(batch_edges, writing.get()), batch(batch_edges, writing.get())} {}
    stream writing{stream::priority::high};
    stream copying{stream::priority::high};
    device_buffer<stats::p_table> table;
    stats::p_function p_of{};  // on the device, once there are enough edges for it
    batch batches[batch_count];
    int next = 0;  // the one pushed longest ago
    std::uint64_t pushed = 0;
  };

  // Makes the lane, and the table of p where there are enough edges with `count` more.
  lane& lane_for(std::uint64_t count);
  // Waits for the copy of a batch, where there is one, and hands it on.
  void hand_on(batch& from);

  const detail::edge_request& request_;
  const detail::edge_receiver& receive_;
  std::size_t batch_edges_;
  bool takes_table_;
  std::optional<lane> lane_;
};

}  // namespace gpu::cuda
