#pragma once
// SIGINT, SIGTERM and SIGHUP as a question that the work asks now and then, and as an end of work
// that cannot ask.

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

/// Whether what there is of a result is worth keeping: after SIGINT, by which a person ends a run,
/// not after the signals by which a system does.
[[nodiscard]] bool keeps_partial_results() noexcept;

/// A part of the run which loses nothing when the process ends, and which may not ask for long:
/// computing what is written afterwards, say. Where it has not ended a third of a second after a
/// signal, a thread calls `last_words`, removes the temporary files and ends the process with
/// interrupt_exit_code(). One at a time.
class abandonable_phase {
 public:
  explicit abandonable_phase(std::function<void()> last_words);
  ~abandonable_phase();
  abandonable_phase(const abandonable_phase&) = delete;
  abandonable_phase& operator=(const abandonable_phase&) = delete;
  /// From now on there is something to lose.
  void end() noexcept;
};

}  // namespace gpu::cli
