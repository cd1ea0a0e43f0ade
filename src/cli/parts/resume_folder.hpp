#pragma once
// The folder that a run with --resume keeps its parts in, and the locks of all who work in one.

#include <optional>
#include <string>

#include "cli/parts/folder/part_folder.hpp"

namespace gpu::cli {

/// Locks a folder for the life of the object: parts lock it together, a run with --resume alone. A
/// file system that has no locks refuses nobody.
class folder_lock {
 public:
  /// @throw parts_error where others work there that do not go with this one.
  folder_lock(const part_folder& folder, lock_kind kind);
  /// Whether others are really kept out.
  [[nodiscard]] bool is_held() const noexcept { return lock_.has_value(); }

 private:
  std::optional<open_file> lock_;
};

/// Holds the folder for one process: a second one is refused while it lives. Where the file system
/// has no locks, two processes both work, and neither harms the other.
class resume_folder {
 public:
  /// Makes the folder. What killed processes left unfinished in it is removed where nobody else can
  /// be at work there.
  /// @throw parts_error where another process works there; io::output_error
  explicit resume_folder(part_folder folder);
  ~resume_folder();
  resume_folder(const resume_folder&) = delete;
  resume_folder& operator=(const resume_folder&) = delete;

  [[nodiscard]] const part_folder& parts() const noexcept { return folder_; }
  /// The result has its name: the parts are not needed any more. Removes the files that parts of
  /// this job have, and the folder where it is empty then; anything else in it stays.
  void remove(const job_key& key) noexcept;

 private:
  part_folder folder_;
  std::optional<folder_lock> folder_lock_;
  int lock_ = -1;
};

/// The folder that a run keeps its parts in: that of --output-dir, or the hidden one beside the
/// output, "/data/.edges.tsv.parts" of "/data/edges.tsv".
[[nodiscard]] part_folder folder_of_resumed(const pairs_command& job, const std::string& output);

}  // namespace gpu::cli
