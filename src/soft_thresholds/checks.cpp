#include "soft_thresholds/checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string_view>

#include <gpu/error.hpp>

#include "base/check_enumerator.hpp"
#include "stats/soft_power.hpp"

namespace gpu::validate {
namespace {

constexpr index_t least_bins = 3;
constexpr index_t most_bins = 10'000;

void check_power(std::string_view name, double power) {
  if (power > 0 && power <= stats::largest_power) return;
  throw invalid_argument(fmt::format("{}: got {}, expected above 0 and at most {}", name, power,
                                     stats::largest_power));
}

}  // namespace

void check_sink(const connectivity_sink& sink) {
  if (sink.powers.empty() || sink.powers.size() > std::size_t{stats::most_powers}) {
    throw invalid_argument(fmt::format("connectivity_sink.powers: got {} of them, expected 1 to {}",
                                       sink.powers.size(), stats::most_powers));
  }
  for (std::size_t p = 0; p < sink.powers.size(); ++p) {
    check_power(fmt::format("connectivity_sink.powers[{}]", p), sink.powers[p]);
  }
  detail::check_enumerator("connectivity_sink.network", sink.network, network_kind::signed_hybrid);
}

void check_connectivity(matrix_view<const double> connectivity, const std::vector<double>& powers,
                        const scale_free_options& options) {
  if (connectivity.cols() != static_cast<index_t>(powers.size())) {
    throw invalid_argument(
        fmt::format("powers: got {} of them, expected one for each of the {} columns of "
                    "connectivity",
                    powers.size(), connectivity.cols()));
  }
  if (options.bins < least_bins || options.bins > most_bins) {
    throw invalid_argument(fmt::format("scale_free_options.bins: got {}, expected {} to {}",
                                       options.bins, least_bins, most_bins));
  }
  if (!std::isfinite(options.r_squared_cut)) {
    throw invalid_argument(
        fmt::format("scale_free_options.r_squared_cut: got {}, expected a finite number",
                    options.r_squared_cut));
  }
  if (connectivity.empty()) return;
  for (index_t i = 0; i < connectivity.rows(); ++i) {
    for (index_t j = 0; j < connectivity.cols(); ++j) {
      const double k = connectivity(i, j);
      if (std::isnan(k) || (k >= 0 && std::isfinite(k))) continue;
      throw invalid_argument(fmt::format(
          "connectivity: got {} in row {}, column {}, expected NaN or a finite number of at least "
          "0",
          k, i, j));
    }
  }
}

void check_overlap(matrix_view<const double> statistics, const overlap_options& options) {
  if (statistics.rows() != statistics.cols()) {
    throw invalid_argument(fmt::format("statistics: got [{}, {}], expected as many columns as rows",
                                       statistics.rows(), statistics.cols()));
  }
  check_power("overlap_options.power", options.power);
  detail::check_enumerator("overlap_options.network", options.network, network_kind::signed_hybrid);
  for (index_t i = 0; i < statistics.rows(); ++i) {
    for (index_t j = i + 1; j < statistics.cols(); ++j) {
      const double r = statistics(i, j);
      if (std::isnan(r) || std::fabs(r) <= 1) continue;
      throw invalid_argument(
          fmt::format("statistics: got {} in row {}, column {}, expected -1 to 1 or NaN", r, i, j));
    }
  }
}

}  // namespace gpu::validate
