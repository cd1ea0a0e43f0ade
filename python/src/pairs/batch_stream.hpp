#pragma once
// Edges as an iterator: the library pushes batches, Python pulls them.

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "pairs/pair_call.hpp"

namespace gpu_python {

// A run over all pairs on a thread of its own, which waits while `most_waiting` batches lie unread.
// Public members are called with the GIL held; none of them waits with it.
class batch_stream {
 public:
  batch_stream(nb::handle x, nb::handle y, nb::dict keywords);
  batch_stream(const batch_stream&) = delete;
  batch_stream& operator=(const batch_stream&) = delete;
  ~batch_stream() { close(); }

  // The next batch as an array of records, or None at the end. Raises what ended the run. Ctrl-C
  // ends the wait and closes the stream.
  nb::object next();
  // Ends the run and waits for its thread; the batches not read are dropped.
  void close();
  // The summary of a run that reached its end, else None.
  [[nodiscard]] nb::object summary();

 private:
  static constexpr std::size_t most_waiting = 2;
  using batch = std::vector<gpu::edge>;

  void read_sink(option_reader& reader);
  void start();
  void work();
  void push(std::span<const gpu::edge> edges);
  // Waits for a batch or the end. False where it is time to look for signals.
  bool wait_for_batch();
  [[noreturn]] void raise_failure();

  pair_tables tables_;
  option_reader reader_;
  pair_call call_;
  gpu::stream_sink sink_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<batch> waiting_;
  bool closed_ = false;
  bool finished_ = false;
  std::exception_ptr failure_;
  std::optional<gpu::pair_summary> summary_;
  std::thread thread_;
};

}  // namespace gpu_python
