#include "io/write/parquet/parquet_table.hpp"

#include <utility>

#include "io/io_error.hpp"
#include "io/parquet.hpp"

#if defined(GPU_SIMILARITY_HAS_PARQUET)

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/util/compression.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <exception>
#include <new>

namespace gpu::io {
namespace {

/// An output as Arrow writes it. What goes wrong is kept: Arrow has no exceptions.
class arrow_output final : public arrow::io::OutputStream {
 public:
  explicit arrow_output(output_file& out) : out_(out) {}

  arrow::Status Write(const void* data, std::int64_t count) override {
    if (is_abandoned_) return arrow::Status::IOError("abandoned");
    try {
      out_.write({static_cast<const char*>(data), static_cast<std::size_t>(count)});
      position_ += count;
      return arrow::Status::OK();
    } catch (...) {
      failure_ = std::current_exception();
      is_abandoned_ = true;
      return arrow::Status::IOError("cannot be written");
    }
  }
  arrow::Result<std::int64_t> Tell() const override { return position_; }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

  /// Nothing more reaches the output.
  void abandon() noexcept { is_abandoned_ = true; }
  /// @throw what writing threw
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  [[nodiscard]] const std::string& name() const { return out_.name(); }

 private:
  output_file& out_;
  std::int64_t position_ = 0;
  std::exception_ptr failure_;
  bool is_abandoned_ = false;
};

std::shared_ptr<parquet::schema::GroupNode> schema_of(const std::vector<parquet_field>& fields) {
  using parquet::LogicalType;
  parquet::schema::NodeVector nodes;
  for (const parquet_field& field : fields) {
    std::shared_ptr<const LogicalType> meaning = LogicalType::None();
    parquet::Type::type stored = parquet::Type::DOUBLE;
    if (field.type == parquet_type::text) {
      meaning = LogicalType::String();
      stored = parquet::Type::BYTE_ARRAY;
    } else if (field.type == parquet_type::count) {
      meaning = LogicalType::Int(32, false);
      stored = parquet::Type::INT32;
    }
    nodes.push_back(parquet::schema::PrimitiveNode::Make(field.name, parquet::Repetition::REQUIRED,
                                                         meaning, stored));
  }
  return std::static_pointer_cast<parquet::schema::GroupNode>(
      parquet::schema::GroupNode::Make("schema", parquet::Repetition::REQUIRED, nodes));
}

std::shared_ptr<parquet::WriterProperties> properties() {
  parquet::WriterProperties::Builder builder;
  builder.memory_pool(arrow::system_memory_pool());
  builder.enable_page_checksum();
  if (arrow::util::Codec::IsAvailable(arrow::Compression::SNAPPY)) {
    builder.compression(arrow::Compression::SNAPPY);
  }
  return builder.build();
}

}  // namespace

class parquet_table::state {
 public:
  state(output_file& out, std::vector<parquet_field> fields)
      : out_(std::make_shared<arrow_output>(out)), fields_(std::move(fields)) {}
  // The writer's own destructor completes the file.
  ~state() {
    if (!is_finished_) out_->abandon();
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  void write(std::size_t rows, std::span<const parquet_values> columns) {
    guarded([&] {
      begin();
      parquet::RowGroupWriter* const group = writer_->AppendRowGroup();
      for (const parquet_values& values : columns) {
        parquet::ColumnWriter* const column = group->NextColumn();
        std::visit([&](const auto& given) { put(*column, rows, given); }, values);
        column->Close();
      }
      group->Close();
    });
  }

  void finish() {
    guarded([&] {
      begin();
      writer_->Close();
    });
    is_finished_ = true;
  }

 private:
  /// Once, and not before there is a result: what fails first then leaves nothing in a pipe.
  void begin() {
    if (!writer_)
      writer_ = parquet::ParquetFileWriter::Open(out_, schema_of(fields_), properties());
  }

  void put(parquet::ColumnWriter& column, std::size_t rows,
           std::span<const std::string_view> values) {
    texts_.clear();
    for (const std::string_view text : values) {
      texts_.emplace_back(static_cast<std::uint32_t>(text.size()),
                          reinterpret_cast<const std::uint8_t*>(text.data()));
    }
    static_cast<parquet::ByteArrayWriter&>(column).WriteBatch(static_cast<std::int64_t>(rows),
                                                              nullptr, nullptr, texts_.data());
  }
  static void put(parquet::ColumnWriter& column, std::size_t rows, std::span<const double> values) {
    static_cast<parquet::DoubleWriter&>(column).WriteBatch(static_cast<std::int64_t>(rows), nullptr,
                                                           nullptr, values.data());
  }
  static void put(parquet::ColumnWriter& column, std::size_t rows,
                  std::span<const std::uint32_t> values) {
    static_cast<parquet::Int32Writer&>(column).WriteBatch(
        static_cast<std::int64_t>(rows), nullptr, nullptr,
        reinterpret_cast<const std::int32_t*>(values.data()));
  }

  template <class Work>
  void guarded(const Work& work) const {
    try {
      work();
    } catch (const parquet::ParquetStatusException& error) {
      out_->rethrow_failure();
      if (error.status().IsOutOfMemory()) throw std::bad_alloc();
      throw output_error(out_->name(),
                         std::string("cannot be written as Parquet: ") + error.what());
    } catch (const parquet::ParquetException& error) {
      out_->rethrow_failure();
      throw output_error(out_->name(),
                         std::string("cannot be written as Parquet: ") + error.what());
    }
  }

  std::shared_ptr<arrow_output> out_;
  std::vector<parquet_field> fields_;
  std::vector<parquet::ByteArray> texts_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
  bool is_finished_ = false;
};

parquet_table::parquet_table(output_file& out, std::vector<parquet_field> fields)
    : state_(std::make_unique<state>(out, std::move(fields))) {}
parquet_table::~parquet_table() = default;

void parquet_table::write(std::size_t rows, std::span<const parquet_values> columns) {
  state_->write(rows, columns);
}

void parquet_table::finish() {
  state_->finish();
}

}  // namespace gpu::io

#else

namespace gpu::io {

class parquet_table::state {};

parquet_table::parquet_table(output_file& out, std::vector<parquet_field> /*fields*/) {
  throw output_error(out.name(), std::string(no_parquet));
}
parquet_table::~parquet_table() = default;
void parquet_table::write(std::size_t /*rows*/, std::span<const parquet_values> /*columns*/) {}
void parquet_table::finish() {}

}  // namespace gpu::io

#endif
