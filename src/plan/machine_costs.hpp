#pragma once
// What a machine takes for a pair, a candidate, an element or a byte of all pairs. The choices of
// src/plan and the searches of src/cpu/pairs compare times that are made of these figures; no other
// file has one. bench/calibrate measures those in which the instruction sets of a CPU differ, where
// it runs.

#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// What a screen takes on a GPU, in units of the time that the tiles take to decide a pair.
struct screen_costs {
  double pair;       ///< Of a pair that is dropped.
  double candidate;  ///< Of a pair that is left, which is decided by itself.
};

/// What the CUDA backend takes. The defaults were measured on an H200, where no other is named.
struct cuda_costs {
  // Of long jobs (bench/calibrate_screens; edges and counts of 40,000 to 400,000 rows). A pair of
  // the tiles takes 0.35 ps of 30 ranks, 0.76 of 100, 0.64 of 57 unit values, 8 to 10 of rows of
  // more than 128 bytes; a candidate 0.5 to 1 ns of ranks in 8 bits, 2 of unit values, 1.4 to 5 of
  // long rows.
  screen_costs e4m3{0.12, 1450};  ///< Ranks of at most 32 bytes.
  screen_costs int8{0.2, 1600};
  screen_costs deep_e4m3{0.18, 1100};  ///< Of more.
  screen_costs deep_int8{0.25, 1400};
  screen_costs rounded{0.23, 3100};
  screen_costs wide{0.12, 400};  ///< Rounded rows of more than 128 bytes.
  // Ranks that screen rows of signs, of which the tiles take some 20 ps a pair and a candidate is
  // two rows of signs.
  screen_costs signs_e4m3{0.002, 200};
  screen_costs signs_int8{0.0035, 200};
  // Pairs that are counted in the time of one that tiles decide: class by class of at most 32
  // bytes and of more, and unit rows by halves.
  double counted_ranks = 2.05;
  double counted_deep_ranks = 2.8;
  double counted_values = 1.76;
  double pairs_of_classes = 6;  ///< The first of these, of short jobs.

  // Of long rows: multiply-adds a second of a multiprocessor by products, of which those of limbs
  // take one for each pair of limbs.
  double double_rate = 1.6e11;
  double limb_rate = 3.5e12;
  double half_rate = 6.5e11;
  // And of a block of tiles, of which two share a multiprocessor: one for each element, whatever it
  // is made of.
  double two_limb_rate = 1.25e11;
  double three_limb_rate = 1.25e11 * 4 / 9;
  double float_rate = 0.5e11;
  double memory_rate = 3.5e12;  ///< Bytes a second.
  double launch_seconds = 1e-5;
  double short_products = 1e-4;  ///< Seconds of products that the sample of a screen takes too.

  // Best partners of long rows, in seconds (H100).
  double mapped_byte = 2.5e-12;  ///< A byte of memory that every call maps anew.
  /// A column of a pair by products of doubles, or of limbs, and the selection from them.
  double selected_double = 2.9e-14;
  double selected_limb = 9e-15;
  double saved_by_halves = 2.3e-14;  ///< selected_double less the same by halves.
  double unit_byte = 1e-12;          ///< A byte of the unit row of a partner that is computed anew.
  double slow_columns = 1e5;         ///< Columns of a row whose bytes cost twice as much.
  double filling_rows = 16;          ///< Rows a multiprocessor that fill the device, a warp each.

  // Edges and counts of long unit rows by products of halves, in seconds (H100): a column of a pair
  // near the cut, which is computed anew at the speed of the memory, and what halves save of a
  // column of any pair.
  double anew_column = 1.6e-11;
  double saved_column = 4e-14;

  // What short jobs are decided by, in seconds (H100, 100 to 50,000 rows). A pair of the tiles of
  // ranks, and 32 columns of it; of those of unit rows in halves, and in doubles up to 8 columns; a
  // candidate of the former.
  double rank_pair = 4e-13;
  double rank_step = 3e-13;
  double half_pair = 5.5e-13;
  double double_pair = 1.6e-11;
  double half_candidate = 1.3e-9;
  // A tile for each multiprocessor, of which an H100 and an H200 have 132. As all figures of such
  // jobs it is of that card: a plan, which says in words what a job is too short for, knows none.
  double pairs_at_once = 132 * 64 * 64;
  // What faster ways take before their first pair, beyond what tiles take: the layout of classes, a
  // screen of unit rows, tiles in doubles, and the search for equal rows, with what that takes for
  // each row.
  double class_start = 1.4e-4;
  double screen_start = 1.3e-4;
  double double_start = 3e-4;
  double fold_start = 1.3e-4;
  double fold_row = 1e-9;
  double screened_pair = 1.6e-13;  ///< A pair that equal rows save, by a screen of ranks.

  // A call on rows in host memory, in seconds, beside the CPU's (H200): what it takes whatever its
  // size, an element on its way to the device, and the context and the modules of a process that
  // has not used the device yet.
  double host_call = 2.5e-4;
  double host_element = 4e-10;
  double context_start = 0.25;
  /// Multiply-adds of doubles a second, of the card of pairs_at_once.
  [[nodiscard]] constexpr double card_double_rate() const { return 132 * double_rate; }

