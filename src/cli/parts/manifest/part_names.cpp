#include "cli/parts/manifest/part_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>

#include "cli/options/options.hpp"

namespace gpu::cli {
namespace {

/// Takes `word` off the front of `text`.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

template <std::integral Integer>
bool take_number(std::string_view& text, Integer& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// A file of a part: the ending of its name, or, of one that only the first part has, all of it.
struct known_file {
  std::string_view role;
  std::string_view name;
  bool is_of_first = false;

  [[nodiscard]] bool is(const part_place& place, std::string_view other) const {
    return is_of_first ? place.number == 1 && name == other : name_of(place, name) == other;
  }
};
constexpr std::array known_files{known_file{"rows", ".tsv"},
                                 known_file{"rows", ".csv"},
                                 known_file{"rows", ".records"},
                                 known_file{"degrees", ".degrees.npy"},
                                 known_file{"bins", ".bins"},
                                 known_file{"p", ".p"},
                                 known_file{"row_p", ".row_p"},
                                 known_file{"header", "header.tsv", true},
                                 known_file{"header", "header.csv", true},
                                 known_file{"names", "names.txt", true}};

bool is_whole_name_of_parts(std::string_view name) {
  return name == lock_name || step_of_sum(name) || place_of(name, manifest_ending) ||
         std::any_of(known_files.begin(), known_files.end(), [&](const known_file& file) {
           return file.is_of_first ? file.name == name : place_of(name, file.name).has_value();
         });
}

}  // namespace

std::string text_of(const part_place& place) {
  const std::string part = fmt::format("part {} of {}", place.number, place.of);
  return place.step == 0 ? part : fmt::format("count {} of {}", place.step, part);
}

std::string name_of(const part_place& place, std::string_view ending) {
  const std::size_t width = fmt::to_string(place.of).size();
  const std::string step = place.step == 0 ? "" : fmt::format("count-{}-", place.step);
  return fmt::format("{}part-{:0{}}-of-{}{}", step, place.number, width, place.of, ending);
}

std::optional<part_place> place_of(std::string_view name, std::string_view ending) {
  std::string_view text = name;
  part_place place;
  if (take(text, "count-") && !(take_number(text, place.step) && take(text, "-"))) return {};
  if (take(text, "part-") && take_number(text, place.number) && take(text, "-of-") &&
      take_number(text, place.of) && text == ending && place.number <= place.of &&
      place.of <= most_parts && name_of(place, ending) == name) {
    return place;
  }
  return {};
}

std::string name_of_sum(int step) {
  return fmt::format("count-{}-sum.json", step);
}

std::optional<int> step_of_sum(std::string_view name) {
  int step = 0;
  std::string_view text = name;
  if (take(text, "count-") && take_number(text, step) && name_of_sum(step) == name) return step;
  return {};
}

bool is_file_of(const part_place& place, std::string_view role, std::string_view name) {
  return std::any_of(known_files.begin(), known_files.end(), [&](const known_file& file) {
    return file.role == role && file.is(place, name);
  });
}

std::vector<std::string> names_at(const part_place& place) {
  std::vector<std::string> out;
  for (const known_file& file : known_files) {
    if (!file.is_of_first) out.push_back(name_of(place, file.name));
    if (file.is_of_first && place.step == 0 && place.number == 1) out.emplace_back(file.name);
  }
  return out;
}

bool is_unfinished_name(std::string_view name) {
  constexpr std::string_view ending = ".partial";
  constexpr std::size_t word = 7;  // a point and six characters, as output_file draws them
  if (!name.ends_with(ending) || name.size() < ending.size() + word) return false;
  name.remove_suffix(ending.size());
  const std::string_view random = name.substr(name.size() - word);
  name.remove_suffix(word);
  return random.front() == '.' &&
         random.find_first_not_of("abcdefghijklmnopqrstuvwxyz012345", 1) == random.npos &&
         is_whole_name_of_parts(name);
}

bool is_name_of_parts(std::string_view name) {
  return is_whole_name_of_parts(name) || is_unfinished_name(name);
}

}  // namespace gpu::cli
