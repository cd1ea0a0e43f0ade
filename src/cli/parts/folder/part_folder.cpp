#include "cli/parts/folder/part_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/read/file_stream.hpp"

namespace gpu::cli {
namespace {

namespace fs = std::filesystem;

part_status damaged(std::string reason) {
  return {.state = part_state::damaged, .reason = std::move(reason)};
}

/// What is wrong with a file of a part; "" where nothing is.
std::string fault_in(const folder_files& files, const part_file& file, part_check how,
                     int threads) {
  found_file found = files.find(file.name);
  if (!found.is_there) return fmt::format("{} is not there", file.name);
  if (!found.fault.empty()) return fmt::format("{} {}", file.name, found.fault);
  if (found.bytes != file.digest.bytes) {
    return fmt::format("{} has {} bytes, expected {}", file.name, found.bytes, file.digest.bytes);
  }
  if (how == part_check::sizes) return "";
  const auto digest = io::digest_of_file(found.file->release(), threads);
  if (!digest) return fmt::format("{} cannot be read", file.name);
  if (*digest == file.digest) return "";
  return fmt::format("{} was changed: its CRC-32 is {:08x}, expected {:08x}", file.name,
                     digest->crc32, file.digest.crc32);
}

part_place place_in(const part_manifest& m) {
  return {m.step, m.number, m.of};
}

bool names(const std::optional<part_manifest>& m, const part_file& file, const job_key& key) {
  return m && m->job == key && m->file(file.role) != nullptr &&
         m->file(file.role)->name == file.name;
}

}  // namespace

part_folder::contents part_folder::list() const {
  contents out;
  for (const std::string& name : files_.names()) {
    if (is_unfinished_name(name)) ++out.unfinished;
    const auto place = place_of(name, manifest_ending);
    if (!place) continue;
    if (out.of != 0 && out.of != place->of) {
      throw parts_error(
          fmt::format("{}: holds parts of a job of {} and of one of {}, expected one "
                      "job in a folder",
                      path(), std::min(out.of, place->of), std::max(out.of, place->of)));
    }
    out.of = place->of;
    out.numbers[place->step].insert(place->number);
  }
  return out;
}

std::optional<part_manifest> part_folder::read_manifest(const part_place& place) const {
  const auto text = files_.read(name_of(place, manifest_ending), most_manifest_bytes);
  auto manifest = text ? parse_manifest(*text) : std::nullopt;
  const bool is_of_place = manifest && text_of(place_in(*manifest)) == text_of(place);
  if (!is_of_place) return {};
  return manifest;
}

part_status part_folder::check(const part_place& place, part_check how) const {
  const std::string name = name_of(place, manifest_ending);
  const found_file found = files_.find(name);
  if (!found.is_there) return {};
  if (!found.fault.empty()) return damaged(name + " " + found.fault);
  const auto text = files_.read(name, most_manifest_bytes);
  if (!text) return damaged(name + " cannot be read, or is too long for a manifest");
  part_status out{.state = part_state::done, .manifest = parse_manifest(*text)};
  if (!out.manifest) return damaged(name + " was changed, or is not a manifest of this version");
  const std::string said = text_of(place_in(*out.manifest));
  if (said != text_of(place)) return damaged(fmt::format("{} belongs to {}", name, said));
  for (const part_file& file : out.manifest->files) {
    const std::string fault = fault_in(files_, file, how, threads_);
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
      auto manifest = read_manifest({step, number, listed.of});
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
                    path(), listed.of, of));
  }
  const auto manifest = any_manifest(listed);
  if (!manifest || manifest->job == key) return;
  throw parts_error(fmt::format("{}: {} is of another job: {}. Expected another folder", path(),
                                text_of(place_in(*manifest)), difference(manifest->job, key)));
}

