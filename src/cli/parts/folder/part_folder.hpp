#pragma once
// A folder of parts: which parts are there whole, and what may be written or removed in it. File
// times are not used, because the clocks of machines differ.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cli/parts/folder/folder_files.hpp"
#include "cli/parts/manifest/manifest.hpp"
#include "cli/parts/manifest/part_names.hpp"

namespace gpu::cli {

enum class part_state { missing, damaged, done };

/// How much of the files is looked at.
enum class part_check {
  sizes,   ///< That they are there and as long as they should be.
  digests  ///< Every byte.
};

struct part_status {
  part_state state = part_state::missing;
  std::string reason = {};                     ///< Of a damaged part.
  std::optional<part_manifest> manifest = {};  ///< Where it can be read.
};

class part_folder {
 public:
  /// @param threads that read files to check them, at most; 0: the default
  explicit part_folder(std::string path, int threads = 0, folder_kind kind = folder_kind::named)
      : files_(std::move(path), kind), threads_(threads) {}

  [[nodiscard]] const std::string& path() const noexcept { return files_.path(); }
  [[nodiscard]] std::string path_of(std::string_view name) const { return files_.path_of(name); }
  [[nodiscard]] const folder_files& files() const noexcept { return files_; }

  /// Makes the folder where it is not there.
  /// @throw io::output_error, parts_error
  void create() const { files_.create(); }

  /// The manifests by step, and how many parts the job has.
  struct contents {
    index_t of = 0;  ///< 0: there is no manifest.
    std::map<int, std::set<index_t>> numbers;
    std::size_t unfinished = 0;  ///< Files that a process still writes, or was killed over.
  };
  /// @throw parts_error where the folder cannot be read, or holds parts of two numbers of parts.
  [[nodiscard]] contents list() const;

  /// Whether that part is there, by its manifest and its files.
  [[nodiscard]] part_status check(const part_place& place, part_check how) const;
  /// Any manifest that can be read: it tells the job.
  [[nodiscard]] std::optional<part_manifest> any_manifest(const contents& listed) const;

  /// @throw parts_error where a manifest in the folder is of another job than `key`, or the job has
  ///   another number of parts; reads one manifest.
  void expect_job(const job_key& key, index_t of) const;

  /// @throw parts_error where something stands in the place of the manifest, or of a file that a
  ///   part at `place` may have, that no job in parts has written: a link, a folder, another user's
  ///   file, a text that is no manifest.
  void expect_free(const part_place& place, const job_key& key) const;
  /// @throw parts_error where a file of `manifest` stands there with other bytes, and no manifest
  /// of
  ///   this job names it: then it is not the job's.
  void expect_replaceable(const part_manifest& manifest) const;
  /// Writes the manifest: its files are there.
  /// @throw io::output_error
  void finish(const part_manifest& manifest) const;

  /// Removes the files that the manifests of this job name, damaged or not, these manifests, and
  /// the sums of counts; then the folder, where it is empty. What is left unfinished there is
  /// removed too where `unfinished` says so.
  enum class leftovers { kept, removed };
  void remove(const job_key& key, leftovers unfinished) const;
  void remove_unfinished() const;

 private:
  [[nodiscard]] std::optional<part_manifest> read_manifest(const part_place& place) const;

  folder_files files_;
  int threads_;
};

/// A manifest is no longer than this.
inline constexpr std::uint64_t most_manifest_bytes = std::uint64_t{1} << 20;

/// Whether `text` is, or was before it was damaged, what a job in parts writes about itself.
[[nodiscard]] bool is_about_parts(std::string_view text);

/// @throw usage_error where a file that the command line of `job` names is in this folder under a
///   name that files of parts have: it would be taken for one of them.
void expect_no_part_names(const part_folder& folder, const pairs_command& job);

}  // namespace gpu::cli
