#pragma once
// The folder that a run with --resume keeps its parts in.

#include <string>

#include "cli/parts/part_folder.hpp"

namespace gpu::cli {

/// Holds the folder for one process: a second one is refused while it lives. Where the file system
/// has no locks, two processes both work, and neither harms the other.
class resume_folder {
 public:
  /// Makes the folder, and removes what killed processes left unfinished in it.
  /// @throw parts_error where another process works there; io::output_error
  explicit resume_folder(const std::string& path);
  ~resume_folder();
  resume_folder(const resume_folder&) = delete;
  resume_folder& operator=(const resume_folder&) = delete;

  [[nodiscard]] const part_folder& parts() const noexcept { return folder_; }
  /// The result has its name: the parts are not needed any more. Removes the files that parts have
  /// and the folder where it is empty then; anything else in it stays.
  void remove() noexcept;

 private:
  part_folder folder_;
  int lock_ = -1;
};

/// "/data/.edges.tsv.parts" of "/data/edges.tsv".
[[nodiscard]] std::string hidden_folder_of(const std::string& output);

}  // namespace gpu::cli