  // On warpgroup tensor cores counts and best partners are computed far faster from rows without
  // weights: counts of 2,000,000 x 30 at 0.72 patterns a row took 0.78 s from rows and 1.23 s from
  // patterns (H100). So folding pays from three rows a pattern on.
  double most_pattern_share_of_warpgroups = 1.0 / 3;
};
inline constexpr cuda_costs default_cuda_costs{};

/// When rows of equal ranks are folded.
struct fold_costs {
  /// With fewer rows, all their pairs take less time on the CPU than it takes to find the patterns.
  index_t least_rows = 8192;
  /// Patterns per row up to which folding pays: at 0.8 there are 0.64 times as many pairs, and
  /// weights and the expansion of the result cost a part of what that saves.
  double most_pattern_share = 0.8;
};
inline constexpr fold_costs default_fold_costs{};

/// About how many nanoseconds of a thread an instruction set takes; factors say what they multiply.
/// Ways are compared by these, so only their ratios matter.
struct cpu_costs {
  double screen;   ///< A column in 8 bits, for the screen.
  double look;     ///< Comparing such a sum with the limit.
  double int8;     ///< A column of sums of 8-bit products.
  double int16;    ///< Of 16-bit products.
  double float32;  ///< Of single precision.
  double float64;  ///< Of statistics in double precision.
  double filter;   ///< Comparing a sum with the cut.
  double count;    ///< Adding to the degrees what the comparison says.
  double select;   ///< Writing the sum, and going through it without a branch.
  /// Deciding a pair that the screen leaves, a step of which nothing can be foreseen: its branch,
  /// where its rows are, its root and quotient.
  double candidate;

  // The following are about the same by every instruction set.

  double call = 2e-5;        ///< Seconds of a call, whatever its size.
  double packing = 0.7;      ///< An element of a unit row, rounded for a search.
  double ranking = 8;        ///< An element of a row that is ranked.
  double making_screen = 1;  ///< An element of a screen, beyond what it takes otherwise.
  // A pair that is decided by itself where its sum has to be made: what it takes whatever its
  // length, and each of its columns. Of ranks, and of unit rows in doubles.
  double own_rank_pair = 20;
  double own_rank_column = 0.1;
  double own_unit_pair = 15;
  double own_unit_column = 0.5;
  double unit_candidate = 0.4;  ///< `candidate` of unit rows, which need no root, of that of ranks.
  // Blocks of rows in 16 bits (wide_products). A column takes int16 * (block_int16 + block_move /
  // n) where sums are moved to doubles after every n steps; of rounded rows n is large. And
  // comparing a sum with the cut.
  double block_int16 = 1.1;
  double block_move = 1;
  double block_filter = 1;
  double rho = 4;             ///< The statistic of ranks from a sum in doubles, and comparing it.
  double clip = 3;            ///< The statistic of unit rows from its sum.
  double keep = 1;            ///< Comparing such a statistic with the cut.
  double clip_and_count = 5;  ///< That, and adding to the degrees what the comparison says.
  double bin = 4;             ///< Adding the statistic of a kept pair to a histogram.
  double class_bin = 1;       ///< The same where pairs are counted class by class.
};

/// The defaults, measured on a Xeon with AMX. A loop that an instruction set lacks costs 0 and is
/// never asked for.
namespace default_costs {
inline constexpr cpu_costs baseline{.screen = 0,
                                    .look = 0,
                                    .int8 = 0,
                                    .int16 = 0.1,
                                    .float32 = 0.12,
                                    .float64 = 0.5,
                                    .filter = 1,
                                    .count = 2.5,
                                    .select = 3,
                                    .candidate = 12};
inline constexpr cpu_costs avx2{.screen = 0.0055,
                                .look = 0,
                                .int8 = 0,
                                .int16 = 0.016,
                                .float32 = 0.02,
                                .float64 = 0.06,
                                .filter = 0.15,
                                .count = 0.35,
                                .select = 2,
                                .candidate = 30};
inline constexpr cpu_costs avx512{.screen = 0.0055,
                                  .look = 0,
                                  .int8 = 0,
                                  .int16 = 0.012,
                                  .float32 = 0.016,
                                  .float64 = 0.06,
                                  .filter = 0.1,
                                  .count = 0.05,
                                  .select = 0.8,
                                  .candidate = 30};
inline constexpr cpu_costs avx512_vnni{.screen = 0.0055,
                                       .look = 0.01,
                                       .int8 = 0.0055,
                                       .int16 = 0.009,
                                       .float32 = 0.016,
                                       .float64 = 0.06,
                                       .filter = 0.08,
                                       .count = 0.02,
                                       .select = 0.5,
                                       .candidate = 40};
inline constexpr cpu_costs amx{.screen = 0.0011,
                               .look = 0.09,
                               .int8 = 0.0015,
                               .int16 = 0.009,
                               .float32 = 0.016,
                               .float64 = 0.06,
                               .filter = 0.15,
                               .count = 0.04,
                               .select = 0.6,
                               .candidate = 90};
}  // namespace default_costs

}  // namespace gpu::inline v0::detail
