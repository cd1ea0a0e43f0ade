#include "io/write/edge_pipeline.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace gpu::io {

edge_pipeline::edge_pipeline(output_file& out, std::size_t threads, std::size_t block_edges,
                             formatter format)
    : out_(out),
      most_threads_(std::max<std::size_t>(threads, 1)),
      most_blocks_(2 * most_threads_ + 2),
      block_edges_(block_edges),
      format_(std::move(format)),
      formatted_(most_blocks_) {
  current_ = take_spare();
}

edge_pipeline::edge_pipeline(output_file& out, std::size_t threads, std::size_t block_edges)
    : edge_pipeline(out, out.has_places() ? threads : 1, block_edges,
                    [](std::span<const edge> edges, std::size_t, block_text&) {
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
  while (!edges.empty()) {
    std::vector<edge>& filled = current_->edges;
    const std::size_t taken = std::min(edges.size(), block_edges_ - filled.size());
    const auto end = edges.begin() + static_cast<std::ptrdiff_t>(taken);
    filled.insert(filled.end(), edges.begin(), end);
    edges = edges.subspan(taken);
    if (filled.size() == block_edges_) {
      if (threads_.empty()) start_threads();
      submit();
    }
  }
}

void edge_pipeline::finish() {
  if (!current_->edges.empty()) submit();
  wait_for_all();
  const std::scoped_lock lock(mutex_);
  rethrow_failure();
}

written_edges edge_pipeline::written() noexcept {
  try {
    finish();
  } catch (...) {
    wait_for_all();  // what is behind a failure is left out
  }
  const std::scoped_lock lock(mutex_);
  return {written_.edges, submitted_ == 0 ? out_.bytes_written() : written_.bytes};
}

edge_pipeline::owned_block edge_pipeline::take_spare() {
  if (spare_.empty()) {
    auto fresh = std::make_unique<block>();
    fresh->edges.reserve(block_edges_);
    return fresh;
  }
  owned_block out = std::move(spare_.back());
  spare_.pop_back();
  out->edges.clear();
  return out;
}

/// Hands the current block over; without threads it is written here.
void edge_pipeline::submit() {
  const std::uint64_t place =
      has_places_ ? out_.take_place(std::span(current_->edges).size_bytes()) : 0;
  locked lock(mutex_);
  turned_.wait(lock, [&] { return submitted_ - turn_ < most_blocks_ || failure_; });
  rethrow_failure();
  if (submitted_ == 0) written_.bytes = out_.bytes_written();
  owned_block next = take_spare();
  current_->number = submitted_;
  current_->place = place;
  owned_block full = std::exchange(current_, std::move(next));
  ++submitted_;
  if (threads_.empty()) {
    format(*full, 0);
    write(*full, lock);
    spare_.push_back(std::move(full));
    rethrow_failure();
    return;
  }
  waiting_.push_back(std::move(full));
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
        out_.write(ready.bytes);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (!failure) {
      written_.edges += ready.edges.size();
      written_.bytes += ready.bytes.size();
    }
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
