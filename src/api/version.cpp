#include <gpu/version.hpp>

namespace gpu {
inline namespace v0 {

std::string_view version() noexcept {
  return GPU_SIMILARITY_VERSION;
}

}  // namespace v0
}  // namespace gpu