void part_folder::expect_free(const part_place& place, const job_key& key) const {
  const auto refuse = [this](const std::string& name, const std::string& fault) {
    throw parts_error(
        fmt::format("{}: {}, and is not replaced: move it away, or choose another "
                    "folder",
                    path_of(name), fault));
  };
  const std::string name = name_of(place, manifest_ending);
  const found_file found = files_.find(name);
  if (!found.fault.empty()) refuse(name, found.fault);
  if (found.is_there) {
    const auto text = files_.read(name, most_manifest_bytes);
    const auto manifest = text ? parse_manifest(*text) : std::nullopt;
    if (manifest && manifest->job != key) {
      refuse(name, "is of another job: " + difference(manifest->job, key));
    }
    if (!manifest && (!text || !is_about_parts(*text))) refuse(name, "is not a manifest of a part");
  }
  for (const std::string& file : names_at(place)) {
    const std::string fault = files_.find(file).fault;
    if (!fault.empty()) refuse(file, fault);
  }
}

void part_folder::expect_replaceable(const part_manifest& m) const {
  const part_place place = place_in(m);
  expect_free(place, m.job);
  const auto said = read_manifest(place);
  // A damaged manifest says that there was a part, but not what it named.
  if (!said && files_.find(name_of(place, manifest_ending)).bytes > 0) return;
  for (const part_file& file : m.files) {
    if (names(said, file, m.job)) continue;
    found_file found = files_.find(file.name);
    if (!found.is_there || found.bytes == 0) continue;
    // What a killed process left has the bytes that are to stand there.
    if (io::digest_of_file(found.file->release(), threads_) == file.digest) continue;
    throw parts_error(fmt::format(
        "{}: is there with other bytes, and no part of this job names it, so that it is "
        "not replaced: move it away, or choose another folder",
        path_of(file.name)));
  }
}

void part_folder::finish(const part_manifest& m) const {
  files_.write(name_of(place_in(m), manifest_ending), to_json(m));
}

void part_folder::remove(const job_key& key, leftovers unfinished) const {
  for (const std::string& name : files_.names()) {
    const auto place = place_of(name, manifest_ending);
    const auto manifest = place ? read_manifest(*place) : std::nullopt;
    if (manifest && manifest->job == key) {
      for (const part_file& file : manifest->files) {
        const found_file found = files_.find(file.name);
        if (found.is_there && found.fault.empty()) files_.remove(file.name);
      }
      files_.remove(name);
    }
    const auto text = step_of_sum(name) ? files_.read(name, most_manifest_bytes) : std::nullopt;
    if (text && is_about_parts(*text)) files_.remove(name);
  }
  if (unfinished == leftovers::removed) remove_unfinished();
  files_.remove_empty();
}

void part_folder::remove_unfinished() const {
  for (const std::string& name : files_.names()) {
    if (!is_unfinished_name(name)) continue;
    const found_file found = files_.find(name);
    if (found.is_there && found.fault.empty()) files_.remove(name);
  }
}

bool is_about_parts(std::string_view text) {
  for (const std::string_view words :
       {"\"format\": \"gpu-similarity part", "\"manifest_crc32\": \"",
        "\"format\": \"gpu-similarity counted"}) {
    if (text.find(words) != text.npos) return true;
  }
  return text.empty();  // nothing is lost with it
}

void expect_no_part_names(const part_folder& folder, const pairs_command& job) {
  std::error_code ignored;  // of a name that is free
  const fs::path own = fs::weakly_canonical(folder.path(), ignored);
  auto files = job.inputs();
  files.insert(files.end(), {{"--output", job.output}, {"--report", job.report}});
  for (const auto& [option, path] : files) {
    if (path.empty() || path == "-") continue;
    const fs::path file = fs::weakly_canonical(path, ignored);
    if (file.parent_path() != own || !is_name_of_parts(file.filename().native())) continue;
    throw usage_error(
        fmt::format("{}: {} has a name that files of the parts in {} have, expected another name "
                    "or another folder",
                    option, path, folder.path()));
  }
}

}  // namespace gpu::cli
