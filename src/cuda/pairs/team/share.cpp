#include "cuda/pairs/team/share.hpp"

#include <mutex>
#include <thread>
#include <utility>

#include "pairs/progress.hpp"

namespace gpu::cuda {
namespace {

class solo_walk final : public pair_walk {
 public:
  solo_walk(const progress_callback& on_progress, std::string_view stage, index_t size,
            std::uint64_t pairs)
      : pair_walk(1), progress_(on_progress, stage, pairs), size_(size) {}

  index_range take(const piece& size) override {
    const std::lock_guard held(mutex_);
    if (next_ >= size_ || gave_up_) return {};
    const index_range taken{next_, std::min(size_, next_ + size(next_))};
    next_ = taken.end;
    return taken;
  }
  void advance(std::uint64_t pairs) override {
    const std::lock_guard held(mutex_);
    done_ += pairs;
    // Callbacks run on the thread of the call.
    if (std::this_thread::get_id() == caller_) progress_.advance(std::exchange(done_, 0));
  }
  bool give_up() override { return gave_up_ = !committed_; }
  bool commit() override { return committed_ = !gave_up_; }
  bool finish() override {
    if (!gave_up_) progress_.finish();
    return !gave_up_;
  }
  void wait_for_turn(const index_range&) override {}
  void release(const index_range&) override {}

 private:
  std::mutex mutex_;
  std::thread::id caller_ = std::this_thread::get_id();
  detail::pair_progress progress_;
  std::uint64_t done_ = 0;  // since the last report
  index_t size_;
  index_t next_ = 0;
  bool gave_up_ = false;
  bool committed_ = false;
};

class solo_share final : public pair_share {
 public:
  explicit solo_share(const progress_callback& on_progress) : on_progress_(on_progress) {}

  std::shared_ptr<pair_walk> walk(std::string_view stage, index_t size,
                                  std::uint64_t pairs) override {
    return std::make_shared<solo_walk>(on_progress_, stage, size, pairs);
  }
  bool agree(bool mine) override { return mine; }
  void merge(std::span<edge> sorted, index_t batch, detail::edge_receiver& receiver) override {
    deliver_batches(sorted, batch, receiver);
  }
  std::vector<const void*> exchange(const void* mine) override { return {mine}; }
  void leave() noexcept override {}
  [[nodiscard]] int members() const override { return 1; }

 private:
  progress_callback on_progress_;
};

}  // namespace

std::unique_ptr<pair_share> make_solo_share(const progress_callback& on_progress) {
  return std::make_unique<solo_share>(on_progress);
}

void deliver_batches(std::span<edge> edges, index_t batch, detail::edge_receiver& receiver) {
  const auto step = static_cast<std::size_t>(batch);
  for (std::size_t first = 0; first < edges.size(); first += step) {
    receiver.take({edges.subspan(first, std::min(step, edges.size() - first))});
  }
}

}  // namespace gpu::cuda
