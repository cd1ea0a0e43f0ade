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

/// The roles of a file that only the first part has, and its names.
struct first_file {
  std::string_view role;
  std::string_view name;
};
constexpr std::array first_files{first_file{"header", "header.tsv"},
                                 first_file{"header", "header.csv"},
                                 first_file{"names", "names.txt"}};

/// The roles of a file that every part has, and the endings of its names.
struct part_ending {
  std::string_view role;
  std::string_view ending;
};
constexpr std::array part_endings{
    part_ending{"rows", ".tsv"},     part_ending{"rows", ".csv"},
    part_ending{"rows", ".records"}, part_ending{"degrees", ".degrees.npy"},
    part_ending{"bins", ".bins"},    part_ending{"p", ".p"},
    part_ending{"row_p", ".row_p"}};

bool is_whole_name_of_parts(std::string_view name) {
  if (name == lock_name || step_of_sum(name)) return true;
  if (std::any_of(first_files.begin(), first_files.end(),
                  [&](const first_file& file) { return file.name == name; })) {
    return true;
  }
  return place_of(name, manifest_ending) ||
         std::any_of(part_endings.begin(), part_endings.end(),
                     [&](const part_ending& e) { return place_of(name, e.ending).has_value(); });
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
  for (const part_ending& e : part_endings) {
    if (e.role == role && name_of(place, e.ending) == name) return true;
  }
  return place.number == 1 && std::any_of(first_files.begin(), first_files.end(), [&](auto& file) {
           return file.role == role && file.name == name;
         });
}

std::vector<std::string> names_at(const part_place& place) {
  std::vector<std::string> out;
  for (const part_ending& e : part_endings) out.push_back(name_of(place, e.ending));
  if (place.step > 0 || place.number > 1) return out;
  for (const first_file& file : first_files) out.emplace_back(file.name);
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
