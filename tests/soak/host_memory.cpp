#include "soak/host_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <sstream>

namespace gpu_test {
namespace {

/// The head of a mapping in /proc/self/smaps: "begin-end rights offset device inode path".
std::string path_of(const std::string& head) {
  std::istringstream words(head);
  std::string word;
  for (int i = 0; i < 5; ++i) words >> word;
  word.clear();
  words >> word;
  return word;
}

/// The member to which a mapping is added.
std::size_t& part_of(host_memory& memory, const std::string& path) {
  if (path.starts_with("/dev/")) return memory.driver;
  if (path.starts_with("/")) return memory.files;
  return memory.anonymous;
}

}  // namespace

host_memory measure_host_memory() {
  host_memory out;
  std::ifstream maps("/proc/self/smaps");
  std::size_t* part = &out.anonymous;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with("Rss:")) {
      constexpr std::size_t unit = 1024;
      *part += unit * std::stoull(line.substr(4));
    } else if (!line.empty() && (line[0] < 'A' || line[0] > 'Z')) {
      part = &part_of(out, path_of(line));
    }
  }
  const struct mallinfo2 heaps = mallinfo2();  // of all arenas
  out.in_use = heaps.uordblks + heaps.hblkhd;
  out.kept = heaps.fordblks;
  return out;
}

void keep_no_large_blocks() {
  constexpr int large = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, large);
}

void give_back_free_memory() {
  malloc_trim(0);
}

std::string to_string(const host_memory& memory) {
  const auto mib = [](std::size_t bytes) { return std::to_string(bytes >> 20); };
  return mib(memory.resident()) + " MiB resident (anonymous " + mib(memory.anonymous) +
         ", driver " + mib(memory.driver) + ", files " + mib(memory.files) + "; malloc " +
         mib(memory.in_use) + " in use, " + mib(memory.kept) + " kept)";
}

}  // namespace gpu_test
