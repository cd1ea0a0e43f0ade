#include <chrono>
#include <utility>

#include <gpu/mpi.hpp>

namespace gpu::inline v0::mpi {
namespace {

constexpr int owner = 0;  // the rank that holds the counter

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
    : comm_(comm), serves_(rank_in(comm) == owner && parts > size_of(comm)), parts_(parts) {
  const int rank = rank_in(comm);
  if (parts <= size_of(comm)) {
    if (rank < parts) own_ = rank;
    return;
  }
  const bool is_owner = rank == owner;
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
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

std::int64_t part_dealer::add(std::int64_t value) const {
  std::int64_t number = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window_);
  MPI_Fetch_and_op(&value, &number, MPI_INT64_T, owner, 0, MPI_SUM, window_);
  MPI_Win_unlock(owner, window_);
  return number;
}

std::optional<index_t> part_dealer::next() {
  if (window_ == MPI_WIN_NULL) return std::exchange(own_, std::nullopt);
  const std::int64_t number = add(1);
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
    if (add(0) >= parts_) return;
  } while (std::chrono::steady_clock::now() - start < patience);
}

void part_dealer::stop() {
  own_.reset();
  if (window_ == MPI_WIN_NULL) return;
  add(parts_);
}

}  // namespace gpu::inline v0::mpi
