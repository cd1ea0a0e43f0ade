// How engines share a call, with members that only count: every piece once, results in order, one
// decision, one exception, and nothing that hangs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "cuda/pairs/team/team.hpp"
#include "support/catch.hpp"

namespace {

using gpu::index_t;
using gpu::cuda::index_range;
using gpu::cuda::pair_share;
using gpu::cuda::pair_team;

const gpu::progress_callback none;

// What members find on their own threads, where no check can be made.
class findings {
 public:
  void expect(bool holds) { wrong_ += holds ? 0 : 1; }
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  std::atomic<int> wrong_ = 0;
};

const auto pieces_of_7 = [](index_t) { return index_t{7}; };

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::vector<gpu::edge> edges_from(gpu::node_id first, gpu::node_id step, std::size_t count) {
  std::vector<gpu::edge> out(count);
  for (std::size_t e = 0; e < count; ++e) {
    const auto at = first + step * static_cast<gpu::node_id>(e);
    out[e] = {.row = at / 10, .col = at % 10, .statistic = 0.5, .p = 0};
  }
  return out;
}

}  // namespace

TEST_CASE("every index of a shared walk is taken once", "[pair_team]") {
  for (const int members : {1, 2, 5}) {
    std::vector<std::atomic<int>> taken(1000);
    findings found;
    pair_team team(members, none);
    team.run([&](int, pair_share& share) {
      found.expect(share.members() == members);
      const auto walk = share.walk("pairs", 1000, 1000);
      for (index_range r = walk->take(pieces_of_7); !r.empty(); r = walk->take(pieces_of_7)) {
        for (index_t i = r.begin; i < r.end; ++i) ++taken[static_cast<std::size_t>(i)];
        walk->advance(static_cast<std::uint64_t>(r.size()));
      }
      found.expect(walk->finish());
    });
    CHECK(found.wrong() == 0);
    CHECK(std::all_of(taken.begin(), taken.end(), [](int times) { return times == 1; }));
  }
}

TEST_CASE("pieces shrink towards the end of a shared walk", "[pair_team]") {
  findings found;
  pair_team team(4, none);
  team.run([&](int, pair_share& share) {
    const auto walk = share.walk("pairs", 10, 10);
    found.expect(walk->fair(100, 1e6, 5) == 100);
    found.expect(walk->fair(100, 80, 5) == 10);
    found.expect(walk->fair(100, 8, 5) == 5);
    found.expect(walk->fair(3, 8, 5) == 3);
  });
  CHECK(found.wrong() == 0);
}

TEST_CASE("turns follow the order of the pieces, on the calling thread", "[pair_team]") {
  const auto caller = std::this_thread::get_id();
  std::vector<index_t> delivered;
  pair_team team(3, none);
  team.run([&](int member, pair_share& share) {
    const auto walk = share.walk("pairs", 200, 200);
    for (index_range r = walk->take(pieces_of_7); !r.empty(); r = walk->take(pieces_of_7)) {
      if (member == 0) pause(1);
      const bool empty = r.begin % 3 == 0;  // has nothing to deliver, and no need to wait
      if (!empty) walk->wait_for_turn(r);
      if (!empty) {
        team.call([&] {
          CHECK(std::this_thread::get_id() == caller);
          delivered.push_back(r.begin);
        });
      }
      walk->release(r);
    }
    walk->finish();
  });
  CHECK(delivered.size() == 19);
  CHECK(std::is_sorted(delivered.begin(), delivered.end()));
}

TEST_CASE("what members decide is the same for all", "[pair_team]") {
  findings found;
  pair_team team(4, none);
  team.run([&](int member, pair_share& share) {
    for (int round = 0; round < 50; ++round) {
      found.expect(share.agree(true));
      found.expect(!share.agree(member != round % 4));
    }
  });
  CHECK(found.wrong() == 0);
}

TEST_CASE("giving up ends a walk for all, unless one has committed", "[pair_team]") {
  findings found;
  pair_team team(3, none);
  team.run([&](int member, pair_share& share) {
    const auto first = share.walk("pairs", index_t{1} << 40, 1);
    if (member == 1) found.expect(first->give_up());
    while (!first->take(pieces_of_7).empty()) {
    }
    found.expect(!first->finish());
    found.expect(!first->commit());

    const auto second = share.walk("pairs", 70, 1);
    if (member == 2) found.expect(second->commit());
    static_cast<void>(share.agree(true));
    found.expect(!second->give_up());
    while (!second->take(pieces_of_7).empty()) {
    }
    found.expect(second->finish());
  });
  CHECK(found.wrong() == 0);
}

