#pragma once
/// @file
/// What the options of all operations share: where they run, with which resources, and what they do
/// with a NaN. And the backends and devices that there are.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

struct CUstream_st;  // CUDA's own opaque stream type: public headers need no CUDA toolkit.

namespace gpu {
inline namespace v0 {

/// What an operation does with NaN input. Each operation names the ones that it offers; another is
/// gpu::unsupported.
enum class nan_policy {
  reject,     ///< gpu::invalid_argument that names row and column.
  propagate,  ///< The results that depend on the NaN are NaN; no others are touched.
  omit,       ///< A NaN counts as absent.
  pairwise    ///< All pairs: a NaN is a missing value, and each pair takes the columns that both of
              ///< its rows have.
};

/// Which implementation runs.
enum class backend {
  automatic,  ///< CUDA where it can be used, except for all pairs that the CPU should end first.
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

/// One backend as built into this library.
struct backend_info {
  backend kind = backend::cpu;   ///< `cpu` or `cuda`.
  std::string name = {};         ///< "cpu" or "cuda".
  std::string description = {};  ///< Instruction set and threads, or runtime and driver version.
  bool usable = false;           ///< Whether a call can run on it here and now.
  std::string reason = {};       ///< Why not, where it is not usable.
};

/// What the library holds for a device.
enum class device_code {
  machine,   ///< Machine code.
  portable,  ///< PTX alone: the driver compiles the kernels of a call at its first use, which takes
             ///< seconds, and keeps them in its cache.
  none       ///< Nothing that the device runs: it is not used.
};

/// One CUDA device.
struct device_info {
  int ordinal = 0;                          ///< As execution::devices takes it.
  std::string name = {};                    ///< As the driver gives it.
  int compute_major = 0;                    ///< Compute capability, before the dot.
  int compute_minor = 0;                    ///< Compute capability, behind the dot.
  int multiprocessors = 0;                  ///< Streaming multiprocessors.
  std::size_t memory_bytes = 0;             ///< Device memory in all.
  std::size_t l2_bytes = 0;                 ///< Second-level cache.
  device_code code = device_code::machine;  ///< What the library holds for it.
  int code_major = 0;  ///< Compute capability that this was compiled for, before the dot.
  int code_minor = 0;  ///< The same, behind the dot.
};

/// Every backend of this build, the CPU first. Never throws for a missing device or driver.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<backend_info> available_backends();

/// The CUDA devices that can be used; empty where there are none.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<device_info> available_devices();

/// The backend that a call with this `execution` would run on, `cpu` or `cuda`, unless `automatic`
/// leaves all pairs to the CPU. `target` automatic: the environment's GPU_SIMILARITY_BACKEND.
/// @throw gpu::backend_unavailable where CUDA, or a device, is asked for and cannot be used.
/// @throw gpu::invalid_argument where the environment variable has another value, a device ordinal
///   does not exist, or devices are named and the CPU is asked for.
[[nodiscard]] GPU_SIMILARITY_EXPORT backend resolve_backend(const execution& exec = {});

/// "machine", "portable" or "none".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(device_code code) noexcept;

/// "automatic", "cpu" or "cuda".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(backend kind) noexcept;

}  // namespace v0
}  // namespace gpu
