#pragma once
// Which columns of a Parquet file are values, and which names the rows.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "io/table.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

/// What can be done with the type of a column.
enum class parquet_kind { integer, single_precision, double_precision, text, other };

/// A column as the file describes it.
struct parquet_column {
  std::string name;
  std::string type;  ///< As messages say it: "int64", "decimal128(5, 2)".
  parquet_kind kind = parquet_kind::other;
};

/// What is read of a file.
struct parquet_choice {
  index_t names = -1;           ///< The column of the names of the rows; -1: there is none.
  std::vector<index_t> values;  ///< The columns of values, in the order of the file.
  column_names columns;
  table_reading reading;
  /// What holds every value: integers, float or double.
  parquet_kind element = parquet_kind::integer;
};

/// The columns that are read. Names come from the column that options.names_column says, else from
/// pandas' index where it is text, else from the first column of text, else from an index of
/// numbers. Other columns have to be numbers; those of an index that are not needed are left out.
/// @param pandas the value of the file's key of this name; "" where it has none.
/// @throw input_error that names the column and its type, where one is no column of numbers or
///   names, or where an option does not fit a Parquet file
[[nodiscard]] parquet_choice choose_parquet_columns(const std::vector<parquet_column>& columns,
                                                    std::string_view pandas,
                                                    const text_options& options,
                                                    const std::string& file);

}  // namespace gpu::io
