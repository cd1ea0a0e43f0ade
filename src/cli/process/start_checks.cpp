#include "cli/process/start_checks.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "cli/process/exit_code.hpp"

namespace gpu::cli {
namespace {

/// Starts the threads that the run will have, all at once, and ends them. OpenMP ends the process
/// with a message of its own where it gets none.
void check_threads(int count) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::vector<std::thread> team;
  const auto end_all = [&] {
    {
      const std::scoped_lock lock(mutex);
      is_over = true;
    }
    changed.notify_all();
    for (std::thread& member : team) member.join();
  };
  team.reserve(static_cast<std::size_t>(count));
  try {
    for (int i = 1; i < count; ++i) {
      team.emplace_back([&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return is_over; });
      });
    }
  } catch (const std::system_error&) {
    const std::size_t started = team.size() + 1;
    end_all();
    throw no_threads(fmt::format(
        "the system starts {} threads, {} are needed: use fewer with --threads", started, count));
  }
  end_all();
}

}  // namespace

void check_execution(const execution& exec) {
  try {
    (void)resolve_backend(exec);
  } catch (const invalid_argument& error) {
    throw refused_options(error.what());
  }
  const int threads = detail::thread_count(exec.cpu_threads);
  // What is asked for no number of threads, as the joining of parts, has that of the run too.
  omp_set_num_threads(threads);
  check_threads(threads);
}

}  // namespace gpu::cli
