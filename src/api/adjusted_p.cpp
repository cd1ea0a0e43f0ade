#include <gpu/p_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <gpu/error.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "base/parallel.hpp"
#include "pairs/adjusted_p.hpp"

namespace gpu::inline v0 {
namespace {

void check_adjustment(adjustment adjust) {
  if (adjust >= adjustment::none && adjust <= adjustment::benjamini_hochberg) return;
  throw invalid_argument(fmt::format("adjust: got {}, expected an enumerator of gpu::adjustment",
                                     static_cast<int>(adjust)));
}

void check_family(std::uint64_t family, std::size_t given) {
  if (family >= given) return;
  throw invalid_argument(
      fmt::format("family: got {}, expected at least the {} p that are given", family, given));
}

template <class IsWrong>
void check_p(const char* name, std::span<const double> p, const char* expected,
             const IsWrong& is_wrong) {
  const auto wrong = std::find_if(p.begin(), p.end(), is_wrong);
  if (wrong == p.end()) return;
  throw invalid_argument(
      fmt::format("{}[{}]: got {}, expected {}", name, wrong - p.begin(), *wrong, expected));
}

void check_p(std::span<const double> p) {
  check_p("p", p, "a number in [0, 1] or NaN",
          [](double each) { return each < 0.0 || each > 1.0; });
}

void check(const std::vector<double>& p, std::uint64_t family, adjustment adjust) {
  check_adjustment(adjust);
  check_family(family, p.size());
  check_p(p);
}

std::vector<double> checked_and_adjusted(std::vector<double> p, std::uint64_t family,
                                         adjustment adjust) {
  check(p, family, adjust);
  return detail::adjusted_p(std::move(p), family, adjust);
}

}  // namespace

std::vector<double> adjusted_p_values(std::span<const double> p, std::uint64_t family,
                                      adjustment adjust) {
  return checked_and_adjusted({p.begin(), p.end()}, family, adjust);
}

std::vector<double> adjusted_p_values(std::span<const edge> edges, std::uint64_t family,
                                      adjustment adjust) {
  return checked_and_adjusted(detail::p_of(edges), family, adjust);
}

std::vector<double> adjusted_p_values(std::span<const double> p, std::span<double> tests,
                                      std::uint64_t family, adjustment adjust,
                                      const execution& exec) {
  detail::check_cpu_call(exec, "adjusted_p_values");
  const detail::polled_call polled(exec.on_progress, "adjusted_p_values", std::ssize(p));
  check_adjustment(adjust);
  check_family(family, tests.size());
  check_p(p);
  check_p("tests", tests, "a number in [0, 1]",
          [](double each) { return !(each >= 0.0 && each <= 1.0); });
  std::vector<double> q(p.begin(), p.end());
  detail::adjust_within(q, tests, family, adjust, detail::thread_count(exec.cpu_threads));
  return q;
}

}  // namespace gpu::inline v0
