#include <gpu/pair_checksum.hpp>

#include <fmt/format.h>

namespace gpu::inline v0 {

std::string to_string(const pair_checksum& checksum) {
  return fmt::format("{}:{:016x}:{:016x}", checksum.count, checksum.mix1, checksum.mix2);
}

}  // namespace gpu::inline v0
