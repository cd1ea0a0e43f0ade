#pragma once
// How much device memory blocks and queues take, host and device results side by side.
//
// A host result takes its memory from what the budget of the call leaves, gives it back, and may
// look at the data before it does. The scratch memory of a device result is allocated for every
// call, is known from extents alone, and nothing of it can grow: so its blocks are smaller, and its
// queues as long as extents let expect.

#include <cstddef>
#include <cstdint>

namespace gpu::cuda::memory_sizes {

// The most bytes of the maxima of groups of partners that are there at a time.
inline constexpr std::size_t maxima_of_host_result = std::size_t{1} << 30;
inline constexpr std::size_t maxima_of_device_result = std::size_t{512} << 20;

// The same of statistics that best partners are chosen from, and of estimates of these, except for
// whole tiles of rows: on their way to a host result, and where they are selected from, or of a
// device result.
inline constexpr std::size_t statistics_of_host_result = std::size_t{4} << 30;
inline constexpr std::size_t selected_statistics = std::size_t{256} << 20;
// A device result has a whole table at once where its statistics as doubles take at most one part
// in so many of the device's memory: its products are then computed once for both rows.
inline constexpr std::size_t parts_of_whole_statistics = 10;
// The most bytes of rows of a device result on their way to packed ones.
inline constexpr std::size_t unpacked_of_device_result = std::size_t{256} << 20;

// The most bytes of a block of whole rows: of statistics on their way to the host, of those whose
// powers are added up, and of those of a group whose differences are looked for. The latter two
// never leave the device: rows that fill it also where they are long.
inline constexpr std::size_t downloaded_block = std::size_t{64} << 20;
inline constexpr std::size_t connectivity_block = std::size_t{512} << 20;
inline constexpr std::size_t difference_block = std::size_t{256} << 20;

// Candidates in a queue of edges by tiles: of a panel of rows that is done in pieces where it
// overflows, and of all that a screen of a device result leaves, one for each so many pairs.
inline constexpr std::uint64_t least_panel_candidates = std::uint64_t{1} << 20;
inline constexpr std::uint64_t most_panel_candidates = std::uint64_t{1} << 23;
inline constexpr std::uint64_t least_screened_of_device_result = std::uint64_t{1} << 16;
inline constexpr std::uint64_t most_screened_of_device_result = std::uint64_t{1} << 22;
inline constexpr std::uint64_t pairs_per_screened_of_device_result = 256;

// Candidates of a screen of a host result. One work item can never overflow the queue: it has fewer
// pairs than the most. The least is what strict cuts rarely find more of: memory that is never used
// still has to be mapped.
inline constexpr std::uint64_t most_screened = std::uint64_t{25} << 20;
inline constexpr std::uint64_t least_screened = std::uint64_t{2} << 20;
// For wide rows, whose items are single tiles, the queue holds twice the largest share of
// candidates with which the screen pays.
inline constexpr std::uint64_t least_wide_screened = std::uint64_t{1} << 16;
inline constexpr std::uint64_t pairs_per_wide_screened = 256;

// Pairs that counts leave undecided: at least and at most so many, and one for each so many pairs.
// By estimates, some times what is usual.
inline constexpr std::uint64_t least_undecided = std::uint64_t{1} << 16;
inline constexpr std::uint64_t most_undecided = std::uint64_t{1} << 24;
inline constexpr std::uint64_t pairs_per_undecided_estimate = 256;
// By products, 12 bytes each, and those of a launch alone, beyond the least. An item of the count
// is 13 million pairs, those of a launch on an H200 are 1.7e9, or 1.3e10 of corrected rows. The
// most is one in a hundred or in 800 of these, more than a cut near 0 leaves undecided of rows of
// 96 columns, or of corrected ones.
inline constexpr std::uint64_t pairs_per_undecided_product = 64;

// Edges of a batch to the host. It keeps all threads of the receiver busy; few edges need no large
// ones, whose page-locked memory takes time to get.
inline constexpr std::size_t least_batch_edges = std::size_t{1} << 14;
inline constexpr std::size_t most_batch_edges = std::size_t{1} << 19;
// Longer lists are not packed: they are stored into fresh pages, which keeps the threads busy, and
// these have no time to unpack.
inline constexpr std::size_t most_packed_edges = std::size_t{1} << 24;
// Edges that a screen found and that wait to be put in order.
inline constexpr std::uint64_t most_ordered_edges = std::uint64_t{1} << 28;

}  // namespace gpu::cuda::memory_sizes
