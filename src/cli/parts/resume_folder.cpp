#include "cli/parts/resume_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace gpu::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "lock";

bool is_of_parts(const std::string& name) {
  return name.starts_with("part-") || name.starts_with("count-") ||
         name.starts_with("header.tsv") || name.starts_with("names.txt") ||
         name.starts_with("patterns.") || name == lock_name;
}

template <class Chosen>
void remove_files(const std::string& folder, const Chosen& is_chosen) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (is_of_parts(name) && is_chosen(name)) found.push_back(at->path());
  }
  for (const fs::path& path : found) fs::remove(path, failed);
}

}  // namespace

resume_folder::resume_folder(const std::string& path) : folder_(path) {
  folder_.create();
  lock_ = ::open(folder_.path_of(lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw parts_error(path + ": another process works on this job");
  }
  remove_files(path, [](const std::string& name) { return name.ends_with(".partial"); });
}

resume_folder::~resume_folder() {
  if (lock_ >= 0) ::close(lock_);
}

void resume_folder::remove() noexcept {
  try {
    remove_files(folder_.path(), [](const std::string&) { return true; });
    std::error_code failed;
    fs::remove(folder_.path(), failed);
  } catch (const std::exception&) {  // no memory: the folder stays
  }
}

std::string hidden_folder_of(const std::string& output) {
  const std::size_t name_at = output.rfind('/') + 1;
  return output.substr(0, name_at) + "." + output.substr(name_at) + ".parts";
}

}  // namespace gpu::cli
