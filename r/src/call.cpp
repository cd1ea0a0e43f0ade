#include "call.hpp"

#include <pthread.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include <gpu/execution.hpp>

#include "option_names.hpp"

namespace gpu_r {
namespace {

bool cuda_used = false;
bool forked = false;
bool forked_after_cuda = false;

// The threads that a call of R may have: 0 is the library's choice.
int default_threads() {
  if (forked) return 1;
  const char* const limit = std::getenv("_R_CHECK_LIMIT_CORES_");
  if (limit == nullptr || *limit == '\0' || same_name(limit, "false")) return 0;
  return 2;
}

void check_fork(const gpu::execution& execution) {
  if (execution.target == gpu::backend::cpu) return;
  if (forked_after_cuda) {
    throw gpu::backend_unavailable(
        "backend: this process was forked (by parallel::mclapply, say) after its parent had used "
        "CUDA, which does not survive a fork; use a cluster of processes "
        "(parallel::makePSOCKcluster), or ask for backend = \"cpu\"");
  }
  if (!cuda_used && gpu::resolve_backend(execution) == gpu::backend::cuda) cuda_used = true;
}

bool is_left_out(char c) {
  return c == '-' || c == '_' || c == '.' || c == ' ';
}

const char* kind_of(gpu::error_code code) {
  switch (code) {
    case gpu::error_code::invalid_argument:
      return "invalid_argument";
    case gpu::error_code::unsupported:
      return "unsupported";
    case gpu::error_code::backend_unavailable:
      return "backend_unavailable";
    case gpu::error_code::out_of_memory:
      return "out_of_memory";
    case gpu::error_code::capacity_exceeded:
      return "capacity_exceeded";
    case gpu::error_code::cancelled:
      return "cancelled";
    case gpu::error_code::cuda:
      return "cuda_error";
  }
  return "error";
}

}  // namespace

cpp11::sexp named_list(std::initializer_list<std::pair<const char*, cpp11::sexp>> members) {
  const auto size = static_cast<R_xlen_t>(members.size());
  cpp11::sexp out = cpp11::safe[Rf_allocVector](VECSXP, size);
  const cpp11::sexp names = cpp11::safe[Rf_allocVector](STRSXP, size);
  R_xlen_t i = 0;
  for (const auto& [name, value] : members) {
    SET_VECTOR_ELT(out, i, value);
    SET_STRING_ELT(names, i++, cpp11::safe[Rf_mkCharCE](name, CE_UTF8));
  }
  cpp11::safe[Rf_setAttrib](out, R_NamesSymbol, names);
  return out;
}

cpp11::sexp number_of(double value) {
  return cpp11::safe[Rf_ScalarReal](value);
}

cpp11::sexp text_of(std::string_view text) {
  const cpp11::sexp character =
      cpp11::safe[Rf_mkCharLenCE](text.data(), static_cast<int>(text.size()), CE_UTF8);
  return cpp11::safe[Rf_ScalarString](character);
}

cpp11::sexp places_of(const std::vector<gpu::index_t>& rows) {
  cpp11::sexp out = cpp11::safe[Rf_allocVector](INTSXP, static_cast<R_xlen_t>(rows.size()));
  std::transform(rows.begin(), rows.end(), INTEGER(out),
                 [](gpu::index_t row) { return static_cast<int>(row + 1); });
  return out;
}

cpp11::sexp failure(const char* kind, const std::string& message, cpp11::sexp value) {
  cpp11::sexp out =
      named_list({{"kind", text_of(kind)}, {"message", text_of(message)}, {"value", value}});
  cpp11::safe[Rf_setAttrib](out, R_ClassSymbol, text_of("gpusimilarity_failure"));
  return out;
}

cpp11::sexp failure_of_exception() {
  try {
    throw;
  } catch (const gpu::capacity_exceeded& e) {
    return failure(kind_of(e.code()), e.what(), number_of(static_cast<double>(e.required())));
  } catch (const gpu::error& e) {
    return failure(kind_of(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return failure("out_of_memory", "memory does not suffice");
  } catch (const std::system_error& e) {
    return failure("out_of_memory", std::string("a thread cannot be started: ") + e.what());
  } catch (const std::exception& e) {
    return failure("error", e.what());
  }
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  while (true) {
    while (i < a.size() && is_left_out(a[i])) ++i;
    while (j < b.size() && is_left_out(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (std::tolower(static_cast<unsigned char>(a[i++])) !=
        std::tolower(static_cast<unsigned char>(b[j++]))) {
      return false;
    }
  }
}

void refuse_name(const char* option, std::string_view got, const std::string& expected) {
  throw gpu::invalid_argument(std::string(option) + ": got '" + std::string(got) +
                              "', expected one of " + expected);
}

option_reader::option_reader(SEXP options) : options_(options) {
  const cpp11::sexp names = cpp11::safe[Rf_getAttrib](options, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(options); ++i) {
    names_.emplace_back(names == R_NilValue ? "" : CHAR(STRING_ELT(names, i)));
  }
  is_read_.resize(names_.size());
}

SEXP option_reader::take(const char* key) {
  asked_ += (asked_.empty() ? "" : ", ") + std::string(key);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] != key) continue;
    is_read_[i] = true;
    return VECTOR_ELT(options_, static_cast<R_xlen_t>(i));
  }
  return R_NilValue;
}

void option_reader::check_all_read() const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (is_read_[i]) continue;
    throw gpu::invalid_argument((names_[i].empty() ? "an option without a name" : names_[i]) +
                                ": not an option of this function, whose options are " + asked_);
  }
}

