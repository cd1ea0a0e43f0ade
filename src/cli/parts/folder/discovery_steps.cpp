#include "cli/parts/folder/discovery_steps.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "cli/outputs/json_record.hpp"
#include "io/io_error.hpp"
#include "io/npy_header.hpp"

namespace gpu::cli {
namespace {

constexpr std::string_view sum_format = "gpu-similarity counted 1";
// Of 65,536 bins and what lies outside of them, with room to spare.
constexpr std::uint64_t most_bin_bytes = std::uint64_t{16} << 20;

/// Tells jobs apart: a sum is of the job whose counts it is the sum of.
std::string job_word(const job_key& key, index_t of) {
  std::string text = fmt::format("{} {} {} {}", key.version, key.input.bytes, key.input.crc32, of);
  if (key.against) text += fmt::format(" {} {}", key.against->bytes, key.against->crc32);
  for (const auto& [name, value] : key.options) text += fmt::format(" {}={}", name, value);
  io::file_digest digest;
  digest.add(text);
  return fmt::format("{:08x}", digest.crc32);
}

std::string sum_text(const discovery_search& search, const std::string& job) {
  json_writer members;
  members("format", sum_format);
  members("job", job);
  members("observations", search.observations);
  members("family", search.family);
  members("least", search.least);
  members("most", search.most);
  members("max_p_effective",
          search.is_decided() ? std::optional(search.max_p_effective()) : std::nullopt);
  io::file_digest digest;
  digest.add(members.lines());
  members("crc32", as_hex<const std::uint32_t>{digest.crc32});
  return members.lines();
}

/// The search that a kept sum says; nothing where there is none of this job. Its text follows from
/// its members, so one that was changed is not taken.
std::optional<discovery_search> kept_sum(const part_folder& folder, int step,
                                         const discovery_search& of_job, const std::string& job) {
  const auto text = folder.files().read(name_of_sum(step), most_manifest_bytes);
  const auto value = text ? io::json_value::parse(*text) : std::nullopt;
  if (!value) return {};
  discovery_search search = of_job;
  json_reader members(*value);
  members("family", search.family);
  members("least", search.least);
  members("most", search.most);
  if (sum_text(search, job) != *text) return {};
  return search;
}

discovery_counts add(discovery_counts sum, const discovery_counts& more) {
  sum += more;
  return sum;
}

discovery_search search_behind(const part_folder& folder, int step, const discovery_counts& sum) {
  try {
    return next_search(sum);
  } catch (const error& e) {
    throw parts_error(fmt::format("{}: the counts of pass {} are none of this job: {}",
                                  folder.path(), step, e.what()));
  }
}

/// Replaces nothing but a sum.
void write_sum(const part_folder& folder, int step, const std::string& text) {
  const std::string name = name_of_sum(step);
  const found_file there = folder.files().find(name);
  const auto old = folder.files().read(name, most_manifest_bytes);
  if (there.is_there && (!there.fault.empty() || !old || !is_about_parts(*old))) {
    throw parts_error(fmt::format(
        "{}: {}, and is not replaced: move it away, or choose another folder", folder.path_of(name),
        there.fault.empty() ? "is not a sum of counts" : there.fault));
  }
  folder.files().write(name, text);
}

/// The sum of all parts of a counting pass; nothing where one is damaged, which counts as missing.
std::optional<discovery_counts> sum_of(const part_folder& folder, int step, const job_key& key,
                                       index_t of) {
  discovery_counts sum;
  for (index_t number = 1; number <= of; ++number) {
    const part_place place{step, number, of};
    const part_status status = folder.check(place, part_check::digests);
    if (status.state != part_state::done) return {};
    const part_manifest& manifest = *status.manifest;
    if (!(manifest.job == key)) {
      throw parts_error(fmt::format("{}: {} is of another job: {}", folder.path(), text_of(place),
                                    difference(manifest.job, key)));
    }
    const part_file* const file = manifest.file("bins");
    const auto bytes =
        file != nullptr ? folder.files().read(file->name, most_bin_bytes) : std::nullopt;
    discovery_counts counts;
    counts.search = manifest.search.value_or(discovery_search{});
    if (!bytes || !read_bins(*bytes, counts)) {
      throw parts_error(fmt::format("{}: {} has no counts", folder.path(), text_of(place)));
    }
    try {
      sum = number == 1 ? std::move(counts) : add(std::move(sum), counts);
    } catch (const error& e) {
      throw parts_error(fmt::format("{}: {} does not go with part 1: {}", folder.path(),
                                    text_of(place), e.what()));
    }
  }
  return sum;
}

}  // namespace

std::string bins_text(const discovery_counts& counts) {
  std::string out;
  const auto add = [&](std::span<const std::uint64_t> values) { out += io::bytes_of(values); };
  add({&counts.below, 1});
  add({&counts.at_or_above, 1});
  add(counts.bins);
  return out;
}

bool read_bins(std::string_view text, discovery_counts& counts) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (text.size() % word != 0 || text.size() < 2 * word) return false;
  counts.bins.resize(text.size() / word - 2);
  std::memcpy(&counts.below, text.data(), word);
  std::memcpy(&counts.at_or_above, text.data() + word, word);
  // Counts of no pair have no bins, and memcpy takes no null pointer.
  if (counts.bins.empty()) return true;
  std::memcpy(counts.bins.data(), text.data() + 2 * word, counts.bins.size() * word);
  return true;
}

job_step step_of(const part_folder& folder, const job_key& key, index_t of) {
  if (key.option("adjust") != "bh") return {};
  const part_folder::contents listed = folder.list();
  const std::string job = job_word(key, of);
  job_step at{.step = 1};
  for (;; ++at.step) {
    const auto counted = listed.numbers.find(at.step);
    const bool is_counted =
        counted != listed.numbers.end() && counted->second.size() == static_cast<std::size_t>(of);
    if (!is_counted) return at;
    const part_status any = folder.check({at.step, 1, of}, part_check::sizes);
    const auto of_job = any.manifest ? any.manifest->search : std::nullopt;
    std::optional<discovery_search> search =
        of_job ? kept_sum(folder, at.step, *of_job, job) : std::nullopt;
    if (!search) {
      const auto sum = sum_of(folder, at.step, key, of);
      if (!sum) return at;
      search = search_behind(folder, at.step, *sum);
      write_sum(folder, at.step, sum_text(*search, job));
    }
    at.search = search;
    if (search->is_decided()) {
      at.step = 0;
      return at;
    }
  }
}

}  // namespace gpu::cli
