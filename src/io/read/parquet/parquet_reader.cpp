#include "io/read/parquet/parquet_reader.hpp"

#include "io/parquet.hpp"

#if defined(GPU_SIMILARITY_HAS_PARQUET)

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/read/parquet/arrow_arrays.hpp"
#include "io/read/parquet/parquet_columns.hpp"
#include "io/text/text_layout.hpp"

namespace gpu::io {
namespace {

/// What is known of the values of some blocks.
struct seen_values {
  index_t rows = 0;
  double smallest = 0;
  double largest = 0;
  index_t missing = 0;
  bool are_integers = true;

  void include(const seen_values& other) {
    rows += other.rows;
    missing += other.missing;
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
  template <class T>
  [[nodiscard]] bool fits() const {
    return are_integers && missing == 0 && smallest >= double{std::numeric_limits<T>::min()} &&
           largest <= double{std::numeric_limits<T>::max()};
  }
};

/// The values as T, those of one block behind those of another; each block is given back as soon
/// as it is copied.
template <class T>
any_matrix joined(std::deque<any_matrix>& blocks, index_t rows, index_t cols, int threads) {
  matrix<T> out(rows, cols);
  T* to = out.data();
  for (; !blocks.empty(); blocks.pop_front()) {
    to = std::visit(
        [to, cols, threads](const auto& block) {
          const index_t count = block.rows() * cols;
          const auto* const from = block.data();
#pragma omp parallel for schedule(static) num_threads(threads)
          for (index_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
          return to + count;
        },
        blocks.front());
  }
  return out;
}

any_matrix joined_narrowest(std::deque<any_matrix>& blocks, const seen_values& seen, index_t cols,
                            int threads) {
  const index_t rows = seen.rows;
  if (seen.fits<std::int8_t>()) return joined<std::int8_t>(blocks, rows, cols, threads);
  if (seen.fits<std::uint8_t>()) return joined<std::uint8_t>(blocks, rows, cols, threads);
  if (seen.fits<std::int16_t>()) return joined<std::int16_t>(blocks, rows, cols, threads);
  if (seen.fits<std::uint16_t>()) return joined<std::uint16_t>(blocks, rows, cols, threads);
  if (seen.fits<std::int32_t>()) return joined<std::int32_t>(blocks, rows, cols, threads);
  return joined<double>(blocks, rows, cols, threads);
}

class parquet_rows final : public row_reader {
 public:
  parquet_rows(input& file, const read_options& options)
      : file_(file),
        name_(file.name()),
        threads_(detail::thread_count(options.threads)),
        bytes_(std::make_shared<arrow_file>(file.seekable())) {
    guarded([&] { open(options); });
  }

  [[nodiscard]] index_t cols() const override { return std::ssize(choice_.values); }
  [[nodiscard]] std::optional<index_t> rows() const override { return all_rows_; }
  [[nodiscard]] bool names_rows() const override { return choice_.names >= 0; }
  [[nodiscard]] bool is_float() const override {
    return choice_.element == parquet_kind::single_precision;
  }
  [[nodiscard]] const column_names& columns() const override { return choice_.columns; }
  [[nodiscard]] const table_reading& reading() const override { return choice_.reading; }

  std::optional<table> next() override {
    table out;
    seen_values seen = nothing_seen();
    std::deque<any_matrix> blocks;
    if (!take_block(blocks, seen, out)) return std::nullopt;
    finish(out, blocks, seen);
    return out;
  }

  table rest() override {
    table out;
    seen_values seen = nothing_seen();
    std::deque<any_matrix> blocks;
    while (take_block(blocks, seen, out)) {
    }
    finish(out, blocks, seen);
    return out;
  }

 private:
  // Of values, in a batch.
  static constexpr std::size_t batch_bytes = std::size_t{8} << 20;
  static constexpr std::size_t fewest_batch_rows = 256;
  // Row groups that are larger, compressed, are read page by page.
  static constexpr std::int64_t largest_whole_group = std::int64_t{256} << 20;

  [[noreturn]] void refuse(const std::string& what) const {
    throw input_error(name_, {}, "cannot be read as a Parquet file: " + printable(what));
  }

  void check(const arrow::Status& status) const {
    if (status.ok()) return;
    bytes_->rethrow_failure();
    if (status.IsOutOfMemory()) throw std::bad_alloc();
    refuse(status.message());
  }

  /// work(), with what Arrow throws as an input_error.
  template <class Work>
  void guarded(const Work& work) const {
    try {
      work();
    } catch (const parquet::ParquetStatusException& error) {
      check(error.status());
      throw;
    } catch (const parquet::ParquetException& error) {
      bytes_->rethrow_failure();
      refuse(error.what());
    }
  }

  template <class T>
  T value_of(arrow::Result<T> result) const {
    check(result.status());
    return std::move(result).ValueUnsafe();
  }

  [[nodiscard]] seen_values nothing_seen() const {
    return {.are_integers = choice_.element == parquet_kind::integer};
  }

  void open(const read_options& options) {
    arrow::MemoryPool* const pool = arrow::system_memory_pool();
    parquet::ReaderProperties properties(pool);
    properties.set_page_checksum_verification(true);  // where the file has them
    auto about = parquet::ParquetFileReader::Open(bytes_, properties)->metadata();
    for (int g = 0; g < about->num_row_groups(); ++g) {
      if (about->RowGroup(g)->total_compressed_size() > largest_whole_group) {
        properties.enable_buffered_stream();
      }
    }
    parquet::arrow::FileReaderBuilder builder;
    check(builder.Open(bytes_, properties, about));
    parquet::ArrowReaderProperties how(threads_ > 1);
    how.set_pre_buffer(false);
    builder.memory_pool(pool)->properties(how);
    check(builder.Build(&reader_));
    if (about->num_rows() < 0) refuse("a negative number of rows");
    all_rows_ = about->num_rows();
    choose(options);
    check_size(file_.max_bytes());
    const std::size_t row_bytes = choice_.values.size() * element_bytes();
    reader_->set_batch_size(
        static_cast<std::int64_t>(std::max(batch_bytes / row_bytes, fewest_batch_rows)));
    start();
  }

  [[nodiscard]] std::size_t element_bytes() const {
    return is_float() ? sizeof(float) : sizeof(double);
  }

  void choose(const read_options& options) {
    std::shared_ptr<arrow::Schema> schema;
    check(reader_->GetSchema(&schema));
    std::vector<parquet_column> columns;
    for (const auto& field : schema->fields()) {
      columns.push_back({field->name(), field->type()->ToString(), kind_of(*field->type())});
    }
    std::string pandas;
    const auto about = reader_->parquet_reader()->metadata()->key_value_metadata();
    if (about) pandas = about->Get("pandas").ValueOr("");
    choice_ = choose_parquet_columns(columns, pandas, options.text, name_);
  }

  /// A few bytes may stand for many equal values.
  void check_size(std::uint64_t max_bytes) const {
    const std::uint64_t row_bytes = choice_.values.size() * element_bytes();
    if (static_cast<std::uint64_t>(all_rows_) <= max_bytes / row_bytes) return;
    throw input_error(name_, {},
                      fmt::format("holds {} rows of {} numbers, which take more than the {} bytes "
                                  "that are allowed (max_bytes, --max-input)",
                                  all_rows_, cols(), max_bytes));
  }

  void start() {
    std::vector<index_t> fields = choice_.values;
    if (choice_.names >= 0) fields.push_back(choice_.names);
    std::sort(fields.begin(), fields.end());
    std::vector<int> leaves;
    const auto& manifest = reader_->manifest();
    for (const index_t field : fields) {
      leaves.push_back(manifest.schema_fields.at(static_cast<std::size_t>(field)).column_index);
    }
    const auto place_of = [&](index_t field) {
      return static_cast<int>(std::lower_bound(fields.begin(), fields.end(), field) -
                              fields.begin());
    };
    for (const index_t field : choice_.values) places_.push_back(place_of(field));
    if (choice_.names >= 0) names_place_ = place_of(choice_.names);
    std::vector<int> groups(static_cast<std::size_t>(reader_->num_row_groups()));
    for (std::size_t g = 0; g < groups.size(); ++g) groups[g] = static_cast<int>(g);
    batches_ = value_of(reader_->GetRecordBatchReader(groups, leaves));
  }

  /// Reads the next batch; whether there was one.
  bool take_block(std::deque<any_matrix>& blocks, seen_values& seen, table& out) {
    file_.check_stop();
    std::shared_ptr<arrow::RecordBatch> batch;
    do {
      guarded([&] { check(batches_->ReadNext(&batch)); });
    } while (batch && batch->num_rows() == 0);
    if (!batch) return false;
    if (choice_.names >= 0) {
      for_each_text(*batch->column(names_place_),
                    [&](std::string_view name) { out.names.add(cleaned_name(name)); });
    }
    if (is_float()) {
      take_values<float>(*batch, blocks, seen, out);
    } else {
      check_integers(*batch);
      take_values<double>(*batch, blocks, seen, out);
    }
    done_rows_ += batch->num_rows();
    return true;
  }

  void check_integers(const arrow::RecordBatch& batch) const {
    for (std::size_t c = 0; c < places_.size(); ++c) {
      const auto found = unequal_integer(*batch.column(places_[c]));
      if (!found) continue;
      throw input_error(name_, {done_rows_ + found->first, static_cast<index_t>(c), true},
                        fmt::format("got {} in column {}, expected integers up to 2^53; save "
                                    "doubles where rounding is meant",
                                    found->second, quoted(choice_.columns.names[c])));
    }
  }

  template <class T>
  void take_values(const arrow::RecordBatch& batch, std::deque<any_matrix>& blocks,
                   seen_values& seen, table& out) {
    constexpr index_t tile_rows = 64;
    const index_t rows = batch.num_rows();
    matrix<T> values(rows, cols());
    std::vector<const arrow::Array*> arrays;
    for (const int place : places_) {
      arrays.push_back(batch.column(place).get());
      (void)arrays.back()->null_count();  // counted once, not by every thread
    }
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (index_t first = 0; first < rows; first += tile_rows) {
      const index_t count = std::min(tile_rows, rows - first);
      T* to = values.data() + first * cols();
      for (const arrow::Array* array : arrays) copy_column(*array, first, count, to++, cols());
    }
    seen_values here = look_at(values, out);
    here.are_integers = seen.are_integers;
    seen.include(here);
    blocks.emplace_back(std::move(values));
    if (!seen.are_integers) return;
    // Narrow at once: blocks of integers would take as much as doubles until the end.
    std::deque<any_matrix> one;
    one.push_back(std::move(blocks.back()));
    blocks.back() = joined_narrowest(one, here, cols(), threads_);
  }

  /// What is known of the values, and where the first NaN is.
  template <class T>
  seen_values look_at(const matrix<T>& values, table& out) const {
    const index_t count = values.rows() * values.cols();
    const T* const from = values.data();
    T smallest = 0;
    T largest = 0;
    index_t missing = 0;
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(min : smallest) \
    reduction(max : largest) reduction(+ : missing)
    for (index_t i = 0; i < count; ++i) {
      smallest = std::min(smallest, from[i]);
      largest = std::max(largest, from[i]);
      missing += from[i] != from[i] ? 1 : 0;
    }
    if (missing > 0 && !out.first_nan) {
      const T* const found = std::find_if(from, from + count, [](T v) { return v != v; });
      const index_t at = found - from;
      out.first_nan = input_position{done_rows_ + at / cols(), at % cols(), true};
    }
    return {.rows = values.rows(),
            .smallest = static_cast<double>(smallest),
            .largest = static_cast<double>(largest),
            .missing = missing};
  }

  void finish(table& out, std::deque<any_matrix>& blocks, const seen_values& seen) const {
    out.columns = choice_.columns;
    out.reading = choice_.reading;
    out.missing = seen.missing;
    if (blocks.size() == 1) {
      out.values = std::move(blocks.front());
    } else if (is_float()) {
      out.values = joined<float>(blocks, seen.rows, cols(), threads_);
    } else {
      out.values = joined_narrowest(blocks, seen, cols(), threads_);
    }
  }

  input& file_;
  std::string name_;
  int threads_;
  std::shared_ptr<arrow_file> bytes_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  parquet_choice choice_;
  std::vector<int> places_;  // of the values in a batch
  int names_place_ = -1;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  index_t all_rows_ = 0;
  index_t done_rows_ = 0;
};

}  // namespace

std::unique_ptr<row_reader> open_parquet(input& file, const read_options& options) {
  return std::make_unique<parquet_rows>(file, options);
}

}  // namespace gpu::io

#else

namespace gpu::io {

std::unique_ptr<row_reader> open_parquet(input& file, const read_options& /*options*/) {
  throw input_error(file.name(), {},
                    "is a Parquet file, expected text or .npy: " + std::string(no_parquet) +
                        ". In Python, gpu_similarity takes what pandas.read_parquet gives");
}

}  // namespace gpu::io

#endif
