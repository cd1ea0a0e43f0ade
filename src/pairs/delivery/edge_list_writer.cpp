#include "pairs/delivery/edge_list_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/memory/large_pages.hpp"
#include "base/memory/stream_copy.hpp"
#include "base/parallel.hpp"
#include "pairs/delivery/unpack_edges.hpp"

namespace gpu::delivery {
namespace {

using detail::edge_batch;
using detail::large_page_bytes;
using detail::populate_pages;
using detail::stream_copy;

constexpr double least_room = 1 << 20;
constexpr double most_room = 1e11;
constexpr std::size_t edges_per_task = 8192;

}  // namespace

edge_list_writer::edge_list_writer(array<edge>& list, stats::p_function p_of, int threads)
    : list_(list), p_of_(p_of), threads_(threads), checksums_(threads) {}

// Here and in populate() all threads take part, also for few edges or pages: the next loop is long,
// and would start those anew that this one left out.
template <class Write>
void edge_list_writer::extend(std::size_t count, std::size_t most_pages, const Write& write) {
  const std::size_t before = list_.size();
  forget_pages_of(before + count);
  list_.resize(before + count);
  ready_ = std::max(ready_, list_.size() * sizeof(edge));
  const std::size_t pages = std::min(most_pages, pages_from(ready_));
  const std::size_t tasks = (count + edges_per_task - 1) / edges_per_task;
  detail::parallel_for(
      static_cast<index_t>(pages + tasks), threads_, [&](index_t number, int thread) {
        const auto task = static_cast<std::size_t>(number);
        if (task < pages) {
          return populate_pages(page_at(ready_) + task * large_page_bytes, large_page_bytes);
        }
        const std::size_t first = (task - pages) * edges_per_task;
        write(first, std::min(edges_per_task, count - first), list_.data() + before + first,
              thread);
      });
  ready_ += pages * large_page_bytes;
}

void edge_list_writer::expect(double sure, double room) {
  // Room that is not used takes no memory, but systems that do not overcommit refuse far too
  // large requests.
  list_.reserve(static_cast<std::size_t>(std::min({room, 2 * sure + least_room, most_room})));
  sure_ = std::min(static_cast<std::size_t>(sure), list_.capacity());
  extend(0, one_each(), [](std::size_t, std::size_t, edge*, int) {});
}

std::span<edge> edge_list_writer::room(std::size_t count) {
  const std::size_t before = list_.size();
  forget_pages_of(before + count);
  list_.resize(before + count);
  list_.resize(before);
  populate(before + count);
  offered_ = list_.data() + before;
  return {offered_, count};
}

void edge_list_writer::append(const edge_batch& batch) {
  if (batch.checksum != nullptr) known_ += *batch.checksum;
  const edge* const offered = std::exchange(offered_, nullptr);
  if (offered != nullptr && offered == batch.edges.data()) {  // written in the room that was made
    list_.resize(list_.size() + batch.edges.size());
    if (batch.checksum == nullptr) known_ += stats::checksum_of(batch.edges, threads_);
    return;
  }
  const bool sums_up = batch.checksum == nullptr;
  extend(batch.edges.size(), pages_beside(batch.edges.size()),
         [&](std::size_t first, std::size_t count, edge* to, int thread) {
           const std::span<const edge> part = batch.edges.subspan(first, count);
           if (sums_up) checksums_.add(thread, stats::checksum_of(part));
           stream_copy(to, part.data(), part.size_bytes());
         });
}

void edge_list_writer::append(const detail::packed_edges& edges, const pair_checksum& sum) {
  known_ += sum;
  extend(edges.count, pages_beside(edges.count),
         [&](std::size_t first, std::size_t count, edge* to, int) {
           unpack_edges(edges, first, count, p_of_, to);
         });
}

// A list that grows beyond its capacity moves: its pages behind the end are not known any more.
void edge_list_writer::forget_pages_of(std::size_t size) {
  if (size > list_.capacity()) sure_ = 0;
}

// One page takes a thread as long as many copies, so all threads take some or none does.
std::size_t edge_list_writer::pages_beside(std::size_t count) const {
  const std::size_t bytes = count * sizeof(edge);
  const bool has_next = ready_ >= list_.size() * sizeof(edge) + 2 * bytes;
  return has_next ? 0 : std::max(bytes / large_page_bytes + 1, one_each());
}

// Makes the system provide the pages of the first `size` edges.
void edge_list_writer::populate(std::size_t size) {
  const std::size_t end = size * sizeof(edge);
  if (end < ready_ + 2 * large_page_bytes) return;
  const std::size_t pages = (end - ready_) / large_page_bytes - 1;
  detail::parallel_for(static_cast<index_t>(pages), threads_, [&](index_t page, int) {
    populate_pages(page_at(ready_) + static_cast<std::size_t>(page) * large_page_bytes,
                   large_page_bytes);
  });
  ready_ = end;
}

// The large page that starts at or behind byte `at` of the list.
std::byte* edge_list_writer::page_at(std::size_t at) const {
  auto* const place = reinterpret_cast<std::byte*>(list_.data()) + at + large_page_bytes - 1;
  return place - reinterpret_cast<std::uintptr_t>(place) % large_page_bytes;
}

// Large pages wholly between byte `begin` of the list and its sure end, at least.
std::size_t edge_list_writer::pages_from(std::size_t begin) const {
  const std::size_t end = sure_ * sizeof(edge);
  return end >= begin + large_page_bytes ? (end - begin) / large_page_bytes - 1 : 0;
}

}  // namespace gpu::delivery
