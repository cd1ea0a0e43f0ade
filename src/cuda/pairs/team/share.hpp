#pragma once
// What an engine needs of the call it works on: its next piece of work, progress reports, and the
// decisions that engines of one call, one per device, take together. An engine that is alone is a
// team of one.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cuda_runtime/index_range.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// One walk over [0, size), handed out in ascending ranges to the engines of a call. Every member
/// may throw gpu::cancelled, and whatever ends the call elsewhere.
class pair_walk {
 public:
  explicit pair_walk(int members) : members_(members) {}
  virtual ~pair_walk() = default;
  pair_walk(const pair_walk&) = delete;
  pair_walk& operator=(const pair_walk&) = delete;

  /// How much to take from `begin` on, at least 1.
  using piece = std::function<index_t(index_t begin)>;
  /// The next range; empty at the end, or once an engine gave up. On any thread of an engine, as
  /// advance().
  [[nodiscard]] virtual index_range take(const piece& size) = 0;
  /// Reports that many more pairs as done.
  virtual void advance(std::uint64_t pairs) = 0;

  /// Ends the walk without a result, for all engines. False where one has committed: then the walk
  /// continues.
  [[nodiscard]] virtual bool give_up() = 0;
  /// To be called before what was found is delivered. False where an engine gave up: then it must
  /// not be.
  [[nodiscard]] virtual bool commit() = 0;
  /// Waits until every engine has finished; whether none gave up.
  virtual bool finish() = 0;

  /// For results in order: waits until every range before this one has been released.
  virtual void wait_for_turn(const index_range& range) = 0;
  /// Every range taken in such a walk is released once.
  virtual void release(const index_range& range) = 0;

  /// `wanted`, or less where that would keep one engine busy after the others have run out: `left`
  /// is what nobody has taken yet. At least `least`.
  [[nodiscard]] double fair(double wanted, double left, double least) const {
    return members_ == 1 ? wanted : std::min(wanted, std::max(least, left / (2.0 * members_)));
  }
  /// Such pieces of a walk over [0, size); `wanted` outlives them and may change between them.
  [[nodiscard]] piece fair_pieces(const index_t& wanted, index_t size, double least = 1) const {
    return [this, &wanted, size, least](index_t begin) {
      return static_cast<index_t>(
          fair(static_cast<double>(wanted), static_cast<double>(size - begin), least));
    };
  }

 private:
  int members_;
};

/// Takes the pieces of a walk, two of them under way at a time: launch(range, slot) begins one, and
/// finish(range, slot) ends it while the next is under way. Slots are 0 and 1 in turn.
template <class Launch, class Finish>
void walk_blocks(pair_walk& walk, const pair_walk::piece& piece, const Launch& launch,
                 const Finish& finish) {
  index_range before;
  int slot = 0;
  for (index_range taken = walk.take(piece); !taken.empty(); taken = walk.take(piece)) {
    launch(taken, slot);
    if (!before.empty()) finish(before, 1 - slot);
    before = taken;
    slot = 1 - slot;
  }
  if (!before.empty()) finish(before, 1 - slot);
}

/// What became of a slice of items.
enum class slice_outcome {
  done,
  repeat,  ///< The same items again, fewer at a time.
  stop     ///< End the walk: it was given up.
};

/// Items of a first slice whose cost is not known.
inline constexpr index_t least_slice = 1024;

/// Calls work(first, last) over this engine's share of `walk`, `items` in all, in slices that take
/// about a tenth of a second, so that progress and cancellation come a few times a second. `work`
/// waits for the device. False where an engine gave up.
template <class Work>
bool walk_items(pair_walk& walk, index_t items, const Work& work,
                index_t first_slice = least_slice) {
  constexpr double least_shared_slice = 512;
  constexpr double wanted_seconds = 0.1;
  index_t slice = first_slice;
  const pair_walk::piece piece = walk.fair_pieces(slice, items, least_shared_slice);
  for (index_range taken = walk.take(piece); !taken.empty(); taken = walk.take(piece)) {
    for (index_t first = taken.begin; first < taken.end;) {
      const index_t last = std::min(taken.end, first + slice);
      const auto start = std::chrono::steady_clock::now();
      const slice_outcome outcome = work(first, last);
      if (outcome == slice_outcome::stop) return walk.finish();
      if (outcome == slice_outcome::repeat) {
        slice = std::max<index_t>(1, (last - first) / 4);
        continue;
      }
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      const double wanted =
          static_cast<double>(last - first) * wanted_seconds / std::max(spent.count(), 1e-4);
      slice = std::clamp(static_cast<index_t>(wanted), std::max<index_t>(1, slice / 4), slice * 4);
      first = last;
    }
  }
  return walk.finish();
}

/// One engine's place in a call. The engines of a call make the same calls in the same order.
class pair_share {
 public:
  virtual ~pair_share() = default;
  /// Begins a walk of [0, size), of `pairs` pairs in all for the progress.
  [[nodiscard]] virtual std::shared_ptr<pair_walk> walk(std::string_view stage, index_t size,
                                                        std::uint64_t pairs) = 0;
  /// Whether every engine says yes.
  [[nodiscard]] virtual bool agree(bool mine) = 0;
  /// Hands the lists of all engines, each ordered by row and column, over as one in that order, in
  /// batches of at most `batch`.
  virtual void merge(std::span<edge> sorted, index_t batch, detail::edge_receiver& receiver) = 0;
  /// What every engine hands in, by engine: it says where in its memory the others may write, and
  /// lives until leave().
  [[nodiscard]] virtual std::vector<const void*> exchange(const void* mine) = 0;
  /// Call it after exchange(), when the writes of this engine are complete: waits until every
  /// engine has called it. From then on no engine writes to another's memory. Called while an
  /// exception unwinds, it ends the call for all engines first.
  virtual void leave() noexcept = 0;
  /// Engines that work on the call.
  [[nodiscard]] virtual int members() const = 0;
};

/// The whole call for one engine, which runs on the thread of the call: a team of one.
std::unique_ptr<pair_share> make_solo_share(const progress_callback& on_progress);

}  // namespace gpu::cuda
