#pragma once
// Host threads that are kept between calls. With several GPUs, starting and ending the threads of a
// call takes longer than a GPU's part of the upload.

#include <functional>

namespace gpu::cuda {

/// Runs work(i) for every i of [0, threads), each on a thread of its own and all at once, and
/// meanwhile() on the calling thread; returns when all have ended. `work` must not throw.
void run_on_threads(int threads, const std::function<void(int)>& work,
                    const std::function<void()>& meanwhile);

}  // namespace gpu::cuda
