#include "io/write/edges/edge_pipeline.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace gpu::io {
namespace {

// Blocks that are not copied are cut so small that every thread has several of a batch of the
// device, which holds 2^19 edges.
constexpr std::size_t lent_edges = std::size_t{1} << 14;

}  // namespace

edge_pipeline::edge_pipeline(output_file& out, std::size_t threads, std::size_t block_edges,
                             formatter format)
    : out_(out),
      most_threads_(threads > 1 ? threads : 0),
      most_blocks_(2 * most_threads_ + 2),
      block_edges_(block_edges),
      format_(std::move(format)),
      formatted_(most_blocks_) {}

edge_pipeline::edge_pipeline(output_file& out, std::size_t threads, std::size_t block_edges)
    : edge_pipeline(out, out.has_places() ? threads : std::min<std::size_t>(threads, 2),
                    block_edges, [](std::span<const edge> edges, std::size_t, block_text&) {
                      return std::string_view(reinterpret_cast<const char*>(edges.data()),
                                              edges.size_bytes());
                    }) {
  has_places_ = out.has_places();
}

edge_pipeline::~edge_pipeline() {
  {
    const std::scoped_lock lock(mutex_);
    is_abandoned_ = true;
    is_ending_ = true;
    waiting_.clear();
  }
  came_.notify_all();
}

void edge_pipeline::push(std::span<const edge> edges) {
  edges_ += edges.size();
  if (has_places_ && edges.size() >= block_edges_) return write_in_place(edges);
  while (!edges.empty()) {
    if (!current_) current_ = take_spare();
    std::vector<edge>& filled = current_->copies;
    if (filled.empty()) filled.reserve(block_edges_);
    const std::size_t taken = std::min(edges.size(), block_edges_ - filled.size());
    const auto end = edges.begin() + static_cast<std::ptrdiff_t>(taken);
    filled.insert(filled.end(), edges.begin(), end);
    edges = edges.subspan(taken);
    if (filled.size() == block_edges_) {
      if (threads_.empty()) start_threads();
      submit_current();
    }
  }
}

void edge_pipeline::write_in_place(std::span<const edge> edges) {
  if (threads_.empty()) start_threads();
  submit_current();
  try {
    while (!edges.empty()) {
      owned_block lent = take_spare();
      lent->edges = edges.first(std::min(edges.size(), lent_edges));
      edges = edges.subspan(lent->edges.size());
      submit(std::move(lent));
    }
  } catch (...) {
    wait_for_all();  // threads still read the caller's edges
    throw;
  }
  finish();
}

void edge_pipeline::finish() {
  submit_current();
  wait_for_all();
  const std::scoped_lock lock(mutex_);
  rethrow_failure();
}

edge_pipeline::owned_block edge_pipeline::take_spare() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) return std::make_unique<block>();
  owned_block out = std::move(spare_.back());
  spare_.pop_back();
  out->copies.clear();
  return out;
}

void edge_pipeline::submit_current() {
  if (!current_) return;
  current_->edges = current_->copies;
  submit(std::exchange(current_, nullptr));
}

/// What is refused a place is missing from then on.
void edge_pipeline::take_place(block& taken) {
  try {
    taken.place = out_.take_place(taken.edges.size_bytes());
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    throw;
  }
}

/// Hands a block over; without threads it is written here.
void edge_pipeline::submit(owned_block full) {
  if (has_places_) take_place(*full);
  locked lock(mutex_);
  turned_.wait(lock, [&] { return submitted_ - turn_ < most_blocks_ || failure_; });
  rethrow_failure();
  full->number = submitted_;
  if (threads_.empty()) {
    ++submitted_;
    format(*full, 0);
    write(*full, lock);
    spare_.push_back(std::move(full));
    rethrow_failure();
    return;
  }
  waiting_.push_back(std::move(full));
  ++submitted_;
  lock.unlock();
  came_.notify_one();
}

void edge_pipeline::start_threads() {
  threads_.reserve(most_threads_);
  try {
    while (threads_.size() < most_threads_) {
      threads_.emplace_back([this, thread = threads_.size()] { work(thread); });
    }
  } catch (const std::system_error&) {
    // As many as the system gives; without any the caller writes.
  }
}

void edge_pipeline::work(std::size_t thread) {
  locked lock(mutex_);
  for (;;) {
    came_.wait(lock, [&] { return !waiting_.empty() || is_ending_; });
    if (waiting_.empty()) return;
    owned_block taken = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    format(*taken, thread);
    lock.lock();
    const std::size_t place = taken->number % most_blocks_;
    formatted_[place] = std::move(taken);
    if (!is_writing_) write_ready(lock);
  }
}

void edge_pipeline::format(block& taken, std::size_t thread) {
  taken.failure = nullptr;
  try {
    taken.bytes = format_(taken.edges, thread, taken.text);
    if (has_places_) out_.replace(taken.place, taken.bytes);
  } catch (...) {
    taken.failure = std::current_exception();
  }
}

/// Writes the blocks that are ready, from the one whose turn it is on.
void edge_pipeline::write_ready(locked& lock) {
  is_writing_ = true;
  for (;;) {
    owned_block ready = std::exchange(formatted_[turn_ % most_blocks_], nullptr);
    if (!ready) break;
    write(*ready, lock);
    spare_.push_back(std::move(ready));
    turned_.notify_one();  // nobody waits but the caller
  }
  is_writing_ = false;
}

/// Writes one block without the lock, and accounts for it.
void edge_pipeline::write(block& ready, locked& lock) {
  std::exception_ptr failure = ready.failure;
  if (!failure_ && !failure && !is_abandoned_) {
    lock.unlock();
    try {
      if (has_places_) {
        out_.count_placed(ready.bytes.size());
      } else {
        out_.write_packed(ready.bytes);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
  }
  if (!failure_) failure_ = failure;
  ++turn_;
}

void edge_pipeline::wait_for_all() {
  locked lock(mutex_);
  turned_.wait(lock, [&] { return turn_ == submitted_; });
}

void edge_pipeline::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace gpu::io
