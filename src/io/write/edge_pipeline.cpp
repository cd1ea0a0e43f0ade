#include "io/write/edge_pipeline.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace gpu::io {
namespace {

constexpr std::size_t block_edges = std::size_t{1} << 12;  // some 200 KB of text

}  // namespace

edge_pipeline::edge_pipeline(output_file& out, std::size_t threads, formatter format)
    : out_(out),
      most_threads_(std::max<std::size_t>(threads, 1)),
      most_waiting_(2 * most_threads_ + 2),
      format_(std::move(format)) {
  current_.reserve(block_edges);
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
    const std::size_t taken = std::min(edges.size(), block_edges - current_.size());
    const auto end = edges.begin() + static_cast<std::ptrdiff_t>(taken);
    current_.insert(current_.end(), edges.begin(), end);
    edges = edges.subspan(taken);
    if (current_.size() == block_edges) {
      if (threads_.empty()) start_threads();
      submit();
    }
  }
}

void edge_pipeline::finish() {
  if (!current_.empty()) submit();
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

/// Hands the current block over; without threads it is written here.
void edge_pipeline::submit() {
  std::unique_lock lock(mutex_);
  if (!threads_.empty()) {
    turned_.wait(lock, [&] { return waiting_.size() < most_waiting_ || failure_; });
  }
  rethrow_failure();
  if (submitted_ == 0) written_.bytes = out_.bytes_written();
  std::vector<edge> next;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
    next.clear();
  }
  next.reserve(block_edges);
  block full{submitted_, std::exchange(current_, std::move(next))};
  ++submitted_;
  if (threads_.empty()) {
    lock.unlock();
    process(full, 0);
    lock.lock();
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
  for (;;) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return !waiting_.empty() || is_ending_; });
    if (waiting_.empty()) return;
    block taken = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    turned_.notify_all();
    process(taken, thread);
  }
}

/// Makes the bytes of a block and writes them when it is its turn. The threads sleep until then.
void edge_pipeline::process(block& taken, std::size_t thread) {
  std::string_view bytes;
  std::exception_ptr failure;
  try {
    bytes = format_(taken.edges, thread);
  } catch (...) {
    failure = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  turned_.wait(lock, [&] { return turn_ == taken.number; });
  if (!failure_ && !failure && !is_abandoned_) {
    lock.unlock();
    try {
      out_.write(bytes);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (!failure) {
      written_.edges += taken.edges.size();
      written_.bytes += bytes.size();
    }
  }
  if (!failure_) failure_ = failure;
  ++turn_;
  spare_.push_back(std::move(taken.edges));
  lock.unlock();
  turned_.notify_all();
}

void edge_pipeline::wait_for_all() {
  std::unique_lock lock(mutex_);
  turned_.wait(lock, [&] { return turn_ == submitted_; });
}

void edge_pipeline::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace gpu::io
