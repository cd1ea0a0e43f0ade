#include "cli/parts/part_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "io/io_error.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

namespace fs = std::filesystem;

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

/// The place that the name of a manifest says.
std::optional<part_place> place_of(const std::string& name) {
  std::string_view text = name;
  part_place place;
  if (take(text, "count-") && !(take_number(text, place.step) && take(text, "-"))) return {};
  if (take(text, "part-") && take_number(text, place.number) && take(text, "-of-") &&
      take_number(text, place.of) && text == ".json" && place.number <= place.of) {
    return place;
  }
  return {};
}

part_status damaged(std::string reason) {
  return {.state = part_state::damaged, .reason = std::move(reason)};
}

/// What is wrong with a file of a part; "" where nothing is.
std::string fault_of(const std::string& path, const part_file& file, part_check how) {
  std::error_code failed;
  const std::uintmax_t bytes = fs::file_size(path, failed);
  if (failed) return fmt::format("{} is not there: {}", file.name, failed.message());
  if (bytes != file.digest.bytes) {
    return fmt::format("{} has {} bytes, expected {}", file.name, bytes, file.digest.bytes);
  }
  if (how == part_check::sizes) return "";
  const auto digest = io::digest_of_file(path);
  if (!digest) return fmt::format("{} cannot be read", file.name);
  if (*digest == file.digest) return "";
  return fmt::format("{} was changed: its CRC-32 is {:08x}, expected {:08x}", file.name,
                     digest->crc32, file.digest.crc32);
}

}  // namespace

std::string text_of(const part_place& place) {
  const std::string part = fmt::format("part {} of {}", place.number, place.of);
  return place.step == 0 ? part : fmt::format("count {} of {}", place.step, part);
}

std::string part_folder::name_of(const part_place& place, const std::string& ending) {
  const std::size_t width = fmt::to_string(place.of).size();
  const std::string step = place.step == 0 ? "" : fmt::format("count-{}-", place.step);
  return fmt::format("{}part-{:0{}}-of-{}{}", step, place.number, width, place.of, ending);
}

void part_folder::create() const {
  std::error_code failed;
  fs::create_directories(path_, failed);
  if (failed) throw io::output_error(path_, "cannot be created: " + failed.message());
  if (!fs::is_directory(path_, failed)) throw io::output_error(path_, "is no folder");
}

part_folder::contents part_folder::list() const {
  contents out;
  std::error_code failed;
  for (fs::directory_iterator at(path_, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".partial")) ++out.unfinished;
    const auto place = place_of(name);
    if (!place) continue;
    if (out.of != 0 && out.of != place->of) {
      throw parts_error(
          fmt::format("{}: holds parts of a job of {} and of one of {}, expected one "
                      "job in a folder",
                      path_, std::min(out.of, place->of), std::max(out.of, place->of)));
    }
    out.of = place->of;
    out.numbers[place->step].insert(place->number);
  }
  if (failed) throw parts_error(fmt::format("{}: cannot be read: {}", path_, failed.message()));
  return out;
}

part_status part_folder::check(const part_place& place, part_check how) const {
  const std::string name = name_of(place, ".json");
  const auto text = read_whole_file(path_of(name));
  if (!text) {
    std::error_code failed;
    if (fs::exists(path_of(name), failed)) return damaged(name + " cannot be read");
    return {};
  }
  part_status out{.state = part_state::done, .manifest = parse_manifest(*text)};
  if (!out.manifest) return damaged(name + " was changed, or is no manifest of this version");
  if (out.manifest->number != place.number || out.manifest->of != place.of ||
      out.manifest->step != place.step) {
    return damaged(
        fmt::format("{} is that of {}", name,
                    text_of({out.manifest->step, out.manifest->number, out.manifest->of})));
  }
  for (const part_file& file : out.manifest->files) {
    const std::string fault = fault_of(path_of(file.name), file, how);
    if (fault.empty()) continue;
    out.state = part_state::damaged;
    out.reason = fault;
    break;
  }
  return out;
}

std::optional<part_manifest> part_folder::any_manifest(const contents& listed) const {
  for (const auto& [step, numbers] : listed.numbers) {
    for (const index_t number : numbers) {
      const auto text = read_whole_file(path_of(name_of({step, number, listed.of}, ".json")));
      auto manifest = text ? parse_manifest(*text) : std::nullopt;
      if (manifest) return manifest;
    }
  }
  return {};
}

void part_folder::expect_job(const job_key& key, index_t of) const {
  const contents listed = list();
  if (listed.of != 0 && listed.of != of) {
    throw parts_error(
        fmt::format("{}: holds a job of {} parts, expected one of {}, or another "
                    "folder",
                    path_, listed.of, of));
  }
  const auto manifest = any_manifest(listed);
  if (!manifest || manifest->job == key) return;
  throw parts_error(fmt::format("{}: {} is of another job: {}. Expected another folder", path_,
                                text_of({manifest->step, manifest->number, manifest->of}),
                                difference(manifest->job, key)));
}

std::optional<std::string> read_whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return {};
  return text;
}

void write_whole_file(const std::string& path, std::string_view text) {
  io::output_file out(path);
  out.write(text);
  out.commit();
}

}  // namespace gpu::cli
