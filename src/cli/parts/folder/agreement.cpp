#include "cli/parts/folder/agreement.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/parts/folder/part_folder.hpp"

namespace gpu::cli {
namespace {

std::string shape_text(const pair_summary& s) {
  const std::string against = s.y_rows > 0 ? fmt::format(" against {}", s.y_rows) : "";
  return fmt::format("{} rows{} x {} columns", s.rows, against, s.cols);
}

/// Why two parts of one job cannot be joined.
struct contradiction {
  std::string_view what;  ///< Between the names of both parts; "" where nothing contradicts.
  std::string values = {};
};

/// What a part says must be what `first` says of the job. How a part was computed is its own
/// affair: into how many patterns its rows were folded follows from those rows, from the backend
/// and from the variant.
contradiction find_contradiction(const part_manifest& m, const part_manifest& first) {
  const pair_summary& a = m.summary;
  const pair_summary& b = first.summary;
  const auto expected = [](std::string_view name, const auto& found, const auto& wanted) {
    return fmt::format("{} is {}, expected {}", name, found, wanted);
  };
  if (a.rows != b.rows || a.cols != b.cols || a.y_rows != b.y_rows) {
    return {"read another table", expected("its shape", shape_text(a), shape_text(b))};
  }
  if (m.family != first.family) {
    return {"found other rows without a statistic",
            expected("the number of tests of the job", m.family, first.family)};
  }
  constexpr std::string_view other_cut = "was decided by another cut";
  if (a.max_p_effective != b.max_p_effective) {
    return {other_cut, expected("max_p_effective", a.max_p_effective, b.max_p_effective)};
  }
  if (a.cut_at_least != b.cut_at_least) {
    return {other_cut, expected("cut_at_least", a.cut_at_least, b.cut_at_least)};
  }
  if (a.cut_at_most != b.cut_at_most) {
    return {other_cut, expected("cut_at_most", a.cut_at_most, b.cut_at_most)};
  }
  return {};
}

}  // namespace

std::string disagreement(const part_manifest& part, const part_manifest& first) {
  const contradiction found = find_contradiction(part, first);
  if (found.what.empty()) return "";
  return fmt::format("{} {} than {}: {}", text_of({part.step, part.number, part.of}), found.what,
                     text_of({first.step, first.number, first.of}), found.values);
}

}  // namespace gpu::cli
