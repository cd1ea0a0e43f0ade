#pragma once
// Tile sizes of the CPU pair engine.

#include <cstddef>

#include <gpu/index.hpp>

namespace gpu::cpu::pair_policy {

/// One task of a thread: task_rows x task_cols pairs.
inline constexpr index_t task_rows = 128;
inline constexpr index_t task_cols = 8192;
/// Where a panel has fewer tasks than this for each thread, they have fewer columns: else most
/// threads wait for the last tasks.
inline constexpr index_t tasks_per_thread = 4;
/// Tasks have at least so many columns: the more where rows are short, until they are worth a
/// thread (thread_work).
inline constexpr index_t least_task_cols = 512;
inline constexpr index_t short_row_task_cols = 1024;
/// Of long rows they may have fewer: so many multiply-adds are worth what a task copies.
inline constexpr index_t long_row_task_cols = 64;
inline constexpr double long_row_work = 1.6e8;

/// Statistics are computed into a buffer of this many pairs (128 KiB) where a sink needs them all.
/// Long rows come from memory for each block: of as many rows, a block nearer to a square reads
/// fewer for each pair.
inline constexpr index_t block_rows = 64;
inline constexpr index_t block_cols = 256;

/// Doubles of a row that are multiplied before the next ones are, and columns that the rows of a
/// block meet at a time: 192 KiB of rows, 180 KiB of columns and 240 KiB of partial sums stay in
/// the second level of the caches, and the columns of a tile in the first. A whole number of tiles
/// of every instruction set: what is left over takes three times as long.
inline constexpr index_t unit_piece = 384;
inline constexpr index_t unit_strip = 60;

/// Rows that the 8-bit screen takes: the sums of longer ones could overflow.
inline constexpr index_t most_screened_cols = 32768;

/// A panel is what runs between two looks at progress and cancellation: rows against all columns,
/// of at most about this many multiply-adds.
inline constexpr index_t panel_rows = 2048;
inline constexpr double panel_work = 8e9;
/// The first panels are small: they show whether the pairs are as the sample said. Each has at most
/// so many rows for each one before it.
inline constexpr index_t first_panel_rows = 128;
inline constexpr index_t panel_growth = 3;

/// Multiply-adds that are worth a further thread.
inline constexpr double thread_work = 2e7;

/// Where no limit is asked for, rows and scratch take at most packed_bytes, else rows are packed in
/// windows.
inline constexpr std::size_t packed_bytes = std::size_t{216} << 20;
/// Rows, scratch and the edges that wait take at most this; with what every call takes that is
/// below 256 MiB beside the input and the result.
inline constexpr std::size_t memory_bytes = std::size_t{248} << 20;
/// Packing a long row takes as long as some thousands of pairs of it, so its windows are larger: so
/// many rows, where these take at most so much.
inline constexpr index_t long_row_window = 4096;
inline constexpr std::size_t long_row_bytes = std::size_t{2} << 30;
/// Rows that do not fit are packed in windows of at least this many rows, whose halves are
/// multiples of window_step: whole groups of columns for every kernel.
inline constexpr index_t least_window_rows = 512;
/// The same under a limit on memory, of rows that are longer than so many bytes: each is packed
/// more often then, up to four times.
inline constexpr index_t least_limited_rows = 128;
inline constexpr std::size_t limited_row_bytes = std::size_t{64} << 10;
inline constexpr index_t window_step = 64;
/// Where the limit holds no such window of these rows, they stand as they are, without the forms
/// that the kernels screen and search, and every pair is decided: windows of at least this many
/// rows, whose halves are whole groups of signs and of rows with missing values.
inline constexpr index_t least_small_window = 16;
inline constexpr index_t small_window_step = 8;

/// Edges of a panel that wait to be put in order: 16 + 24 bytes each.
inline constexpr std::size_t panel_edges = std::size_t{1} << 20;

/// Rows of a table whose partners are chosen from a matrix of all statistics, 16 MiB at most.
inline constexpr index_t most_matrix_rows = 1448;

/// Degrees that threads count by themselves, in all; else they add to common ones.
inline constexpr std::size_t thread_degrees = std::size_t{1} << 23;

}  // namespace gpu::cpu::pair_policy
