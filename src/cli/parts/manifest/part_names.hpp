#pragma once
// The names that files of a job in parts have. Nothing else in a folder is the job's.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::cli {

/// A part and its step: 0 is the result, from 1 on a counting pass for --adjust bh.
struct part_place {
  int step = 0;
  index_t number = 1;  ///< From 1 to `of`.
  index_t of = 1;
};

/// "part 3 of 7", "count 1 of part 3 of 7"
[[nodiscard]] std::string text_of(const part_place& place);

inline constexpr std::string_view manifest_ending = ".json";

/// "part-03-of-12" with the ending behind it; the numbers of a job sort as text.
[[nodiscard]] std::string name_of(const part_place& place, std::string_view ending);

/// The place that a name with this ending says; nothing of any other name, and of numbers of parts
/// that no job has.
[[nodiscard]] std::optional<part_place> place_of(std::string_view name, std::string_view ending);

/// The name of the sum of a counting pass, and the pass that a name says.
[[nodiscard]] std::string name_of_sum(int step);
[[nodiscard]] std::optional<int> step_of_sum(std::string_view name);

/// Whether a part at `place` may have a file of that role under that name.
[[nodiscard]] bool is_file_of(const part_place& place, std::string_view role,
                              std::string_view name);

/// Every name that a file of a part at `place` may have.
[[nodiscard]] std::vector<std::string> names_at(const part_place& place);

/// Whether some job in parts writes a file of that name, or leaves it there unfinished.
[[nodiscard]] bool is_name_of_parts(std::string_view name);
/// Whether it is one of those that are left there unfinished: "part-3-of-7.tsv.abcdef.partial".
[[nodiscard]] bool is_unfinished_name(std::string_view name);

/// What a run with --resume locks.
inline constexpr std::string_view lock_name = ".gpu-similarity-lock";

}  // namespace gpu::cli