TEST_CASE("ordered lists of all members become one", "[pair_team]") {
  for (const index_t batch : {1, 4, 1000}) {
    std::vector<gpu::edge> got;
    std::size_t largest = 0;
    pair_team team(3, none);
    team.run([&](int member, pair_share& share) {
      auto mine = edges_from(static_cast<gpu::node_id>(member), 3, member == 1 ? 0 : 20);
      gpu::detail::edge_consumer receiver([&](std::span<gpu::edge> edges) {
        team.call([&] {
          largest = std::max(largest, edges.size());
          got.insert(got.end(), edges.begin(), edges.end());
        });
      });
      share.merge(mine, batch, receiver);
    });
    auto wanted = edges_from(0, 3, 20);
    const auto more = edges_from(2, 3, 20);
    wanted.insert(wanted.end(), more.begin(), more.end());
    std::sort(wanted.begin(), wanted.end(), [](const gpu::edge& a, const gpu::edge& b) {
      return std::pair(a.row, a.col) < std::pair(b.row, b.col);
    });
    CHECK(got == wanted);
    CHECK(largest <= static_cast<std::size_t>(batch));
  }
}

TEST_CASE("one exception ends the call of all members, wherever they wait", "[pair_team]") {
  const auto wait_somewhere = [](int member, pair_share& share) {
    const auto walk = share.walk("pairs", 100, 100);
    const index_range mine = walk->take(pieces_of_7);
    if (member % 3 == 0) walk->finish();
    if (member % 3 == 1) static_cast<void>(share.agree(true));
    walk->wait_for_turn({mine.end + 1000, mine.end + 1001});
  };
  SECTION("of a member") {
    pair_team team(5, none);
    CHECK_THROWS_AS(team.run([&](int member, pair_share& share) {
      if (member == 4) {
        pause(5);
        throw std::runtime_error("device lost");
      }
      wait_somewhere(member, share);
    }),
                    std::runtime_error);
  }
  SECTION("of what the caller handed in") {
    pair_team team(5, none);
    CHECK_THROWS_AS(team.run([&](int member, pair_share& share) {
      if (member >= 3) team.call([] { throw std::domain_error("enough"); });
      wait_somewhere(member, share);
    }),
                    std::domain_error);
  }
  SECTION("of two at once, the first") {
    pair_team team(2, none);
    CHECK_THROWS_AS(team.run([&](int, pair_share&) { throw gpu::cuda_error("device lost", 719); }),
                    gpu::cuda_error);
  }
}

TEST_CASE("memory that others write to lives until all have left", "[pair_team]") {
  for (const bool fails : {false, true}) {
    findings found;
    std::atomic<int> in_use = 0;
    const auto work = [&](int member, pair_share& share) {
      std::int64_t sums = member;
      const std::vector<const void*> all = share.exchange(&sums);
      struct guard {
        pair_share& share;
        std::atomic<int>& in_use;
        findings& found;
        ~guard() {
          --in_use;
          share.leave();
          found.expect(in_use == 0);
        }
      };
      ++in_use;
      {
        const guard leaving{share, in_use, found};
        for (std::size_t other = 0; other < all.size(); ++other) {
          found.expect(*static_cast<const std::int64_t*>(all[other]) ==
                       static_cast<std::int64_t>(other));
        }
        // Nobody may be past his guard while another has yet to begin.
        static_cast<void>(share.agree(true));
        if (fails && member == 1) throw std::runtime_error("device lost");
        pause(member);
        static_cast<void>(share.agree(true));
      }
    };
    pair_team team(4, none);
    if (fails) {
      CHECK_THROWS_AS(team.run(work), std::runtime_error);
    } else {
      team.run(work);
    }
    CHECK(found.wrong() == 0);
  }
}

TEST_CASE("progress of all members is one, and cancels all", "[pair_team]") {
  std::vector<std::uint64_t> done;
  std::vector<std::string> stages;
  const auto caller = std::this_thread::get_id();
  const auto work = [](int, pair_share& share) {
    for (const char* stage : {"count", "pairs"}) {
      const auto walk = share.walk(stage, 140, 280);
      for (index_range r = walk->take(pieces_of_7); !r.empty(); r = walk->take(pieces_of_7)) {
        walk->advance(14);
      }
      walk->finish();
    }
  };
  const gpu::progress_callback note = [&](const gpu::progress& state) {
    CHECK(std::this_thread::get_id() == caller);
    CHECK(state.total == 280);
    if (state.done == state.total) stages.emplace_back(state.stage);
    return gpu::progress_reply::proceed;
  };
  pair_team reporting(3, note);
  reporting.run(work);
  CHECK(stages == std::vector<std::string>{"count", "pairs"});

  const gpu::progress_callback refuse = [](const gpu::progress&) {
    return gpu::progress_reply::cancel;
  };
  pair_team cancelled(3, refuse);
  CHECK_THROWS_AS(cancelled.run(work), gpu::cancelled);
  // Members that never end by themselves.
  pair_team endless(3, refuse);
  CHECK_THROWS_AS(endless.run([](int, pair_share& share) {
    const auto walk = share.walk("pairs", index_t{1} << 60, 1000);
    for (;; pause(1)) static_cast<void>(walk->take(pieces_of_7));
  }),
                  gpu::cancelled);
}

TEST_CASE("members that disagree on a walk are found out", "[pair_team]") {
  pair_team team(2, none);
  CHECK_THROWS_AS(team.run([](int member, pair_share& share) {
    share.walk("pairs", 100 + member, 10)->finish();
  }),
                  gpu::unsupported);
}
