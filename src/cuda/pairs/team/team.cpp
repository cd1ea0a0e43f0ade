#include "cuda/pairs/team/team.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <gpu/error.hpp>

#include "cuda_runtime/host_threads.hpp"
#include "pairs/progress.hpp"

namespace gpu::cuda {
namespace {

// How often the calling thread looks for progress to report.
constexpr auto look_interval = std::chrono::milliseconds(50);

// Hands over the union of ordered lists, in order.
void merge_lists(std::vector<std::span<edge>> lists, index_t batch_edges,
                 detail::edge_receiver& receiver) {
  std::erase_if(lists, [](std::span<edge> list) { return list.empty(); });
  if (lists.size() == 1) return deliver_batches(lists.front(), batch_edges, receiver);
  const auto later = [](std::span<edge> a, std::span<edge> b) {
    return std::pair(a.front().row, a.front().col) > std::pair(b.front().row, b.front().col);
  };
  std::make_heap(lists.begin(), lists.end(), later);
  std::vector<edge> batch;
  const auto most = static_cast<std::size_t>(batch_edges);
  while (!lists.empty()) {
    std::pop_heap(lists.begin(), lists.end(), later);
    std::span<edge>& first = lists.back();
    batch.push_back(first.front());
    first = first.subspan(1);
    if (first.empty()) {
      lists.pop_back();
    } else {
      std::push_heap(lists.begin(), lists.end(), later);
    }
    if (batch.size() == most || lists.empty()) {
      receiver.take({batch});
      batch.clear();
    }
  }
}

}  // namespace

/// A walk whose state all members see, under the team's lock.
class pair_team::walk final : public pair_walk {
 public:
  walk(pair_team& team, std::string_view stage, index_t size, std::uint64_t pairs)
      : pair_walk(team.members_), team_(team), stage_(stage), size_(size), pairs_(pairs) {}

  [[nodiscard]] bool is_of(index_t size, std::uint64_t pairs) const {
    return size == size_ && pairs == pairs_;
  }

  index_range take(const piece& size) override {
    const lock held = enter();
    if (next_ >= size_ || gave_up_) return {};
    const index_range taken{next_, std::min(size_, next_ + size(next_))};
    next_ = taken.end;
    return taken;
  }
  void advance(std::uint64_t pairs) override {
    lock held = enter();
    done_ += pairs;
    if (is_on_caller()) report(held);
  }
  bool give_up() override {
    const lock held = enter();
    return gave_up_ = !committed_;
  }
  bool commit() override {
    const lock held = enter();
    return committed_ = !gave_up_;
  }
  bool finish() override {
    lock held = enter();
    team_.rendezvous(held, [&] { finished_ = true; });
    if (is_on_caller()) report(held);
    return !gave_up_;
  }
  void wait_for_turn(const index_range& range) override {
    lock held = enter();
    team_.wait(held, [&] { return turn_ == range.begin; });
  }
  void release(const index_range& range) override {
    const lock held = enter();
    released_[range.begin] = range.end;
    for (auto next = released_.begin(); next != released_.end() && next->first == turn_;
         next = released_.erase(next)) {
      turn_ = next->second;
    }
    team_.for_members_.notify_all();
  }

  /// Reports what is new, on the calling thread; true at the end of the walk.
  bool report(lock& held) {
    const std::uint64_t done = std::exchange(done_, 0);
    const bool ended = finished_;
    const bool complete = finished_ && !gave_up_;
    held.unlock();
    if (!progress_) progress_.emplace(team_.on_progress_, stage_, pairs_);
    if (complete) {
      progress_->finish();
    } else {
      progress_->advance(done);
    }
    held.lock();
    return ended;
  }

 private:
  [[nodiscard]] lock enter() const {
    lock held(team_.mutex_);
    team_.throw_if_stopped();
    return held;
  }
  // Of an engine that is alone: nobody else reports.
  [[nodiscard]] bool is_on_caller() const {
    return team_.is_alone_ && std::this_thread::get_id() == caller_;
  }

  pair_team& team_;
  std::string_view stage_;
  index_t size_;
  std::uint64_t pairs_;
  index_t next_ = 0;
  std::uint64_t done_ = 0;  // since the last report
  bool gave_up_ = false;
  bool committed_ = false;
  bool finished_ = false;
  std::thread::id caller_ = std::this_thread::get_id();
  index_t turn_ = 0;                     // everything before it is released
  std::map<index_t, index_t> released_;  // ranges behind it
  std::optional<detail::pair_progress> progress_;
};

class pair_team::share final : public pair_share {
 public:
  share(pair_team& team, int member) : team_(team), member_(static_cast<std::size_t>(member)) {}
  /// Of an engine that is alone.
  explicit share(const progress_callback& on_progress)
      : own_(std::make_unique<pair_team>(1, on_progress)), team_(*own_), member_(0) {
    team_.is_alone_ = true;
  }

