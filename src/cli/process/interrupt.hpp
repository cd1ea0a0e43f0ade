#pragma once
// SIGINT, SIGTERM and SIGHUP: the work asks from time to time whether one came; work that cannot
// ask is ended.

#include <functional>

namespace gpu::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP (unless ignored) is noted and interrupts what
/// waits; the second ends the process, without its temporary files. SIGPIPE and SIGXFSZ become
/// errors of the write.
/// Call once, before any thread starts.
void handle_signals();

/// Whether the run is to end.
[[nodiscard]] bool is_interrupted() noexcept;

/// 128 + the signal that was noted: 130 of SIGINT, 143 of SIGTERM.
[[nodiscard]] int interrupt_exit_code() noexcept;

/// A phase of the run that loses nothing when the process ends, and that cannot ask for long: one
/// that computes what is written afterwards, say. Where it has not ended a third of a second after
/// a signal, a thread calls `last_words`, removes the temporary files and ends the process with
/// interrupt_exit_code(). One at a time.
class abandonable_phase {
 public:
  explicit abandonable_phase(std::function<void()> last_words);
  ~abandonable_phase();
  abandonable_phase(const abandonable_phase&) = delete;
  abandonable_phase& operator=(const abandonable_phase&) = delete;
  /// Ends the phase: from now on ending the process would lose something.
  void end() noexcept;
};

}  // namespace gpu::cli
