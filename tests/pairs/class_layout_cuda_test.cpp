// How the device lays rows out class by class: beside a layout that is made here, row by row, past
// 2^31 and 2^32 pairs.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/pairs/classes/kernels.hpp"
#include "support/catch.hpp"
#include "support/device_memory.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu::index_t;
using gpu::kernels::count_block_rows;
using gpu::kernels::count_panel;
using gpu::kernels::empty_slot;

// Rows of an input: those of the left side, then those of the right side.
struct input {
  std::vector<std::int64_t> square_sums;
  index_t left;      // rows of the left side
  index_t unseen;    // rows before it, on neither side
  std::size_t most;  // the largest square sum
};

// Rows of classes of the given sizes, in no order, and some without a statistic; the first `left`
// classes are of the left side. Square sums go up in steps of 3 on each side.
input make_input(const std::vector<std::uint32_t>& sizes, std::size_t left, std::mt19937& engine) {
  input out{.square_sums = std::vector<std::int64_t>(5, 1), .left = 0, .unseen = 5, .most = 1};
  for (const bool is_left : {true, false}) {
    std::vector<std::int64_t> side(7, 0);
    std::int64_t sum = 1;
    for (std::size_t c = is_left ? 0 : left; c < (is_left ? left : sizes.size()); ++c) {
      side.insert(side.end(), sizes[c], sum);
      out.most = std::max(out.most, static_cast<std::size_t>(sum));
      sum += 3;
    }
    std::shuffle(side.begin(), side.end(), engine);
    out.square_sums.insert(out.square_sums.end(), side.begin(), side.end());
    if (is_left) out.left = static_cast<index_t>(side.size());
  }
  return out;
}

struct layout {
  std::vector<std::uint32_t> slots;
  std::vector<int> square_sums;
  std::vector<count_panel> panels;
  std::uint32_t left_blocks = 0;
  std::uint32_t left_panels = 0;
};

// The layout by its definition: of each side the rows of each class, in order, from a new block on.
layout expect(const input& rows) {
  layout out;
  for (const bool is_left : {true, false}) {
    const index_t begin = rows.unseen + (is_left ? 0 : rows.left);
    const index_t end = is_left ? begin + rows.left : static_cast<index_t>(rows.square_sums.size());
    std::vector<std::vector<std::uint32_t>> classes(rows.most + 1);
    for (index_t row = begin; row < end; ++row) {
      const auto sum = static_cast<std::size_t>(rows.square_sums[static_cast<std::size_t>(row)]);
      if (sum > 0) classes[sum].push_back(static_cast<std::uint32_t>(row));
    }
    for (std::size_t sum = 1; sum < classes.size(); ++sum) {
      auto block = static_cast<std::uint32_t>(out.square_sums.size());
      out.slots.insert(out.slots.end(), classes[sum].begin(), classes[sum].end());
      while (out.slots.size() % count_block_rows != 0) out.slots.push_back(empty_slot);
      out.square_sums.resize(out.slots.size() / count_block_rows, static_cast<int>(sum));
      const auto last = static_cast<std::uint32_t>(out.square_sums.size());
      for (; block < last; block += gpu::kernels::count_panel_blocks) {
        out.panels.push_back(
            {block, std::min<std::uint32_t>(last - block, gpu::kernels::count_panel_blocks)});
      }
    }
    if (is_left) {
      out.left_blocks = static_cast<std::uint32_t>(out.square_sums.size());
      out.left_panels = static_cast<std::uint32_t>(out.panels.size());
    }
  }
  return out;
}

// What the device makes of the rows, with so many places for them.
class on_device {
 public:
  on_device(const input& rows, index_t places, bool within)
      : count_(static_cast<index_t>(rows.square_sums.size())),
        sums_(rows.square_sums.data(), rows.square_sums.size()),
        order_(rows.square_sums.size()),
        temporary_(std::max(gpu::kernels::screen_order_bytes(count_),
                            gpu::kernels::class_layout_bytes(count_))),
        slots_(static_cast<std::size_t>(places)),
        square_sums_(static_cast<std::size_t>(places / count_block_rows)),
        panels_(static_cast<std::size_t>(places / count_block_rows)),
        items_before_(static_cast<std::size_t>(gpu::kernels::class_chunks(places)) + 1),
        first_panel_(static_cast<std::size_t>(gpu::kernels::class_chunks(places))),
        extents_(1),
        is_of_use_(1) {
    const gpu::kernels::row_sides sides{.left_begin = rows.unseen,
                                        .left_end = rows.unseen + rows.left,
                                        .right_begin = rows.unseen + rows.left,
                                        .right_end = count_,
                                        .within = within};
    const gpu_test::test_stream stream;
    gpu::kernels::launch_screen_order(sums_.data(), count_, sides,
                                      static_cast<std::int64_t>(rows.most), order_.data(),
                                      temporary_.data(), stream.get());
    gpu::kernels::launch_class_layout(
        {.square_sums = sums_.data(), .order = order_.data(), .rows = count_, .sides = sides},
        {.depth = 32,
         .padded_rows = places,
         .extents = extents_.data(),
         .slots = slots_.data(),
         .tiles = nullptr,
         .square_sums = square_sums_.data(),
         .panels = panels_.data(),
         .items_before = items_before_.data(),
         .first_panel = first_panel_.data()},
        {.most_growth = 0, .always_padded_rows = places, .is_of_use = is_of_use_.data()},
        temporary_.data(), stream.get());
    stream.synchronize();
  }

