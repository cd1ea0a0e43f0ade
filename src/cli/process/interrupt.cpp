#include "cli/process/interrupt.hpp"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "io/write/temporary_files.hpp"

namespace gpu::cli {
namespace {

constexpr int signal_code_base = 128;
constexpr auto patience = std::chrono::milliseconds(300);
constexpr auto poll_interval = std::chrono::milliseconds(20);

std::atomic<int> noted_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler takes no lock
sem_t signal_noted;

std::mutex phase_mutex;
bool is_abandonable = false;             // guarded by phase_mutex
std::function<void()> phase_last_words;  // guarded by phase_mutex

/// Calls nothing but what a signal handler may call.
extern "C" void note_signal(int signal) {
  const int error_number = errno;
  if (noted_signal.exchange(signal) != 0) {
    io::remove_temporary_files();
    ::_exit(signal_code_base + signal);
  }
  ::sem_post(&signal_noted);
  errno = error_number;
}

/// Ends the process where the phase that runs does not end by itself. A phase that begins later
/// asks at once, or is abandoned as well.
void watch() {
  while (::sem_wait(&signal_noted) != 0) {
  }
  std::this_thread::sleep_for(patience);
  for (;;) {
    {
      const std::scoped_lock lock(phase_mutex);
      if (is_abandonable) {
        if (phase_last_words) phase_last_words();
        io::remove_temporary_files();
        ::_exit(interrupt_exit_code());
      }
    }
    std::this_thread::sleep_for(poll_interval);
  }
}

void install(int signal) {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: what waits is to notice
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  ::sem_init(&signal_noted, 0, 0);
  install(SIGINT);
  install(SIGTERM);
  struct sigaction hang_up = {};
  const bool is_ignored =
      ::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler == SIG_IGN;
  if (!is_ignored) install(SIGHUP);  // nohup
  try {
    std::thread(watch).detach();
  } catch (const std::system_error&) {
    // No thread to be had: only what asks is interrupted.
  }
}

bool is_interrupted() noexcept {
  return noted_signal != 0;
}

int interrupt_exit_code() noexcept {
  return signal_code_base + noted_signal;
}

abandonable_phase::abandonable_phase(std::function<void()> last_words) {
  const std::scoped_lock lock(phase_mutex);
  is_abandonable = true;
  phase_last_words = std::move(last_words);
}

abandonable_phase::~abandonable_phase() {
  end();
}

void abandonable_phase::end() noexcept {
  const std::scoped_lock lock(phase_mutex);
  is_abandonable = false;
  phase_last_words = nullptr;
}

}  // namespace gpu::cli
