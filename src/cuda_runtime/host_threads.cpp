#include "cuda_runtime/host_threads.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include <gpu/error.hpp>

namespace gpu::cuda {
namespace {

struct job {
  const std::function<void(int)>& work;
  int running;
};

struct task {
  job* of;
  int index;
};

struct thread_pool {
  std::mutex mutex;
  std::condition_variable has_task;
  std::condition_variable job_ended;
  std::deque<task> tasks;
  std::size_t idle = 0;  // threads without a task, at least as many as there are tasks
};

// Never destroyed, because its threads wait in it until the program ends.
thread_pool& pool() {
  static auto& only = *new thread_pool;
  return only;
}

void serve() {
  thread_pool& of = pool();
  std::unique_lock held(of.mutex);
  for (;;) {
    of.has_task.wait(held, [&] { return !of.tasks.empty(); });
    const task mine = of.tasks.front();
    of.tasks.pop_front();
    --of.idle;
    held.unlock();
    mine.of->work(mine.index);
    held.lock();
    ++of.idle;
    if (--mine.of->running == 0) of.job_ended.notify_all();
  }
}

void start_thread() {
  try {
    std::thread(serve).detach();
  } catch (const std::system_error&) {
    throw out_of_memory(
        "a thread of the host cannot be started: memory or the number of threads does not suffice",
        0);
  }
}

void start(job& mine, int threads) {
  thread_pool& to = pool();
  const std::lock_guard held(to.mutex);
  while (to.idle < to.tasks.size() + static_cast<std::size_t>(threads)) {
    start_thread();
    ++to.idle;
  }
  for (int index = 0; index < threads; ++index) to.tasks.push_back({&mine, index});
  to.has_task.notify_all();
}

}  // namespace

void run_on_threads(int threads, const std::function<void(int)>& work,
                    const std::function<void()>& meanwhile) {
  job mine{work, threads};
  start(mine, threads);
  struct wait_for_job {
    job& of;
    ~wait_for_job() {
      std::unique_lock held(pool().mutex);
      pool().job_ended.wait(held, [&] { return of.running == 0; });
    }
  };
  const wait_for_job at_end{mine};
  meanwhile();
}

}  // namespace gpu::cuda