  template <class T>
  static std::vector<T> read(const gpu_test::device_array<T>& from, std::size_t count) {
    std::vector<T> out(from.size());
    from.copy_to(out.data());
    out.resize(count);
    return out;
  }
  [[nodiscard]] gpu::kernels::class_extents extents() const { return read(extents_, 1).front(); }
  [[nodiscard]] bool is_of_use() const { return read(is_of_use_, 1).front() == 1; }
  [[nodiscard]] std::vector<std::uint32_t> slots() const { return read(slots_, slots_.size()); }
  [[nodiscard]] std::vector<int> square_sums(std::size_t n) const { return read(square_sums_, n); }
  [[nodiscard]] std::vector<count_panel> panels(std::size_t n) const { return read(panels_, n); }
  [[nodiscard]] std::vector<index_t> items_before(std::size_t n) const {
    return read(items_before_, n);
  }
  [[nodiscard]] std::vector<std::uint32_t> first_panel(std::size_t n) const {
    return read(first_panel_, n);
  }

 private:
  index_t count_;
  gpu_test::device_array<std::int64_t> sums_;
  gpu_test::device_array<std::uint32_t> order_;
  gpu_test::device_array<std::byte> temporary_;
  gpu_test::device_array<std::uint32_t> slots_;
  gpu_test::device_array<int> square_sums_;
  gpu_test::device_array<count_panel> panels_;
  gpu_test::device_array<index_t> items_before_;
  gpu_test::device_array<std::uint32_t> first_panel_;
  gpu_test::device_array<gpu::kernels::class_extents> extents_;
  gpu_test::device_array<std::uint32_t> is_of_use_;
};

// The work items are, for each chunk of left blocks, all panels that meet it: with those the count
// takes every block of rows with every block that is not before it, once.
void check_items(const on_device& got, const layout& wanted, bool within) {
  const gpu::kernels::class_extents extents = got.extents();
  REQUIRE(extents.chunk_blocks > 0);
  const std::size_t chunks = (wanted.left_blocks + extents.chunk_blocks - 1) / extents.chunk_blocks;
  const auto first_panel = got.first_panel(chunks);
  const auto items_before = got.items_before(chunks + 1);
  bool right = items_before.front() == 0;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    std::uint32_t first = wanted.left_panels;
    if (within) {
      const auto begin = static_cast<std::uint32_t>(chunk) * extents.chunk_blocks;
      const auto meets = [&](const count_panel& panel) {
        return panel.first_block + panel.blocks > begin;
      };
      first = static_cast<std::uint32_t>(
          std::find_if(wanted.panels.begin(), wanted.panels.end(), meets) - wanted.panels.begin());
    }
    right &= first_panel[chunk] == first;
    right &= items_before[chunk + 1] - items_before[chunk] ==
             static_cast<index_t>(wanted.panels.size()) - first;
  }
  CHECK(right);
  CHECK(items_before.back() == extents.items);
}

void check_layout(const std::vector<std::uint32_t>& sizes, std::size_t left, bool within) {
  INFO(sizes.size() << " classes, " << left << " of the left side");
  std::mt19937 engine(7);
  const input rows = make_input(sizes, left, engine);
  layout wanted = expect(rows);
  const auto needed = static_cast<index_t>(wanted.slots.size());
  for (const index_t more : {index_t{0}, index_t{3} * count_block_rows}) {
    const on_device got(rows, needed + more, within);
    CHECK(got.is_of_use());
    CHECK(got.extents().blocks == wanted.square_sums.size());
    CHECK(got.extents().left_blocks == wanted.left_blocks);
    wanted.slots.resize(static_cast<std::size_t>(needed + more), empty_slot);
    CHECK(got.slots() == wanted.slots);
    CHECK(got.square_sums(wanted.square_sums.size()) == wanted.square_sums);
    const auto same = [](const count_panel& a, const count_panel& b) {
      return a.first_block == b.first_block && a.blocks == b.blocks;
    };
    const auto panels = got.panels(wanted.panels.size());
    CHECK(std::equal(panels.begin(), panels.end(), wanted.panels.begin(), same));
    check_items(got, wanted, within);
  }
  if (needed == count_block_rows) return;
  const on_device tight(rows, needed - count_block_rows, within);
  CHECK_FALSE(tight.is_of_use());
  CHECK(tight.extents().items == 0);
  CHECK(tight.extents().blocks == 0);
}

void check_layout(const std::vector<std::uint32_t>& sizes) {
  check_layout(sizes, sizes.size(), true);
  for (const std::size_t left : {std::size_t{1}, sizes.size() / 2, sizes.size() - 1}) {
    if (left == 0 || left == sizes.size()) continue;
    check_layout(sizes, left, true);
    check_layout(sizes, left, false);
  }
}

}  // namespace

TEST_CASE("Classes of every size are laid out, and their items cover every pair once",
          "[classes]") {
  check_layout({2});
  check_layout({1, 1});
  check_layout({1, 255, 256, 257, 1, 767, 768, 769, 65'536, 3});
  check_layout(std::vector<std::uint32_t>(3000, 1));
  std::mt19937 engine(2);
  for (int i = 0; i < 20; ++i) {
    std::vector<std::uint32_t> sizes(1 + engine() % 60);
    for (std::uint32_t& size : sizes) {
      const auto limit = std::uint32_t{1} << (engine() % 14);
      size = 1 + static_cast<std::uint32_t>(engine()) % limit;
    }
    sizes.back() += 1;
    check_layout(sizes);
  }
  // Past 2^31 and 2^32 pairs, and the rows of the origin job.
  check_layout({65'537, 10});
  check_layout({92'683, 1, 131'072});
  check_layout({1'000'000, 77, 2'000'001, 6'879'818}, 2, true);
}
