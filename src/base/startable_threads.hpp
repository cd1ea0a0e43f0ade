#pragma once
// How many threads the system starts for OpenMP, which ends the process where it gets fewer than it
// asks for.

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace gpu::cpu {

/// Bytes of a stack that OMP_STACKSIZE asks for; 0: the system's default.
inline std::size_t openmp_stack_bytes() {
  const char* const text = std::getenv("OMP_STACKSIZE");
  if (text == nullptr) return 0;
  char* end = nullptr;
  const std::size_t count = std::strtoull(text, &end, 10);
  while (*end == ' ') ++end;
  switch (*end) {
    case 'b':
    case 'B':
      return count;
    case 'm':
    case 'M':
      return count << 20;
    case 'g':
    case 'G':
      return count << 30;
    default:
      return count << 10;
  }
}

/// Where threads wait until all are there.
struct thread_gate {
  std::mutex mutex;
  std::condition_variable opened;
  bool is_open = false;

  static void* wait(void* gate) {
    auto& at = *static_cast<thread_gate*>(gate);
    std::unique_lock lock(at.mutex);
    at.opened.wait(lock, [&] { return at.is_open; });
    return nullptr;
  }
};

/// Starts up to `count` threads, all at once, as OpenMP would, and ends them: how many there were.
inline int count_startable(int count) {
  thread_gate gate;
  std::vector<pthread_t> team;
  team.reserve(static_cast<std::size_t>(count));
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  if (const std::size_t bytes = openmp_stack_bytes(); bytes != 0) {
    pthread_attr_setstacksize(&attributes, bytes);  // refused as by OpenMP, which keeps the default
  }
  pthread_t member{};
  while (static_cast<int>(team.size()) < count &&
         pthread_create(&member, &attributes, thread_gate::wait, &gate) == 0) {
    team.push_back(member);
  }
  pthread_attr_destroy(&attributes);
  {
    const std::scoped_lock lock(gate.mutex);
    gate.is_open = true;
  }
  gate.opened.notify_all();
  for (const pthread_t of : team) pthread_join(of, nullptr);
  return static_cast<int>(team.size());
}

/// The largest team up to `wanted` that parallel regions of this thread get. Where it is larger than
/// any before, twice as many threads are started to see whether they can be: GCC's OpenMP ends the
/// threads that a smaller team leaves out, and starts others before these are gone.
inline int startable_team(int wanted) {
  thread_local int proven = 1;
  if (wanted <= proven || omp_in_parallel() != 0) return wanted;
  const int team = 1 + std::min(wanted - 1, count_startable(2 * (wanted - 1)) / 2);
  std::atomic<int> there{0};
#pragma omp parallel num_threads(team)
  there.fetch_add(1, std::memory_order_relaxed);
  proven = there;
  return team;
}

}  // namespace gpu::cpu
