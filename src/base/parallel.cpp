#include "base/parallel.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/poll_progress.hpp"

namespace gpu::inline v0::detail {
namespace {

/// Processors that this process may use.
int processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// The number that a variable of the environment begins with, or `otherwise`.
int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  const long number = std::strtol(text, nullptr, 10);
  return number > 0 && number <= INT_MAX ? static_cast<int>(number) : otherwise;
}

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether `is_true` becomes so while the next loop of a call usually begins, or the last index of
/// a loop ends: waking a thread costs about as much.
template <class Condition>
bool comes_soon(const Condition& is_true) {
  static const bool can_spin = processors() > 1;
  if (!can_spin) return is_true();
  constexpr std::chrono::microseconds soon(50);
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (is_true()) return true;
      pause_processor();
    }
  } while (std::chrono::steady_clock::now() - start < soon);
  return false;
}

/// Held for some tens of nanoseconds by many threads at once: a mutex would put them to sleep one
/// after the other.
class short_lock {
 public:
  void lock() noexcept {
    constexpr int before_yielding = 64;
    for (int i = 0; taken_.exchange(true, std::memory_order_acquire); ++i) {
      if (i < before_yielding) {
        pause_processor();
      } else {
        std::this_thread::yield();  // who holds it may not be running
      }
    }
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_ = false;
};

/// Loops within the body of a loop have one thread.
thread_local bool in_a_loop = false;

/// A loop that is running. It lives on the stack of its caller, who waits for `inside` to be 0.
struct shared_loop {
  index_t count;
  loop_body body;
  int places;                   ///< Threads that may still join; guarded by the pool.
  int joined = 1;               ///< Threads that have joined, the caller too; guarded by the pool.
  std::atomic<int> inside = 0;  ///< Threads that work, without the caller.
  std::atomic<index_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr failure = nullptr;  ///< Written by the thread that sets `failed`.

  void work(int thread) noexcept {
    in_a_loop = true;
    try {
      for (index_t i = next++; i < count && !failed.load(std::memory_order_relaxed); i = next++) {
        poll_progress();
        body(i, thread);
      }
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
    in_a_loop = false;
  }
};

/// The threads of the process, which all calls share. They start when a loop wants them, and end
/// with the process.
class thread_pool {
 public:
  static thread_pool& instance() {
    static thread_pool pool;
    return pool;
  }

  void run(shared_loop& loop) {
    open(loop);
    loop.work(0);
    close(loop);
    const auto is_over = [&] { return loop.inside.load(std::memory_order_acquire) == 0; };
    if (comes_soon(is_over)) return;
    for (int seen = left_; !is_over(); seen = left_) left_.wait(seen);
  }

  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

 private:
  thread_pool() {
    // A forked child has none of the threads. It starts new ones.
    pthread_atfork([] { instance().lock_.lock(); }, [] { instance().lock_.unlock(); },
                   [] { instance().forget_threads(); });
  }
  ~thread_pool() {
    {
      const std::scoped_lock lock(lock_);
      is_ending_ = true;
    }
    tell_threads(INT_MAX);
    for (std::thread& each : threads_) each.join();
  }

  void open(shared_loop& loop) {
    const int wanted = loop.places;
    {
      const std::scoped_lock lock(lock_);
      open_.push_back(&loop);
      while (idle_ < wanted && std::ssize(threads_) + 1 < most_threads() && start_thread()) {
      }
    }
    tell_threads(wanted);
  }

  void close(shared_loop& loop) {
    const std::scoped_lock lock(lock_);
    std::erase(open_, &loop);
  }

  /// Whether the system gives one more.
  bool start_thread() {
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      return false;  // the calling thread does all that no other does
    }
    ++idle_;
    return true;
  }

  void tell_threads(int most) {
    ++news_;
    if (most >= idle_) return news_.notify_all();
    for (int i = 0; i < most; ++i) news_.notify_one();
  }

  void serve() {
    std::unique_lock lock(lock_);
    while (!is_ending_) {
      if (open_.empty()) {
        const int seen = news_;
        lock.unlock();
        if (!comes_soon([&] { return news_ != seen; })) news_.wait(seen);
        lock.lock();
        continue;
      }
      shared_loop& loop = *open_.front();
      const int thread = loop.joined++;
      ++loop.inside;
      if (--loop.places == 0) open_.erase(open_.begin());
      --idle_;
      lock.unlock();
      loop.work(thread);
      if (loop.inside.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // the loop may be gone now
        ++left_;
        left_.notify_all();
      }
      lock.lock();
      ++idle_;
    }
  }

  void forget_threads() {
    // Handles of threads that do not exist: neither joined nor detached.
    static_cast<void>(new std::vector<std::thread>(std::exchange(threads_, {})));
    open_.clear();
    idle_ = 0;
    in_a_loop = false;
    lock_.unlock();
  }

  short_lock lock_;
  std::vector<shared_loop*> open_;  ///< Loops that threads may join.
  std::vector<std::thread> threads_;
  std::atomic<int> idle_ = 0;  ///< Threads without a loop.
  bool is_ending_ = false;
  std::atomic<int> news_ = 0;  ///< Grows with each loop that opens.
  std::atomic<int> left_ = 0;  ///< Grows with each loop whose last other thread has left.
};

}  // namespace

int most_threads() {
  constexpr int per_core = 4;
  constexpr int always = 64;  // so that a test on two cores still has a team
  return std::max(always, per_core * processors());
}

int thread_count(int asked) {
  if (asked <= 0) {
    asked = std::min(number_in("OMP_NUM_THREADS", processors()),
                     number_in("OMP_THREAD_LIMIT", INT_MAX));
  }
  return std::clamp(asked, 1, most_threads());
}

void parallel_for(index_t count, int threads, loop_body body) {
  const int team = static_cast<int>(std::clamp<index_t>(count, 1, threads));
  if (team == 1 || in_a_loop) {
    for (index_t i = 0; i < count; ++i) {
      if (i > 0) poll_progress();
      body(i, 0);
    }
    return;
  }
  shared_loop loop{.count = count, .body = body, .places = team - 1};
  thread_pool::instance().run(loop);
  if (loop.failed) std::rethrow_exception(loop.failure);
}

}  // namespace gpu::inline v0::detail
