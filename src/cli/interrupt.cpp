#include "cli/interrupt.hpp"

#include <csignal>

namespace gpu::cli {
namespace {

volatile std::sig_atomic_t signal_count = 0;

extern "C" void note_signal(int) {
  signal_count = 1;
}

}  // namespace

void handle_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool is_interrupted() noexcept {
  return signal_count != 0;
}

}  // namespace gpu::cli
