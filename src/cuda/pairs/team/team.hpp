#pragma once
// The host side of a call that several engines share: one thread for each of them, and the calling
// thread, on which everything runs that the caller handed in.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "cuda/pairs/team/share.hpp"

namespace gpu::cuda {

/// Runs one call on several members. Host threads only: knows nothing of devices.
class pair_team {
 public:
  /// `on_progress` is called by run(), on its thread.
  pair_team(int members, const progress_callback& on_progress);
  ~pair_team();
  pair_team(const pair_team&) = delete;
  pair_team& operator=(const pair_team&) = delete;

  /// Runs work(member, share) for each member on a thread of its own and returns when all have.
  /// The first exception of a member, a callback or a progress report ends the work of all
  /// members, at their next use of share or call(), and is thrown here. Once per team.
  using member_work = std::function<void(int member, pair_share& share)>;
  void run(const member_work& work);

  /// From a member: runs body on the thread that called run(), one at a time, and waits for it.
  void call(const std::function<void()>& body);
  class share;

 private:
  class walk;
  struct request {
    const std::function<void()>* body;
    bool done;
  };
  struct stop {};  // unwinds a member once another has failed
  using lock = std::unique_lock<std::mutex>;

  void run_member(int member, const member_work& work);
  void fail(std::exception_ptr reason);
  // Serves requests and reports progress until every member has returned.
  void serve();
  void serve_requests(lock& held);
  void report_progress(lock& held);
  // Waits until ready(); throws where the call ends before.
  template <class Ready>
  void wait(lock& held, const Ready& ready);
  void throw_if_stopped() const;
  // Counts the members that arrive; the last one runs meet() before all of them go on.
  template <class Meet>
  void rendezvous(lock& held, const Meet& meet);

  int members_;
  progress_callback on_progress_;
  bool is_alone_ = false;  // one member, on the thread of the call; run() is not called
  std::mutex mutex_;
  std::condition_variable for_members_;
  std::condition_variable for_caller_;
  int running_;
  std::exception_ptr failure_;
  bool stopped_ = false;  // set with failure_, or before it while the member unwinds
  std::deque<request*> requests_;
  std::vector<std::shared_ptr<walk>> walks_;
  std::size_t reported_walks_ = 0;
  int arrived_ = 0;
  std::uint64_t meetings_ = 0;
  bool all_say_yes_ = true;
  bool agreed_ = false;
  std::vector<std::span<edge>> lists_;
  std::vector<const void*> rows_;
  int left_ = 0;
};

}  // namespace gpu::cuda
