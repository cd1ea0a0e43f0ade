#pragma once
// Delivers decided edges from device memory to their receiver.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/edges/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Writes edges in their final form, or packed where the receiver takes them, copies them to
/// page-locked memory and hands them to the receiver in batches: while the receiver has one, the
/// next are copied.
class edge_output {
 public:
  /// `expected`: about how many edges there will be. More edges have larger batches, which with the
  /// rest take at most about `room` bytes of device memory.
  edge_output(const detail::edge_request& request, detail::edge_receiver& receiver, double expected,
              std::size_t room);

  [[nodiscard]] std::size_t bytes() const;

  /// Allocates what the delivery of `expected` edges needs, so that push() need not do it.
  void open(double expected);
  /// Hands on `count` edges once `ready` has passed, and records `read` where their memory may be
  /// written again. The last ones stay here until the next push() or drain().
  void push(const kernels::decided_edges& from, std::uint64_t count, const event& ready,
            const event& read);
  /// Waits until `what` has passed, and hands on what arrives meanwhile.
  void wait_for(const event& what);
  void drain();

 private:
  // How edges are cut into batches.
  struct batch_plan {
    bool packed;
    std::size_t count;
    std::size_t edges;        // of one
    std::size_t batch_bytes;  // of the edges and of their checksum behind them
    // Edges that a batch has room for, packed or whole.
    [[nodiscard]] std::size_t most_edges(bool pack) const;
  };
  // The bus copies half as fast into memory whose lines are in the host's caches. With four buffers
  // the lines of one have left the second-level cache before the device writes it again.
  static constexpr std::size_t whole_batches = 4;
  static constexpr std::size_t packed_batches = 8;  // half as large

  struct batch {
    explicit batch(std::size_t bytes, cudaStream_t stream) : device(bytes, stream), host(bytes) {}
    device_buffer<std::byte> device;
    pinned_buffer<std::byte> host;
    event written;
    event copied;
    std::size_t count = 0;
    bool packed = false;
    kernels::edge_key_layout layout{};  // of packed ones
    bool has_p = false;                 // of whole ones
  };
  // What a delivery takes. A call that keeps no edge makes none of it.
  struct lane {
    explicit lane(const batch_plan& plan);
    stream writing{stream::priority::high};
    stream copying{stream::priority::high};
    device_buffer<stats::p_table> table;
    stats::p_function p_of{};  // on the device, once there are enough whole edges for it
    std::vector<batch> batches;
    std::size_t next = 0;  // the one to be written next
    std::size_t sent = 0;  // batches before it that are on their way
    std::uint64_t pushed_whole = 0;
    stream_guard guards[2] = {stream_guard(writing.get()), stream_guard(copying.get())};
  };

  [[nodiscard]] batch_plan plan_batches(double expected, std::size_t room) const;
  lane& open_lane();
  // Gives the lane the table of p, where it may have one.
  void send_table();
  void write(const kernels::decided_edges& from, std::uint64_t first, batch& to);
  batch& oldest() {
    const std::size_t batches = lane_->batches.size();
    return lane_->batches[(lane_->next + batches - lane_->sent) % batches];
  }
  // Waits for the copy of that batch and hands it on.
  void hand_on_oldest();

  const detail::edge_request& request_;
  detail::edge_receiver& receiver_;
  batch_plan plan_;
  bool takes_table_;
  std::optional<lane> lane_;
};

}  // namespace gpu::cuda