  std::shared_ptr<pair_walk> walk(std::string_view stage, index_t size,
                                  std::uint64_t pairs) override {
    lock held(team_.mutex_);
    team_.throw_if_stopped();
    const std::size_t index = walks_++;
    if (index == team_.walks_.size()) {
      team_.walks_.push_back(std::make_shared<pair_team::walk>(team_, stage, size, pairs));
    }
    const auto shared = team_.walks_[index];
    if (!shared->is_of(size, pairs)) {
      throw unsupported("execution.devices: the devices disagree on the rows; use one of them");
    }
    if (team_.is_alone_) shared->report(held);
    return shared;
  }
  bool agree(bool mine) override {
    lock held(team_.mutex_);
    team_.all_say_yes_ = team_.all_say_yes_ && mine;
    team_.rendezvous(held, [&] { team_.agreed_ = std::exchange(team_.all_say_yes_, true); });
    return team_.agreed_;
  }
  void merge(std::span<edge> sorted, index_t batch, detail::edge_receiver& receiver) override {
    lock held(team_.mutex_);
    team_.lists_[member_] = sorted;
    team_.rendezvous(held, [&] {
      held.unlock();
      merge_lists(team_.lists_, batch, receiver);
      held.lock();
    });
  }
  std::vector<const void*> exchange(const void* mine) override {
    std::vector<const void*> all(team_.rows_.size());
    lock held(team_.mutex_);
    team_.rows_[member_] = mine;
    team_.rendezvous(held, [] {});
    // A member that has met the others must leave() with them: nothing throws from here on.
    std::copy(team_.rows_.begin(), team_.rows_.end(), all.begin());
    return all;
  }
  void leave() noexcept override {
    lock held(team_.mutex_);
    const int all = (team_.left_ / team_.members_ + 1) * team_.members_;
    ++team_.left_;
    // The team learns of the failure only after this; meanwhile the others must not wait for this
    // member.
    if (std::uncaught_exceptions() > 0) team_.stopped_ = true;
    team_.for_members_.notify_all();
    team_.for_members_.wait(held, [&] { return team_.left_ >= all; });
  }
  [[nodiscard]] int members() const override { return team_.members_; }

 private:
  std::unique_ptr<pair_team> own_;
  pair_team& team_;
  std::size_t member_;
  std::size_t walks_ = 0;
};

std::unique_ptr<pair_share> make_solo_share(const progress_callback& on_progress) {
  return std::make_unique<pair_team::share>(on_progress);
}

pair_team::pair_team(int members, const progress_callback& on_progress)
    : members_(members),
      on_progress_(on_progress),
      running_(members),
      lists_(static_cast<std::size_t>(members)),
      rows_(static_cast<std::size_t>(members)) {}

pair_team::~pair_team() = default;

void pair_team::throw_if_stopped() const {
  if (stopped_) throw stop{};
}

template <class Ready>
void pair_team::wait(lock& held, const Ready& ready) {
  for_members_.wait(held, [&] { return stopped_ || ready(); });
  if (!ready()) throw stop{};
}

template <class Meet>
void pair_team::rendezvous(lock& held, const Meet& meet) {
  throw_if_stopped();
  const std::uint64_t meeting = meetings_;
  if (++arrived_ < members_) return wait(held, [&] { return meetings_ != meeting; });
  arrived_ = 0;
  meet();
  ++meetings_;
  for_members_.notify_all();
}

void pair_team::call(const std::function<void()>& body) {
  lock held(mutex_);
  throw_if_stopped();
  request mine{&body, false};
  requests_.push_back(&mine);
  for_caller_.notify_one();
  // Also after a failure: the calling thread may be in the body right now.
  for_members_.wait(held, [&] { return mine.done; });
  throw_if_stopped();
}

void pair_team::fail(std::exception_ptr reason) {
  if (!failure_) failure_ = std::move(reason);
  stopped_ = true;
  for_members_.notify_all();
}

void pair_team::run_member(int member, const member_work& work) {
  std::exception_ptr reason;
  try {
    share mine(*this, member);
    work(member, mine);
  } catch (const stop&) {
  } catch (...) {
    reason = std::current_exception();
  }
  const lock held(mutex_);
  if (reason) fail(reason);
  --running_;
  for_caller_.notify_one();
}

void pair_team::run(const member_work& work) {
  run_on_threads(members_, [&](int member) { run_member(member, work); }, [&] { serve(); });
  if (failure_) std::rethrow_exception(failure_);
}

void pair_team::serve() {
  lock held(mutex_);
  for (bool running = true; running;) {
    for_caller_.wait_for(held, look_interval, [&] { return running_ == 0 || !requests_.empty(); });
    running = running_ > 0;
    serve_requests(held);
    report_progress(held);
  }
}

void pair_team::serve_requests(lock& held) {
  while (!requests_.empty()) {
    request& next = *requests_.front();
    requests_.pop_front();
    if (!stopped_) {
      held.unlock();
      std::exception_ptr reason;
      try {
        (*next.body)();
      } catch (...) {
        reason = std::current_exception();
      }
      held.lock();
      if (reason) fail(reason);
    }
    next.done = true;
    for_members_.notify_all();
  }
}

void pair_team::report_progress(lock& held) {
  if (!on_progress_) return;
  std::exception_ptr reason;
  try {
    while (!stopped_ && reported_walks_ < walks_.size()) {
      const std::shared_ptr<walk> current = walks_[reported_walks_];
      if (!current->report(held)) break;
      ++reported_walks_;
    }
  } catch (...) {
    reason = std::current_exception();
  }
  if (!held.owns_lock()) held.lock();
  if (reason) fail(reason);
}

}  // namespace gpu::cuda
