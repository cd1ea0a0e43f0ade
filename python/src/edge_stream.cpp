#include "edge_stream.hpp"

#include "bindings.hpp"

namespace gpu_python {
namespace {

constexpr auto signal_interval = std::chrono::milliseconds(100);

// Thrown through the library to end a run whose stream was closed.
struct stream_closed {};

}  // namespace

edge_stream::edge_stream(nb::handle data, nb::dict keywords)
    : table_(data, "x"), reader_(std::move(keywords)), call_(reader_) {
  sink_.keep = call_.keep;
  reader_.read("order", sink_.order);
  reader_.read("batch_edges", sink_.batch_edges);
  reader_.check_all_read();
  sink_.consume = [this](std::span<const gpu::edge> edges) { push(edges); };
  // A run whose stream was closed also ends where it keeps nothing.
  const gpu::progress_callback ask_python = call_.options.exec.on_progress;
  call_.options.exec.on_progress = [this, ask_python](const gpu::progress& state) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return gpu::progress_reply::cancel;
    }
    return ask_python(state);
  };
  thread_ = std::thread([this] { work(); });
}

void edge_stream::work() {
  std::exception_ptr failure;
  std::optional<gpu::pair_summary> summary;
  try {
    summary = call_.all_pairs(table_, sink_);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  summary_ = std::move(summary);
  finished_ = true;
  changed_.notify_all();
}

void edge_stream::push(std::span<const gpu::edge> edges) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || waiting_.size() < most_waiting; });
  if (closed_) throw stream_closed{};
  waiting_.emplace_back(edges.begin(), edges.end());
  changed_.notify_all();
}

bool edge_stream::wait_for_batch() {
  const nb::gil_scoped_release unlocked;
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, signal_interval,
                           [&] { return closed_ || finished_ || !waiting_.empty(); });
}

nb::object edge_stream::next() {
  while (!wait_for_batch()) {
    if (PyErr_CheckSignals() != 0) {
      nb::python_error interrupt;
      close();
      throw interrupt;
    }
  }
  batch edges;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return nb::none();
    if (waiting_.empty()) {
      if (failure_) raise_failure();
      return nb::none();
    }
    edges = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
  }
  return vector_to_numpy(std::move(edges));
}

void edge_stream::raise_failure() {
  call_.context.raise_kept();
  std::rethrow_exception(failure_);
}

void edge_stream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
    changed_.notify_all();
  }
  if (!thread_.joinable()) return;
  const nb::gil_scoped_release unlocked;
  thread_.join();
}

nb::object edge_stream::summary() {
  const std::lock_guard lock(mutex_);
  if (!summary_) return nb::none();
  gpu::pair_summary copy = *summary_;
  return summary_tuple(std::move(copy), table_.cols());
}

void bind_edge_stream(nb::module_& module) {
  nb::class_<edge_stream>(module, "EdgeStream")
      .def(nb::init<nb::handle, nb::dict>(), nb::arg("x"), nb::arg("options"))
      .def("next", &edge_stream::next)
      .def("close", &edge_stream::close)
      .def("summary", &edge_stream::summary);
}

}  // namespace gpu_python
