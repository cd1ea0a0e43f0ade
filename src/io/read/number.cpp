#include "io/read/number.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace gpu::io {

number parse_other_number(std::string_view field) {
  if (field == "NA") return {number_kind::real, 0, std::numeric_limits<double>::quiet_NaN()};
  // from_chars takes '-' but not '+'.
  std::string_view text = field;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return {number_kind::not_a_number};
  }
  number result{number_kind::real};
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, result.real);
  if (status == std::errc::invalid_argument || stopped != end) return {number_kind::not_a_number};
  if (status == std::errc::result_out_of_range) return {number_kind::overflow};
  // A long integer would be rounded: values that differ could become equal.
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    return {number_kind::overflow};
  }
  return result;
}

}  // namespace gpu::io
