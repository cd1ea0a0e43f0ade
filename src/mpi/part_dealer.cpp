#include <chrono>

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

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

part_dealer::part_dealer(MPI_Comm comm, index_t parts)
    : comm_(comm), serves_(rank_in(comm) == owner && size_of(comm) > 1), parts_(parts) {
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

std::int64_t part_dealer::take(std::int64_t step) const {
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

void part_dealer::serve() const {
  if (!serves_) return;
  constexpr auto patience = std::chrono::microseconds(500);
  const auto start = std::chrono::steady_clock::now();
  do {
    int is_there = 0;  // no message is awaited: the call lets MPI answer
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, MPI_STATUS_IGNORE);
    // Once all are dealt, nobody can do anything with an answer.
    if (take(0) >= parts_) return;
  } while (std::chrono::steady_clock::now() - start < patience);
}

void part_dealer::stop() {
  if (take(0) < parts_) static_cast<void>(take(far - parts_));
}

}  // namespace gpu::inline v0::mpi
