#pragma once
// What the memory of the process consists of, from /proc and malloc.

#include <cstddef>
#include <string>

namespace gpu_test {

/// In bytes. The sum of the first three is the resident memory as the system counts it.
struct host_memory {
  std::size_t anonymous = 0;  ///< Resident: heaps, stacks, mappings without a file.
  std::size_t driver = 0;     ///< Resident: mappings of /dev, page-locked memory among them.
  std::size_t files = 0;      ///< Resident: code and what else is mapped from files.
  std::size_t in_use = 0;     ///< By malloc, and not freed.
  std::size_t kept = 0;       ///< By malloc, freed and not given back to the system.

  [[nodiscard]] std::size_t resident() const { return anonymous + driver + files; }
};

host_memory measure_host_memory();

/// Makes malloc return large blocks to the system when they are freed. Otherwise it keeps up to
/// 64 MiB for each thread that ever allocated, which looks like a leak.
void keep_no_large_blocks();

/// Returns to the system what malloc still keeps.
void give_back_free_memory();

/// "1201 MiB resident (anonymous 900, driver 200, files 101; malloc 100 in use, 700 kept)".
std::string to_string(const host_memory& memory);

}  // namespace gpu_test
