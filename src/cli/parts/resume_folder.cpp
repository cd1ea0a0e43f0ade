#include "cli/parts/resume_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <utility>

namespace gpu::cli {
namespace {

[[noreturn]] void refuse(const part_folder& folder) {
  throw parts_error(folder.path() + ": another process works on this job");
}

/// Network file systems lock files, but not folders.
int lock_file(const part_folder& folder) {
  const int lock = folder.files().open_lock(lock_name);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return lock;
  ::close(lock);
  refuse(folder);
}

}  // namespace

folder_lock::folder_lock(const part_folder& folder, lock_kind kind) {
  if (folder.files().lock(kind, lock_) != lock_state::refused) return;
  if (kind == lock_kind::exclusive) refuse(folder);
  throw parts_error(folder.path() +
                    ": a run with --resume works on this job, which computes all parts");
}

resume_folder::resume_folder(part_folder folder) : folder_(std::move(folder)) {
  folder_.create();
  folder_lock_.emplace(folder_, lock_kind::exclusive);
  lock_ = lock_file(folder_);
  if (folder_lock_->is_held()) folder_.remove_unfinished();
}

resume_folder::~resume_folder() {
  if (lock_ >= 0) ::close(lock_);
}

void resume_folder::remove(const job_key& key) noexcept {
  using enum part_folder::leftovers;
  try {
    folder_.files().remove_if_empty(lock_name);
    // Only runs with --resume are in a hidden folder, and one at a time.
    const bool is_alone = folder_lock_->is_held() || folder_.files().kind() == folder_kind::hidden;
    folder_.remove(key, is_alone ? removed : kept);
  } catch (const std::exception&) {  // no memory: the folder stays
  }
}

part_folder folder_of_resumed(const pairs_command& job, const std::string& output) {
  const int threads = job.pairs.exec.cpu_threads;
  if (!job.part_folder.empty()) return part_folder(job.part_folder, threads);
  const std::size_t name_at = output.rfind('/') + 1;
  return part_folder(output.substr(0, name_at) + "." + output.substr(name_at) + ".parts", threads,
                     folder_kind::hidden);
}

}  // namespace gpu::cli
