#include <gpu/mpi.hpp>

namespace gpu::inline v0::mpi {
namespace {

constexpr int owner = 0;                             // the rank that holds the counter
constexpr std::int64_t far = std::int64_t{1} << 62;  // beyond any number of parts

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

part_dealer::part_dealer(MPI_Comm comm, index_t parts) : parts_(parts) {
  const bool is_owner = rank_in(comm) == owner;
  MPI_Win_allocate(is_owner ? sizeof(std::int64_t) : 0, sizeof(std::int64_t), MPI_INFO_NULL, comm,
                   &counter_, &window_);
  if (is_owner) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window_);
    *counter_ = 0;
    MPI_Win_unlock(owner, window_);
  }
  MPI_Barrier(comm);
}

part_dealer::~part_dealer() {
  MPI_Win_free(&window_);
}

std::int64_t part_dealer::take(std::int64_t step) {
  std::int64_t number = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window_);
  MPI_Fetch_and_op(&step, &number, MPI_INT64_T, owner, 0, MPI_SUM, window_);
  MPI_Win_unlock(owner, window_);
  return number;
}

std::optional<index_t> part_dealer::next() {
  const std::int64_t number = take(1);
  if (number >= parts_) return {};
  return number;
}

void part_dealer::stop() {
  if (take(0) < parts_) take(far - parts_);
}

}  // namespace gpu::inline v0::mpi
