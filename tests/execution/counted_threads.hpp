#pragma once
// Threads of this process that counted_threads.cpp has seen.

namespace gpu_test {

/// Since the process began.
int threads_created();
/// Now, without the first thread of the process.
int threads_alive();
/// Whether the system refuses threads from now on.
void refuse_threads(bool refused);
/// At once, since the last such call.
int most_threads_alive();

}  // namespace gpu_test
