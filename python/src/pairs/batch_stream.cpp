#include "pairs/batch_stream.hpp"

#include <system_error>

#include <gpu/error.hpp>

#include "bindings.hpp"

namespace gpu_python {
namespace {

constexpr auto signal_interval = std::chrono::milliseconds(100);

// Thrown through the library to end a run whose stream was closed.
struct stream_closed {};

}  // namespace

batch_stream::batch_stream(nb::handle x, nb::handle y, nb::dict keywords)
    : tables_(x, y), reader_(std::move(keywords)), call_(reader_) {
  read_sink(reader_);
  reader_.check_all_read();
  // A run whose stream was closed also ends where it keeps nothing.
  const gpu::progress_callback ask_python = call_.options.exec.on_progress;
  call_.options.exec.on_progress = [this, ask_python](const gpu::progress& state) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return gpu::progress_reply::cancel;
    }
    return ask_python(state);
  };
  start();
}

void batch_stream::start() {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& e) {
    throw gpu::out_of_memory(std::string("stream: no thread can be started for it (") + e.what() +
                                 "): memory or the number of threads does not suffice",
                             0);
  }
}

void batch_stream::read_sink(option_reader& reader) {
  sink_.keep = call_.keep;
  reader.read("order", sink_.order);
  reader.read("batch_edges", sink_.batch_edges);
  sink_.consume = [this](std::span<const gpu::edge> edges) { push(edges); };
}

void batch_stream::work() {
  std::exception_ptr failure;
  std::optional<gpu::pair_summary> summary;
  try {
    summary = call_.all_pairs(tables_, sink_);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  summary_ = std::move(summary);
  finished_ = true;
  changed_.notify_all();
}

void batch_stream::push(std::span<const gpu::edge> edges) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || waiting_.size() < most_waiting; });
  if (closed_) throw stream_closed{};
  waiting_.emplace_back(edges.begin(), edges.end());
  changed_.notify_all();
}

bool batch_stream::wait_for_batch() {
  const nb::gil_scoped_release unlocked;
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, signal_interval,
                           [&] { return closed_ || finished_ || !waiting_.empty(); });
}

nb::object batch_stream::next() {
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

void batch_stream::raise_failure() {
  call_.context.raise_kept();
  std::rethrow_exception(failure_);
}

void batch_stream::close() {
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

nb::object batch_stream::summary() {
  const std::lock_guard lock(mutex_);
  if (!summary_) return nb::none();
  gpu::pair_summary copy = *summary_;
  return summary_of(std::move(copy), tables_).told();
}

void bind_batch_streams(nb::module_& module) {
  nb::class_<batch_stream>(module, "EdgeStream")
      .def(nb::init<nb::handle, nb::handle, nb::dict>(), nb::arg("x"), nb::arg("y").none(),
           nb::arg("options"))
      .def("next", &batch_stream::next)
      .def("close", &batch_stream::close)
      .def("summary", &batch_stream::summary);
}

}  // namespace gpu_python
