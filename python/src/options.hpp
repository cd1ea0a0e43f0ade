#pragma once
// Keyword options of Python as the option structures of the library.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gpu/execution.hpp>
#include <gpu/pair_options.hpp>

namespace gpu_python {

namespace nb = nanobind;

// The strings that name the values of the enumeration E; specialised in option_names.hpp.
template <class E>
struct enum_names;

// "two-sided" and "two_sided" are the same name.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;
// InvalidArgument: "adjust: got 'x', expected 'none', 'bonferroni' or ...".
[[noreturn]] void refuse_name(const char* option, std::string_view got,
                              const std::string& expected);

template <class E>
[[nodiscard]] E enum_from_name(const char* option, std::string_view got) {
  std::string expected;
  for (const auto& [name, value] : enum_names<E>::table) {
    if (same_name(name, got)) return value;
    expected += (expected.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  refuse_name(option, got, expected);
}

template <class E>
[[nodiscard]] std::string_view name_of(E value) noexcept {
  for (const auto& [name, candidate] : enum_names<E>::table) {
    if (candidate == value) return name;
  }
  return "";
}

// Reads the entries of a dict of keyword options. A missing entry or None leaves the default.
// check_all_read() refuses what nobody read, as Python refuses an unknown keyword.
class option_reader {
 public:
  explicit option_reader(nb::dict options) : options_(std::move(options)), left_(options_.size()) {}

  template <class E>
    requires std::is_enum_v<E>
  void read(const char* key, E& out) {
    const nb::handle value = take(key);
    if (value.is_valid()) out = enum_from_name<E>(key, text(key, value));
  }
  template <class T>
    requires(!std::is_enum_v<T>)
  void read(const char* key, T& out) {
    const nb::handle value = take(key);
    if (value.is_valid()) out = number<T>(key, value);
  }
  // The value itself; not valid where the entry is missing or None.
  [[nodiscard]] nb::handle take(const char* key);
  // A TypeError that names what nobody asked for, and what may have been meant.
  void check_all_read() const;
  [[noreturn]] static void refuse_type(const char* key, nb::handle value, const char* expected);

 private:
  static std::string text(const char* key, nb::handle value);

  template <class T>
  static T number(const char* key, nb::handle value) {
    T out{};
    if (!nb::try_cast<T>(value, out)) {
      refuse_type(key, value, std::is_integral_v<T> ? "an integer in range" : "a number");
    }
    return out;
  }

  nb::dict options_;
  std::size_t left_;
  // What was asked for while entries were left, for the message about those that stay.
  std::array<const char*, 40> asked_{};
  std::size_t asked_count_ = 0;
};

// The part of a job that a tuple (index, of) names; else a TypeError.
[[nodiscard]] gpu::pair_part read_part(nb::handle value);

// Where a call runs, and what lets Python interrupt it: while the library works the GIL is free;
// its progress callback takes the GIL, looks for signals (Ctrl-C) and calls the user's callback.
// An exception of either is kept, the run is cancelled, and the exception is raised at the end.
class execution_context {
 public:
  // Reads backend, devices, stream, workspace_bytes, cpu_threads and progress.
  explicit execution_context(option_reader& options);
  execution_context(const execution_context&) = delete;
  execution_context& operator=(const execution_context&) = delete;

  [[nodiscard]] const gpu::execution& execution() const noexcept { return execution_; }

  // work() without the GIL.
  template <class Work>
  auto run(const Work& work) {
    try {
      const nb::gil_scoped_release unlocked;
      return work();
    } catch (...) {
      raise_kept();
      throw;
    }
  }
  // Raises the exception that ended the run, if one did. With the GIL.
  void raise_kept();

 private:
  gpu::progress_reply on_progress(const gpu::progress& state);

  gpu::execution execution_;
  nb::object callback_;
  std::optional<nb::python_error> kept_;
  std::chrono::steady_clock::time_point next_check_;
};

// work(begin, end) without the GIL for pieces of [0, count); looks for signals between them.
template <class Work>
void in_pieces(gpu::index_t count, gpu::index_t most, const Work& work) {
  for (gpu::index_t begin = 0; begin < count; begin += most) {
    if (begin > 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    const nb::gil_scoped_release unlocked;
    work(begin, std::min(count, begin + most));
  }
}

// In the parent: whether the child is forked after CUDA was used here. In the child: takes that
// over.
void before_fork() noexcept;
void after_fork_in_child() noexcept;

}  // namespace gpu_python
