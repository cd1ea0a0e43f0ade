#pragma once
// Edges on their way to the output: taken in blocks, made to bytes by several threads, written in
// order, or each at its place where that is known, while the caller finds more.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "io/write/output_file.hpp"

namespace gpu::io {

/// Edges as they come. They are written in the background: the output belongs to the writer until
/// finish() returned, or the writer is gone, and what goes wrong may come out of a
/// later call.
class edge_writer {
 public:
  virtual ~edge_writer() = default;
  /// Copies `edges`.
  /// @throw what output_file::write throws.
  virtual void write(std::span<const edge> edges) = 0;
  /// Completes the file, which the caller then commits.
  /// @throw as write.
  virtual void finish() = 0;
};

/// Room for the bytes of a block, not initialised.
class block_text {
 public:
  /// At least `bytes`; what was there is lost where it grows.
  [[nodiscard]] char* room_for(std::size_t bytes) {
    if (bytes > size_) {
      bytes_ = std::make_unique_for_overwrite<char[]>(bytes);
      size_ = bytes;
    }
    return bytes_.get();
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

/// Writes blocks of edges to `out`, which nothing else may use between the first push() and the end
/// of finish() or the destructor. Threads start with the first full block: few edges
/// need none, and one thread is the caller's. No thread waits for its turn to write: the one that
/// completes the block whose turn it is writes that and all that are ready behind it, while the
/// others go on. Records as they are in memory have known places: in a file that has such, each
/// thread writes its own, and many edges at a time are written from where they lie.
class edge_pipeline {
 public:
  /// Makes the bytes of a block, on thread number `thread`; they stay valid as long as edges and
  /// text do.
  using formatter =
      std::function<std::string_view(std::span<const edge>, std::size_t thread, block_text& text)>;

  /// @param block_edges edges of a block.
  edge_pipeline(output_file& out, std::size_t threads, std::size_t block_edges, formatter format);
  /// Writes the edges as they are in memory; by no more than two where the output has no places.
  edge_pipeline(output_file& out, std::size_t threads, std::size_t block_edges);
  /// Leaves out what is not written yet.
  ~edge_pipeline();
  edge_pipeline(const edge_pipeline&) = delete;
  edge_pipeline& operator=(const edge_pipeline&) = delete;

  /// Takes `edges`, which need not stay. Few are copied, and the call waits only where the output
  /// is slower than the caller. Many that go to places are written before the call ends.
  /// @throw what writing an earlier block threw; nothing is written after that.
  void push(std::span<const edge> edges);
  /// Waits until everything is written.
  /// @throw as push.
  void finish();
  [[nodiscard]] std::uint64_t edges() const noexcept { return edges_; }

 private:
  struct block {
    std::uint64_t number = 0;
    std::uint64_t place = 0;  // in the output, where blocks have one
    std::vector<edge> copies;
    std::span<const edge> edges;  // `copies`, or edges of the caller
    block_text text;
    std::string_view bytes;  // of `edges` or `text`
    std::exception_ptr failure;
  };
  using owned_block = std::unique_ptr<block>;
  using locked = std::unique_lock<std::mutex>;

  [[nodiscard]] owned_block take_spare();
  void write_in_place(std::span<const edge> edges);
  void submit_current();
  void take_place(block& taken);
  void submit(owned_block full);
  void start_threads();
  void work(std::size_t thread);
  void format(block& taken, std::size_t thread);
  void write_ready(locked& lock);
  void write(block& ready, locked& lock);
  void wait_for_all();
  void rethrow_failure() const;

  output_file& out_;
  const std::size_t most_threads_;
  const std::size_t most_blocks_;  // submitted and not written yet
  const std::size_t block_edges_;
  formatter format_;
  bool has_places_ = false;  // blocks are written as they are formatted
  owned_block current_;      // that is being filled; null before the first edge
  std::uint64_t edges_ = 0;

  std::mutex mutex_;
  std::condition_variable came_;    // a block waits, or the end is near
  std::condition_variable turned_;  // a block is done
  std::deque<owned_block> waiting_;
  std::vector<owned_block> formatted_;  // block n at n modulo most_blocks_
  std::vector<owned_block> spare_;
  std::uint64_t submitted_ = 0;  // blocks
  std::uint64_t turn_ = 0;       // the block that is to be written next
  std::exception_ptr failure_;
  bool is_writing_ = false;    // some thread is
  bool is_abandoned_ = false;  // blocks are left out
  bool is_ending_ = false;     // threads end where no block waits
  std::vector<std::jthread> threads_;
};

}  // namespace gpu::io
