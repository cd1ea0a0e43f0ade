#include "pairs/batch_stream.hpp"

#include <system_error>

#include <gpu/error.hpp>

#include "bindings.hpp"
#include "pairs/patterns.hpp"

namespace gpu_python {
namespace {

constexpr auto signal_interval = std::chrono::milliseconds(100);

// Thrown through the library to end a run whose stream was closed.
struct stream_closed {};

}  // namespace

template <class Sink>
batch_stream<Sink>::batch_stream(nb::handle x, nb::handle y, nb::dict keywords)
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

template <class Sink>
void batch_stream<Sink>::start() {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& e) {
    throw gpu::out_of_memory(std::string("stream: no thread can be started for it (") + e.what() +
                                 "): memory or the number of threads does not suffice",
                             0);
  }
}

template <class Sink>
void batch_stream<Sink>::read_sink(option_reader& reader) {
  sink_.keep = call_.keep;
  reader.read("order", sink_.order);
  reader.read("batch_edges", sink_.batch_edges);
  sink_.consume = [this](std::span<const record> edges) { push(edges); };
  if constexpr (is_folded) {
    sink_.begin = [this](const gpu::row_patterns& patterns) {
      const std::lock_guard lock(mutex_);
      patterns_ = patterns;
    };
  }
}

template <class Sink>
gpu::pair_summary batch_stream<Sink>::run() {
  if constexpr (is_folded) {
    return gpu::spearman_all_pairs(tables_.x(), call_.options, sink_);
  } else {
    return call_.all_pairs(tables_, sink_);
  }
}

template <class Sink>
void batch_stream<Sink>::work() {
  std::exception_ptr failure;
  std::optional<gpu::pair_summary> summary;
  try {
    summary = run();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  summary_ = std::move(summary);
  finished_ = true;
  changed_.notify_all();
}

template <class Sink>
void batch_stream<Sink>::push(std::span<const record> edges) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || waiting_.size() < most_waiting; });
  if (closed_) throw stream_closed{};
  waiting_.emplace_back(edges.begin(), edges.end());
  changed_.notify_all();
}

template <class Sink>
bool batch_stream<Sink>::wait_for_batch() {
  const nb::gil_scoped_release unlocked;
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, signal_interval,
                           [&] { return closed_ || finished_ || !waiting_.empty(); });
}

template <class Sink>
nb::object batch_stream<Sink>::next() {
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

template <class Sink>
void batch_stream<Sink>::raise_failure() {
  call_.context.raise_kept();
  std::rethrow_exception(failure_);
}

template <class Sink>
void batch_stream<Sink>::close() {
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

template <class Sink>
nb::object batch_stream<Sink>::summary() {
  const std::lock_guard lock(mutex_);
  if (!summary_) return nb::none();
  gpu::pair_summary copy = *summary_;
  return summary_of(std::move(copy), tables_).told();
}

template <class Sink>
nb::object batch_stream<Sink>::patterns() {
  const std::lock_guard lock(mutex_);
  if (!patterns_) return nb::none();
  gpu::row_patterns copy = *patterns_;
  return patterns_tuple(std::move(copy));
}

namespace {

template <class Sink>
void bind_stream(nb::module_& module, const char* name) {
  using stream = batch_stream<Sink>;
  nb::class_<stream>(module, name)
      .def(nb::init<nb::handle, nb::handle, nb::dict>(), nb::arg("x"), nb::arg("y").none(),
           nb::arg("options"))
      .def("next", &stream::next)
      .def("close", &stream::close)
      .def("summary", &stream::summary)
      .def("patterns", &stream::patterns);
}

}  // namespace

void bind_batch_streams(nb::module_& module) {
  bind_stream<gpu::stream_sink>(module, "EdgeStream");
  bind_stream<gpu::folded_stream_sink>(module, "FoldedStream");
}

}  // namespace gpu_python
