#include "cli/parts/joining/part_listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parts/folder/discovery_steps.hpp"

namespace gpu::cli {
namespace {

void check_one_job(const part_folder& folder, const part_manifest& m, const part_manifest& first) {
  const std::string name = text_of({m.step, m.number, m.of});
  if (!(m.job == first.job)) {
    refuse_parts(folder, fmt::format("{} is of another job than {}: {}", name,
                                     text_of({first.step, first.number, first.of}),
                                     difference(m.job, first.job)));
  }
}

}  // namespace

void refuse_parts(const part_folder& folder, const std::string& what) {
  throw parts_error(folder.path() + ": " + what);
}

const part_status& part_listing::status(index_t number) const {
  static const part_status none;
  const auto found = parts.find(number);
  return found == parts.end() ? none : found->second;
}

index_t part_listing::done() const {
  return std::count_if(parts.begin(), parts.end(),
                       [](const auto& part) { return part.second.state == part_state::done; });
}

/// A name may say any number of parts: what there is of them takes the time and the memory.
std::vector<part_listing::range> part_listing::wanting() const {
  std::vector<range> out;
  index_t next = 1;  // behind the last one that is done
  for (const auto& [number, part] : parts) {
    if (part.state != part_state::done) continue;
    if (next < number) out.emplace_back(next, number - 1);
    next = number + 1;
  }
  if (next <= of) out.emplace_back(next, of);
  return out;
}

part_listing list_parts(const part_folder& folder, part_check how) {
  const part_folder::contents listed = folder.list();
  if (listed.of == 0) refuse_parts(folder, "holds no part");
  part_listing out;
  out.of = listed.of;
  out.unfinished = listed.unfinished;
  const auto any = folder.any_manifest(listed);
  if (any) {
    out.job = any->job;
    out.step = step_of(folder, any->job, listed.of).step;
  }
  const auto there = listed.numbers.find(out.step);
  if (there == listed.numbers.end()) return out;
  for (const index_t number : there->second) {
    out.parts[number] = folder.check({out.step, number, out.of}, how);
  }
  const part_manifest* first = nullptr;
  for (const auto& [number, part] : out.parts) {
    if (!part.manifest) continue;
    if (first == nullptr) first = &*part.manifest;
    check_one_job(folder, *part.manifest, *first);
  }
  return out;
}

std::string compact_list(const std::vector<part_listing::range>& numbers) {
  std::string out;
  for (const auto& [first, last] : numbers) {
    out += fmt::format("{}{}", out.empty() ? "" : ",", first);
    if (last > first) out += fmt::format("-{}", last);
  }
  return out;
}

}  // namespace gpu::cli
