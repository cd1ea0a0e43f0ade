#pragma once
// The stream of a persistent block: a ring of stages in shared memory that one thread fills by bulk
// copies while warpgroups multiply what is in it (sm_90). All synchronisation of such a kernel is
// here; the kernel gives a walk (what to load) and its arithmetic.
//
// Terms.
//   item      A block's unit of work, for example a panel of left rows and a chunk of right rows.
//             Blocks take items first_item + block, + grid, + 2 grid, ...
//   load      What fills one stage: some bulk copies of stage_bytes in all.
//   stage     One buffer of the ring.
//   phase     The parity of the round in which the ring's stages are filled. A barrier tells a
//             finished round from the next one by it.
//   producer  The thread that issues loads. It acquires a stage (waits until the stage is empty and
//             announces the bytes), issues the copies and advances to the next stage.
//   consumer  A warpgroup. It waits until a stage is full, reads it, releases it (arrives at the
//             barrier that says that it is empty) and advances.
//
// The barriers of one stage over time, with two consumers:
//
//   producer    acquire, issue                acquire (waits)      issue
//   copies              |---- bytes ---->|                         |---- bytes ...
//   consumer 0                      wait | multiply | release
//   consumer 1                      wait | multiply     | release
//   full                                 ^ complete                  (phase 0, then 1, ...)
//   empty                                               ^ complete   (phase 0, then 1, ...)
//
// Shared memory of a block:
//
//   dynamic, aligned to 1024 bytes
//   +---------+---------+-----+-------------+-----------+-----------+-----+------------------+
//   | stage 0 | stage 1 | ... | stage n - 1 | operand 0 | operand 1 | ... | what else a user |
//   |         |         |     |             | (resident, one a warpgroup) | has              |
//   +---------+---------+-----+-------------+-----------+-----------+-----+------------------+
//   ^ first_stage       ^ first_stage + 2 * stage_bytes
//
//   static: stream_storage
//   +--------------------------+---------------------------+--------------------------------------+
//   | full barriers, 8 bytes a | empty barriers, 8 bytes a | state of the producer: item, load,   |
//   | stage                    | stage                     | position in the ring, whether there  |
//   |                          |                           | is more                              |
//   +--------------------------+---------------------------+--------------------------------------+
//
// Who produces. Either thread 0, which is a consumer's too and issues one load each time that its
// warpgroup has work under way (start(), issue()); its state is in shared memory, so that the
// registers are left to the sums. Or a thread that does nothing else (issue_all()).
//
// A walk has
//   stages, stage_bytes   constants: the ring.
//   consumers             constant: warpgroups of a block that release each stage.
//   loads_ahead           constant: loads that thread 0 issues before the first product. A stage
//                         that is filled next should have been released some steps ago, or thread 0
//                         waits for the slowest warpgroup: so at most stages - 1, better fewer.
//   cluster               constant: blocks that share their stages; 1 where there are no clusters.
//   cursor                an item and where its loads are: `item`, and what locate() fills in.
//   load                  one load of an item, often a tile_range. Neither has initialisers,
//                         because they stand in shared memory.
//   first_item()          of all blocks.
//   locate(cursor&)       finds the loads of the item, or of a later item of the block where this
//                         one has none. Returns false at the end of the work. Consumers walk over
//                         the items by it too.
//   first_load(cursor)    the first load of an item that locate() has found.
//   next(load&)           moves to the next load of the item. Returns false after the last one.
//   issue(load, memory, full)
//                         starts the copies of a load to `memory`; they complete on `full`.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/cluster.cuh"

namespace gpu::kernels {

#if __CUDA_ARCH__ >= 900

/// A place in a ring of stages. Starts as {0, 0}; it may stand in shared memory, which takes no
/// initialisers.
template <int stages>
struct ring_position {
  unsigned stage;
  unsigned phase;
  __device__ __forceinline__ void advance() {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1U;
    }
  }
};

/// Loads that are consecutive tiles: the next one, and the first behind the last.
struct tile_range {
  int next;
  int end;
};

/// What a stream has in static shared memory. `more`: there is a load to issue; it is volatile so
/// that no thread but the producer reads it, or what follows from it, ahead.
template <class Walk>
struct stream_storage {
  std::uint64_t full[Walk::stages];
  std::uint64_t empty[Walk::stages];
  typename Walk::cursor at;
  typename Walk::load here;
  ring_position<Walk::stages> position;
  volatile unsigned more;
};

template <class Walk>
struct warpgroup_stream {
  static constexpr int stages = Walk::stages;
  static constexpr unsigned stage_bytes = Walk::stage_bytes;
  using cursor = typename Walk::cursor;
  using load = typename Walk::load;
  using position = ring_position<stages>;
  using storage = stream_storage<Walk>;

  const Walk& walk;
  unsigned first_stage;  // address in shared memory
  storage& shared;

  // ---- the walk over items, for producer and consumers -------------------------------------

