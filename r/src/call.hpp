#pragma once
// How R calls the library: errors become values that R raises as conditions, options come as a
// named list, and Ctrl-C is looked for while the library works.

#include <cpp11/declarations.hpp>
#include <cpp11/protect.hpp>
#include <cpp11/sexp.hpp>

#include <exception>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/pair_options.hpp>

namespace gpu_r {

// A named list.
cpp11::sexp named_list(std::initializer_list<std::pair<const char*, cpp11::sexp>> members);

// What R raises as a condition of the class "gpusimilarity_<kind>"; `value` says more, or is NULL.
cpp11::sexp failure(const char* kind, const std::string& message, cpp11::sexp value = R_NilValue);
// The same of the exception that is being handled.
cpp11::sexp failure_of_exception();

// body() with exceptions of the library as failures; those of R go on as R's own.
template <class Body>
SEXP guarded(const Body& body) {
  BEGIN_CPP11
  try {
    return body();
  } catch (const cpp11::unwind_exception&) {
    throw;
  } catch (...) {
    return failure_of_exception();
  }
  END_CPP11
}

// Numbers of R for those of the library. A double holds every whole number up to 2^53.
template <class Value>
cpp11::sexp vector_of(const Value* values, std::size_t size) {
  cpp11::sexp out = cpp11::safe[Rf_allocVector](REALSXP, static_cast<R_xlen_t>(size));
  double* const to = REAL(out);
  for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<double>(values[i]);
  return out;
}
template <class Values>
cpp11::sexp vector_of(const Values& values) {
  return vector_of(values.data(), values.size());
}
// The numbers of rows as R counts them, from 1.
cpp11::sexp places_of(const std::vector<gpu::index_t>& rows);
cpp11::sexp number_of(double value);
cpp11::sexp text_of(std::string_view text);

// The strings that name the values of the enumeration E; specialised in option_names.hpp.
template <class E>
struct enum_names;

// Throws: "adjust: got 'x', expected one of 'none', ...".
[[noreturn]] void refuse_name(const char* option, std::string_view got,
                              const std::string& expected);
// Whether two names are the same to R's users: capitals, '-', '_', '.' and ' ' are alike.
bool same_name(std::string_view a, std::string_view b) noexcept;

template <class E>
[[nodiscard]] E enum_from_name(const char* option, std::string_view got) {
  std::string expected;
  for (const auto& [name, value] : enum_names<E>::table) {
    if (same_name(name, got)) return value;
    expected += (expected.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  refuse_name(option, got, expected);
}

// Reads the members of a named list of options. What is missing or NULL leaves the default.
// check_all_read() refuses what nobody read.
class option_reader {
 public:
  explicit option_reader(SEXP options);

  template <class E>
    requires std::is_enum_v<E>
  void read(const char* key, E& out) {
    const SEXP value = take(key);
    if (value != R_NilValue) out = enum_from_name<E>(key, text(key, value));
  }
  // Integers and real numbers: whole and in range where `out` is an integer.
  template <class T>
    requires std::is_arithmetic_v<T>
  void read(const char* key, T& out) {
    const SEXP value = take(key);
    if (value == R_NilValue) return;
    if constexpr (std::is_same_v<T, bool>) {
      out = flag(key, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      out = number(key, value);
    } else {
      out = static_cast<T>(
          whole(key, number(key, value), std::is_signed_v<T> ? -largest<T>() : 0, largest<T>()));
    }
  }
  // Any number of numbers.
  [[nodiscard]] std::vector<double> numbers(const char* key);
  // The value itself; R_NilValue where there is none.
  [[nodiscard]] SEXP take(const char* key);
  void check_all_read() const;

  // A whole number from least to most; infinity is `most`.
  static double whole(const char* key, double value, double least, double most);

 private:
  template <class T>
  static constexpr double largest() {
    return std::numeric_limits<T>::digits > 53 ? 9007199254740992.0
                                               : static_cast<double>(std::numeric_limits<T>::max());
  }
  static std::string text(const char* key, SEXP value);
  static double number(const char* key, SEXP value);
  static bool flag(const char* key, SEXP value);

  cpp11::sexp options_;
  std::vector<std::string> names_;
  std::vector<bool> is_read_;
  std::string asked_;
};

// The part of a job that c(index, of) names, with the index from 1.
[[nodiscard]] gpu::pair_part read_part(option_reader& options);

// Where a call runs, and what lets R interrupt it. The library calls back on the thread that called
// it, which is R's: there Ctrl-C is looked for and the caller's function is called. What R raises
// is kept until the library has come back, and is raised then.
class execution_context {
 public:
  // Reads backend, devices, workspace_bytes, cpu_threads and progress.
  explicit execution_context(option_reader& options);
  execution_context(const execution_context&) = delete;
  execution_context& operator=(const execution_context&) = delete;

  [[nodiscard]] const gpu::execution& execution() const noexcept { return execution_; }

  template <class Work>
  auto run(const Work& work) {
    try {
      return work();
    } catch (const gpu::cancelled&) {
      if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
      throw;
    }
  }

 private:
  gpu::progress_reply on_progress(const gpu::progress& state);

  gpu::execution execution_;
  cpp11::sexp callback_;
  std::exception_ptr kept_;
};

// Looks after forks (parallel::mclapply): CUDA of the parent fails in a child. A child has
// one thread, since as many children run as there are cores, and CUDA is refused where the parent
// used it.
void watch_forks();

}  // namespace gpu_r
