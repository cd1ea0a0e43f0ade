#include "options.hpp"

#include <atomic>
#include <cstring>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/plan.hpp>

#include "option_names.hpp"

namespace gpu_python {
namespace {

// Signals are looked for no more often: taking the GIL can wait for another thread's turn.
constexpr auto signal_interval = std::chrono::milliseconds(100);

// CUDA survives no fork: what its parent did with it decides whether a child may use it. A call
// that may have used it is remembered; no device is asked for its sake.
std::atomic<bool> may_use_cuda{false};
std::atomic<bool> used_at_fork{false};
std::atomic<bool> forked_after_cuda{false};

void check_fork(const gpu::execution& execution) {
  if (execution.target == gpu::backend::cpu) return;
  if (forked_after_cuda) {
    throw gpu::backend_unavailable(
        "backend: this process was forked after its parent had used CUDA, which does not survive a "
        "fork; start it with the method 'spawn' or 'forkserver', or ask for backend='cpu'");
  }
  may_use_cuda = true;
}

std::vector<int> read_devices(nb::handle value) {
  int one = 0;
  if (nb::try_cast<int>(value, one)) return {one};
  const auto refuse = [&] {
    option_reader::refuse_type("devices", value, "an integer or a sequence of integers");
  };
  if (PySequence_Check(value.ptr()) == 0) refuse();
  std::vector<int> all;
  for (const nb::handle item : value) {
    if (!nb::try_cast<int>(item, one)) refuse();
    all.push_back(one);
  }
  return all;
}

gpu::stream_ref read_stream(nb::handle value) {
  std::uintptr_t address = 0;
  if (!nb::try_cast<std::uintptr_t>(value, address)) {
    option_reader::refuse_type("stream", value, "the address of a CUDA stream as an integer");
  }
  return gpu::stream_ref(reinterpret_cast<CUstream_st*>(address));
}

bool is_same_character(char a, char b) {
  return a == b || (a == '_' && b == '-') || (a == '-' && b == '_');
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_same_character(a[i], b[i])) return false;
  }
  return true;
}

void refuse_name(const char* option, std::string_view got, const std::string& expected) {
  throw gpu::invalid_argument(std::string(option) + ": got '" + std::string(got) +
                              "', expected one of " + expected);
}

nb::handle option_reader::take(const char* key) {
  if (left_ == 0) return {};
  if (asked_count_ < asked_.size()) asked_[asked_count_++] = key;
  // A few entries: comparing their names costs less than making a string to look up, and most
  // differ in length.
  const auto length = static_cast<Py_ssize_t>(std::strlen(key));
  Py_ssize_t at = 0;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(options_.ptr(), &at, &name, &value) != 0) {
    if (PyUnicode_GetLength(name) != length) continue;
    if (PyUnicode_CompareWithASCIIString(name, key) != 0) continue;
    --left_;
    return value == Py_None ? nb::handle() : nb::handle(value);
  }
  return {};
}

void option_reader::check_all_read() const {
  if (left_ == 0) return;
  nb::list known;
  for (std::size_t i = 0; i < asked_count_; ++i) known.append(asked_[i]);
  for (const auto& [key, value] : options_) {
    if (PySequence_Contains(known.ptr(), key.ptr()) == 1) continue;
    const nb::module_ messages = nb::module_::import_("gpu_similarity._shared.messages");
    const nb::object message = messages.attr("unknown_keyword")(nb::str(key), known);
    throw nb::type_error(nb::cast<std::string>(message).c_str());
  }
}

std::string option_reader::text(const char* key, nb::handle value) {
  std::string out;
  if (!nb::try_cast<std::string>(value, out)) refuse_type(key, value, "a string");
  return out;
}

void option_reader::refuse_type(const char* key, nb::handle value, const char* expected) {
  const std::string message = std::string(key) + ": got " +
                              nb::cast<std::string>(nb::str(nb::repr(value))) + ", expected " +
                              expected;
  throw nb::type_error(message.c_str());
}

gpu::pair_part read_part(nb::handle value) {
  gpu::index_t index = 0;
  gpu::index_t of = 0;
  if (nb::isinstance<nb::tuple>(value) && nb::len(value) == 2 &&
      nb::try_cast<gpu::index_t>(value[0], index) && nb::try_cast<gpu::index_t>(value[1], of)) {
    return {.index = index, .of = of};
  }
  throw nb::type_error("part: expected a tuple of two integers, (index, of)");
}

execution_context::execution_context(option_reader& options)
    : next_check_(std::chrono::steady_clock::now() + signal_interval) {
  options.read("backend", execution_.target);
  options.read("workspace_bytes", execution_.workspace_bytes);
  options.read("cpu_threads", execution_.cpu_threads);
  const nb::handle devices = options.take("devices");
  if (devices.is_valid()) execution_.devices = read_devices(devices);
  const nb::handle stream = options.take("stream");
  if (stream.is_valid()) execution_.stream = read_stream(stream);
  const nb::handle callback = options.take("progress");
  if (callback.is_valid()) callback_ = nb::borrow(callback);
  execution_.on_progress = [this](const gpu::progress& state) { return on_progress(state); };
  check_fork(execution_);
}

gpu::progress_reply execution_context::on_progress(const gpu::progress& state) {
  if (kept_) return gpu::progress_reply::cancel;
  const auto now = std::chrono::steady_clock::now();
  const bool check = now >= next_check_;
  if (!check && !callback_.is_valid()) return gpu::progress_reply::proceed;
  next_check_ = now + signal_interval;
  const nb::gil_scoped_acquire locked;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback_.is_valid()) {
      const nb::object reply = callback_(state.stage, state.done, state.total);
      if (reply.is(nb::handle(Py_False))) return gpu::progress_reply::cancel;
    }
  } catch (nb::python_error& e) {
    kept_.emplace(std::move(e));
    return gpu::progress_reply::cancel;
  }
  return gpu::progress_reply::proceed;
}

void execution_context::raise_kept() {
  if (!kept_) return;
  nb::python_error kept = std::move(*kept_);
  kept_.reset();
  throw kept;
}

void before_fork() noexcept {
  used_at_fork = may_use_cuda && gpu::detail::has_used_cuda();
}

void after_fork_in_child() noexcept {
  if (used_at_fork) forked_after_cuda = true;
}

}  // namespace gpu_python