  __device__ __forceinline__ cursor first_item() const {
    cursor at{};
    at.item = static_cast<decltype(at.item)>(walk.first_item() + blockIdx.x / Walk::cluster);
    return at;
  }
  __device__ __forceinline__ void next_item(cursor& at) const {
    at.item += static_cast<decltype(at.item)>(gridDim.x / Walk::cluster);
  }

  // ---- the producer ------------------------------------------------------------------------

  /// One thread, before any other goes on: prepares the barriers.
  __device__ __forceinline__ void init() const {
    for (unsigned stage = 0; stage < stages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), Walk::cluster * Walk::consumers);
    }
    barrier_init_fence();
  }
  /// All threads of a block whose thread 0 is the producer: prepares the ring, issues the first
  /// loads.
  __device__ __forceinline__ void start() const {
    if (threadIdx.x == 0) {
      init();
      go_to(first_item());
      shared.position = {0, 0};
#pragma unroll 1
      for (int ahead = 0; ahead < Walk::loads_ahead; ++ahead) issue_next();
    }
    __syncthreads();
  }
  /// All threads of the warpgroup: thread 0 issues the next load, once its stage is empty.
  __device__ __forceinline__ void issue() const {
    if (threadIdx.x == 0) issue_next();
    __syncwarp();
  }
  /// A thread that does nothing else: issues all loads of the block.
  __device__ __forceinline__ void issue_all() const {
    position to{0, 0};
    for (cursor at = first_item(); walk.locate(at); next_item(at)) {
      load here = walk.first_load(at);
      do {
        issue_load(here, to);
        to.advance();
      } while (walk.next(here));
    }
  }

  // ---- the consumers -----------------------------------------------------------------------

  /// Address of a stage in shared memory.
  [[nodiscard]] __device__ __forceinline__ unsigned memory(unsigned stage) const {
    return first_stage + stage * stage_bytes;
  }
  __device__ __forceinline__ void wait_until_full(position at) const {
    barrier_wait(full(at.stage), at.phase);
  }
  /// All threads of the warpgroup, which has read the stage to its end.
  __device__ __forceinline__ void release(unsigned stage) const {
    const unsigned in_group = threadIdx.x & 127U;
    if constexpr (Walk::cluster == 1) {
      if (in_group == 0) barrier_arrive(empty(stage));
    } else {
      if (in_group < Walk::cluster) barrier_arrive_at(empty(stage), static_cast<int>(in_group));
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ unsigned full(unsigned stage) const {
    return shared_address(shared.full) + stage * 8;
  }
  [[nodiscard]] __device__ __forceinline__ unsigned empty(unsigned stage) const {
    return shared_address(shared.empty) + stage * 8;
  }
  /// Acquires the stage and issues the load into it.
  __device__ __forceinline__ void issue_load(const load& here, position to) const {
    barrier_wait(empty(to.stage), to.phase ^ 1U);
    barrier_expect(full(to.stage), stage_bytes);
    walk.issue(here, memory(to.stage), full(to.stage));
  }
  /// Moves the producer to the first load of the item, or of a later one.
  __device__ __forceinline__ void go_to(cursor at) const {
    const bool more = walk.locate(at);
    if (more) shared.here = walk.first_load(at);
    shared.more = more ? 1 : 0;
    shared.at = at;
  }
  __device__ __forceinline__ void issue_next() const {
    if (shared.more == 0) return;
    load here = shared.here;
    position to = shared.position;
    issue_load(here, to);
    to.advance();
    shared.position = to;
    if (walk.next(here)) {
      shared.here = here;
    } else {
      cursor at = shared.at;
      next_item(at);
      go_to(at);
    }
  }
};

/// The operand that a warpgroup keeps in shared memory while the other one streams past it. Its
/// threads write between begin_writes() and publish(), which all of them call.
struct resident_operand {
  std::uint8_t* memory;
  int warpgroup;

  /// Waits until the products that read what is there have ended, in all threads.
  __device__ __forceinline__ void begin_writes() const { warpgroup_sync(warpgroup + 1); }
  /// Makes what was written visible to the tensor cores.
  __device__ __forceinline__ void publish() const {
    async_proxy_fence();
    warpgroup_sync(warpgroup + 1);
  }
  /// Brings `bytes` bytes as they lie in memory, each 16 of them changed by `change`.
  template <int bytes, class Piece, class Change>
  __device__ __forceinline__ void copy(const std::uint8_t* source, Change change) const {
    begin_writes();
    const auto* from = reinterpret_cast<const Piece*>(source);
    for (unsigned i = threadIdx.x & 127U; i < bytes / sizeof(Piece); i += 128) {
      reinterpret_cast<Piece*>(memory)[i] = change(from[i]);
    }
  }
  template <int bytes>
  __device__ __forceinline__ void copy(const std::uint8_t* source) const {
    copy<bytes, int4>(source, [](int4 piece) { return piece; });
  }
};

#endif

}  // namespace gpu::kernels
