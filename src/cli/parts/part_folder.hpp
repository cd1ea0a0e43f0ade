#pragma once
// A folder of parts: the names in it, and which parts are there whole. File times are not used,
// because the clocks of machines differ.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/parts/manifest.hpp"

namespace gpu::cli {

/// Which part, of which step: 0 is the result, from 1 on a counting pass for --adjust bh.
struct part_place {
  int step = 0;
  index_t number = 1;  ///< From 1 to `of`.
  index_t of = 1;
};

/// "part 3 of 7", "count 1 of part 3 of 7"
[[nodiscard]] std::string text_of(const part_place& place);

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
  explicit part_folder(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  /// "part-03-of-12" with the ending behind it; the numbers of a job sort as text.
  [[nodiscard]] static std::string name_of(const part_place& place, const std::string& ending);

  /// Makes the folder where it is not there.
  /// @throw io::output_error
  void create() const;

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

 private:
  std::string path_;
};

/// All of a file; nothing where it cannot be read.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path);

/// Writes a small file so that it appears whole or not at all.
/// @throw io::output_error
void write_whole_file(const std::string& path, std::string_view text);

}  // namespace gpu::cli