std::string option_reader::text(const char* key, SEXP value) {
  if (TYPEOF(value) != STRSXP || Rf_xlength(value) != 1 || STRING_ELT(value, 0) == NA_STRING) {
    throw gpu::invalid_argument(std::string(key) + ": expected one string");
  }
  return Rf_translateCharUTF8(STRING_ELT(value, 0));
}

double option_reader::number(const char* key, SEXP value) {
  const bool is_number = TYPEOF(value) == REALSXP || TYPEOF(value) == INTSXP;
  const double out = is_number && Rf_xlength(value) == 1 ? Rf_asReal(value) : R_NaN;
  if (std::isnan(out)) {
    throw gpu::invalid_argument(std::string(key) + ": expected one number, not NA");
  }
  return out;
}

bool option_reader::flag(const char* key, SEXP value) {
  if (TYPEOF(value) != LGLSXP || Rf_xlength(value) != 1 || LOGICAL(value)[0] == NA_LOGICAL) {
    throw gpu::invalid_argument(std::string(key) + ": expected TRUE or FALSE");
  }
  return LOGICAL(value)[0] != 0;
}

double option_reader::whole(const char* key, double value, double least, double most) {
  if (std::isinf(value) && value > 0) return most;
  if (value != std::floor(value) || value < least || value > most) {
    char got[32];
    std::snprintf(got, sizeof(got), "%.15g", value);
    throw gpu::invalid_argument(std::string(key) + ": got " + got +
                                ", expected a whole number in range");
  }
  return value;
}

std::vector<double> option_reader::numbers(const char* key) {
  const SEXP value = take(key);
  if (value == R_NilValue) return {};
  if (TYPEOF(value) != REALSXP && TYPEOF(value) != INTSXP) {
    throw gpu::invalid_argument(std::string(key) + ": expected numbers");
  }
  const cpp11::sexp doubles = cpp11::safe[Rf_coerceVector](value, REALSXP);
  return {REAL(doubles), REAL(doubles) + Rf_xlength(doubles)};
}

gpu::pair_part read_part(option_reader& options) {
  const std::vector<double> part = options.numbers("part");
  if (part.empty()) return {};
  if (part.size() != 2 || !(part[0] >= 1 && part[0] <= part[1])) {
    throw gpu::invalid_argument("part: expected c(index, of), with an index from 1 to of");
  }
  constexpr double most = 9007199254740992.0;
  return {.index = static_cast<gpu::index_t>(option_reader::whole("part", part[0], 1, most)) - 1,
          .of = static_cast<gpu::index_t>(option_reader::whole("part", part[1], 1, most))};
}

execution_context::execution_context(option_reader& options) {
  options.read("backend", execution_.target);
  options.read("workspace_bytes", execution_.workspace_bytes);
  execution_.cpu_threads = default_threads();
  options.read("cpu_threads", execution_.cpu_threads);
  for (const double device : options.numbers("devices")) {
    execution_.devices.push_back(
        static_cast<int>(option_reader::whole("devices", device, 0, 1 << 20)));
  }
  callback_ = options.take("progress");
  execution_.on_progress = [this](const gpu::progress& state) { return on_progress(state); };
  check_fork(execution_);
}

gpu::progress_reply execution_context::on_progress(const gpu::progress& state) {
  if (kept_) return gpu::progress_reply::cancel;
  try {
    cpp11::check_user_interrupt();
    if (callback_ == R_NilValue) return gpu::progress_reply::proceed;
    const cpp11::sexp stage = text_of(state.stage);
    const cpp11::sexp done = number_of(static_cast<double>(state.done));
    const cpp11::sexp total = number_of(static_cast<double>(state.total));
    const cpp11::sexp call = cpp11::safe[Rf_lang4](callback_, stage, done, total);
    const cpp11::sexp reply = cpp11::safe[Rf_eval](call, R_GlobalEnv);
    const bool stops = TYPEOF(reply) == LGLSXP && Rf_xlength(reply) == 1 && LOGICAL(reply)[0] == 0;
    return stops ? gpu::progress_reply::cancel : gpu::progress_reply::proceed;
  } catch (...) {
    kept_ = std::current_exception();
    return gpu::progress_reply::cancel;
  }
}

void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] {
    forked = true;
    forked_after_cuda = forked_after_cuda || cuda_used;
  });
}

}  // namespace gpu_r
