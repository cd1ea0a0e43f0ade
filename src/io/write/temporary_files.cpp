#include "io/write/temporary_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <utility>

namespace gpu::io {
namespace {

enum class slot_state : int { empty, filling, in_use };

/// Fixed memory: a signal handler may neither allocate nor take a lock.
struct slot {
  std::atomic<slot_state> state{slot_state::empty};
  std::array<char, PATH_MAX> path = {};
};
static_assert(std::atomic<slot_state>::is_always_lock_free);

constexpr std::size_t slot_count = 8;
std::array<slot, slot_count> slots;

}  // namespace

temporary_file_entry::temporary_file_entry(const std::string& path) noexcept {
  if (path.size() >= PATH_MAX) return;
  for (std::size_t i = 0; i < slot_count; ++i) {
    slot_state expected = slot_state::empty;
    if (!slots[i].state.compare_exchange_strong(expected, slot_state::filling)) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].state = slot_state::in_use;
    slot_ = i;
    return;
  }
}

temporary_file_entry::~temporary_file_entry() {
  release();
}

void temporary_file_entry::release() noexcept {
  if (slot_ != none) slots[std::exchange(slot_, none)].state = slot_state::empty;
}

void remove_temporary_files() noexcept {
  for (const slot& s : slots) {
    if (s.state == slot_state::in_use) ::unlink(s.path.data());
  }
}

}  // namespace gpu::io
