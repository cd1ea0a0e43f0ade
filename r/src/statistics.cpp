// Tests of statistics, the sums of checksums, and what this build can run on.

#include <charconv>

#include <gpu/version.hpp>

#include "entries.hpp"
#include "pairs.hpp"

namespace gpu_r {
namespace {

gpu::tail tail_of(SEXP side) {
  return enum_from_name<gpu::tail>("alternative", CHAR(STRING_ELT(side, 0)));
}

std::uint64_t next_number(std::string_view& text, int base) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, base).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return number;
}

}  // namespace

// p of each correlation by Student's t with its own number of observations; NaN below 3.
SEXP p_values(SEXP r, SEXP n, SEXP side) {
  return guarded([&] {
    const gpu::tail tail = tail_of(side);
    std::vector<double> p(static_cast<std::size_t>(Rf_xlength(r)));
    const auto of_n = static_cast<std::size_t>(Rf_xlength(n));
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double observations = REAL(n)[i % of_n];
      p[i] = observations >= 3 ? gpu::correlation_p_value(REAL(r)[i], observations, tail) : NA_REAL;
    }
    return vector_of(p);
  });
}

SEXP adjusted_p(SEXP p, SEXP family, SEXP adjust) {
  return guarded([&] {
    return vector_of(gpu::adjusted_p_values(
        std::span<const double>(REAL(p), static_cast<std::size_t>(Rf_xlength(p))),
        static_cast<std::uint64_t>(Rf_asReal(family)),
        enum_from_name<gpu::adjustment>("adjust", CHAR(STRING_ELT(adjust, 0)))));
  });
}

SEXP confidence(SEXP statistic, SEXP method, SEXP observations, SEXP level, SEXP side) {
  return guarded([&] {
    const auto bounds = gpu::confidence_intervals(
        gpu::measure_of(CHAR(STRING_ELT(method, 0))),
        std::span<const double>(REAL(statistic), static_cast<std::size_t>(Rf_xlength(statistic))),
        Rf_asReal(observations), Rf_asReal(level), tail_of(side));
    std::vector<double> lower;
    std::vector<double> upper;
    for (const gpu::confidence_bounds& bound : bounds) {
      lower.push_back(bound.lower);
      upper.push_back(bound.upper);
    }
    return named_list({{"lower", vector_of(lower)}, {"upper", vector_of(upper)}});
  });
}

SEXP add_checksums(SEXP checksums) {
  return guarded([&] {
    gpu::pair_checksum sum;
    for (R_xlen_t i = 0; i < Rf_xlength(checksums); ++i) {
      std::string_view text = CHAR(STRING_ELT(checksums, i));
      gpu::pair_checksum one;
      one.count = next_number(text, 10);
      one.mix1 = next_number(text, 16);
      one.mix2 = next_number(text, 16);
      sum += one;
    }
    return text_of(gpu::to_string(sum));
  });
}

SEXP measures() {
  return guarded([&] {
    const std::span<const gpu::measure> all = gpu::all_measures();
    const auto size = static_cast<R_xlen_t>(all.size());
    const cpp11::sexp names = cpp11::safe[Rf_allocVector](STRSXP, size);
    const cpp11::sexp symbols = cpp11::safe[Rf_allocVector](STRSXP, size);
    const auto set = [](SEXP to, R_xlen_t i, std::string_view text) {
      SET_STRING_ELT(to, i, STRING_ELT(text_of(text), 0));
    };
    for (R_xlen_t i = 0; i < size; ++i) {
      const gpu::measure_info& info = gpu::info_of(all[static_cast<std::size_t>(i)]);
      set(names, i, info.name);
      set(symbols, i, info.symbol);
    }
    return named_list({{"name", names}, {"symbol", symbols}, {"version", text_of(gpu::version())}});
  });
}

SEXP backends() {
  return guarded([&] {
    const auto all = gpu::available_backends();
    const auto size = static_cast<R_xlen_t>(all.size());
    cpp11::sexp out = cpp11::safe[Rf_allocVector](VECSXP, size);
    for (R_xlen_t i = 0; i < size; ++i) {
      const gpu::backend_info& info = all[static_cast<std::size_t>(i)];
      SET_VECTOR_ELT(
          out, i,
          named_list({{"name", text_of(info.name)},
                      {"description", text_of(info.description)},
                      {"usable", cpp11::sexp(cpp11::safe[Rf_ScalarLogical](info.usable))},
                      {"reason", text_of(info.reason)}}));
    }
    return out;
  });
}

SEXP devices() {
  return guarded([&] {
    const auto all = gpu::available_devices();
    const auto size = static_cast<R_xlen_t>(all.size());
    cpp11::sexp out = cpp11::safe[Rf_allocVector](VECSXP, size);
    for (R_xlen_t i = 0; i < size; ++i) {
      const gpu::device_info& info = all[static_cast<std::size_t>(i)];
      SET_VECTOR_ELT(
          out, i,
          named_list({{"ordinal", number_of(info.ordinal)},
                      {"name", text_of(info.name)},
                      {"compute_capability", text_of(std::to_string(info.compute_major) + "." +
                                                     std::to_string(info.compute_minor))},
                      {"memory_bytes", number_of(static_cast<double>(info.memory_bytes))},
                      {"code", text_of(gpu::to_string(info.code))}}));
    }
    return out;
  });
}

}  // namespace gpu_r
