#pragma once
/// @file
/// Where an operation runs, and with which resources. Every options aggregate has one of these.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

struct CUstream_st;  // CUDA's own opaque stream type: public headers need no CUDA toolkit.

namespace gpu {
inline namespace v0 {

/// Which implementation runs.
enum class backend {
  automatic,  ///< CUDA where a usable device is present, else the CPU.
  cpu,        ///< The CPU, always available.
  cuda        ///< CUDA or an error; never falls back.
};

/// A CUDA stream that the caller owns, for calls on device memory. Default: the legacy default
/// stream.
class stream_ref {
 public:
  /// The default stream.
  constexpr stream_ref() noexcept = default;
  /// A stream of the caller, who keeps it alive.
  constexpr stream_ref(CUstream_st* stream) noexcept : stream_(stream) {}
  stream_ref(int) = delete;
  stream_ref(std::nullptr_t) = delete;
  /// As CUDA takes it.
  [[nodiscard]] constexpr CUstream_st* get() const noexcept { return stream_; }

 private:
  CUstream_st* stream_ = nullptr;
};

/// State of a running call, as the progress callback sees it.
struct progress {
  std::string_view stage;   ///< "prepare", "count" or "pairs" of all pairs, else the operation's
                            ///< name; the view lives for the call only.
  std::uint64_t done = 0;   ///< Units of work finished: pairs; rows in "prepare", where it stays 0
                            ///< until all are done on the CPU; always 0 of other operations.
  std::uint64_t total = 0;  ///< Units of work in this stage: pairs, or rows.
};

/// What the progress callback answers.
enum class progress_reply {
  proceed,  ///< Continue.
  cancel    ///< Stop with gpu::cancelled.
};

/// Called from the calling thread, a few times a second at most. `cancel` makes the operation
/// throw gpu::cancelled as soon as the work in flight is done: what it wrote to the caller's memory
/// until then is not a result. All pairs and prepared rows call it on both backends, the other
/// operations on the CPU; on CUDA these call it once, with `done` 0, before their work begins.
using progress_callback = std::function<progress_reply(const progress&)>;

/// Where an operation runs, and with which resources. A call takes each setting, or refuses it:
/// none is left aside.
///
/// | setting | host memory, CPU | host memory, CUDA | device memory |
/// |---|---|---|---|
/// | target | taken | taken | cpu is refused |
/// | devices | refused | all pairs: shared; others: one, more refused | the same |
/// | stream | refused | refused | taken |
/// | workspace_bytes | limit of host memory | limit of device memory | the same |
/// | cpu_threads | most threads | most threads, of what the host does | the same |
/// | on_progress | called | all pairs: called; others: once, before the work | the same |
///
/// A stream, cpu and devices that do not go with the memory or the target of a call are
/// gpu::invalid_argument; more devices than an operation shares its work among are
/// gpu::unsupported. Plans from extents alone are of both kinds of call, and take a stream.
struct execution {
  /// Backend; the environment variable GPU_SIMILARITY_BACKEND (cpu, cuda, auto) overrides
  /// `automatic`.
  backend target = backend::automatic;
  /// CUDA device ordinals, each once; empty: the thread's current one. All-pairs operations share
  /// the pairs among all; others take at most one. Refused with the CPU, and where CUDA is not
  /// usable.
  std::vector<int> devices = {};
  /// Stream on which the work of calls on device memory is ordered. Refused by calls on host
  /// memory, which take streams of their own and wait for them.
  stream_ref stream = {};
  /// Upper bound on scratch memory (host memory for the CPU; all that a call takes of each CUDA
  /// device), bytes. 0: the default. It is kept; gpu::out_of_memory where the least that an
  /// operation works on does not fit: one row, of all pairs on the CPU some.
  std::size_t workspace_bytes = 0;
  /// CPU threads; 0: OMP_NUM_THREADS or the processors there are. At most four a core, or 64.
  int cpu_threads = 0;
  /// Progress and cancellation; empty: none.
  progress_callback on_progress = {};
};

}  // namespace v0
}  // namespace gpu
