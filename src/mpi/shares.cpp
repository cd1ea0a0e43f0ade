// What each rank takes of its host, and into how many parts a job is cut.
#include <sched.h>

#include <algorithm>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/mpi.hpp>

namespace gpu::inline v0::mpi {
namespace {

/// The cores that this process may run on.
cpu_set_t own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return set;
}

bool meet(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return CPU_COUNT(&both) > 0;
}

/// Where a call cannot run at all, the call itself reports that later.
bool may_run_on_cuda(const execution& exec) {
  try {
    return resolve_backend(exec) == backend::cuda;
  } catch (const error&) {
    return false;
  }
}

}  // namespace

execution on_this_rank(MPI_Comm comm, execution exec) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &ranks);
  // mpirun may bind each rank to cores of its own, to those of a socket, or to none.
  const cpu_set_t own = own_cores();
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, host);
  MPI_Comm_free(&host);
  if (exec.cpu_threads == 0) {
    const auto sharing =
        std::count_if(all.begin(), all.end(), [&](const cpu_set_t& set) { return meet(set, own); });
    exec.cpu_threads = std::max(1, CPU_COUNT(&own) / std::max(1, static_cast<int>(sharing)));
  }
  if (exec.devices.empty() && may_run_on_cuda(exec)) {
    const std::vector<device_info> devices = available_devices();
    if (!devices.empty()) {
      const auto mine = static_cast<std::size_t>(rank) % devices.size();
      exec.devices = {devices[mine].ordinal};
    }
  }
  return exec;
}

index_t suggested_parts(index_t rows, index_t y_rows, int ranks, backend used) {
  // Pairs of 30 columns, at a strict cut, that take as long as preparing a row; see docs/parts.md.
  const double row_in_pairs = used == backend::cuda ? 80e3 : 2e3;
  constexpr double times_the_preparing = 20;
  constexpr double most_a_rank = 16;
  const auto x = static_cast<double>(rows);
  const auto y = static_cast<double>(y_rows);
  const double pairs = y_rows > 0 ? x * y : x * (x - 1) / 2;
  const double of_a_part = times_the_preparing * row_in_pairs * std::max(1.0, x + y);
  const double n = ranks;
  return static_cast<index_t>(std::clamp(pairs / of_a_part, n, most_a_rank * n));
}

}  // namespace gpu::inline v0::mpi
