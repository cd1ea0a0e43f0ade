#include "io/write/parquet/parquet_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/p_value.hpp>

#include "io/write/parquet/parquet_table.hpp"

namespace gpu::io {
namespace {

/// The names of one side of pairs, made where the file gives none.
class side_names {
 public:
  side_names(const row_names& given, index_t rows, char letter) : given_(given) {
    if (given.given()) return;
    made_.reserve(static_cast<std::size_t>(rows));
    for (index_t i = 0; i < rows; ++i) made_.push_back(given.name(i, letter));
  }
  [[nodiscard]] std::string_view operator[](index_t i) const {
    return given_.given() ? given_[i] : std::string_view(made_[static_cast<std::size_t>(i)]);
  }

 private:
  const row_names& given_;
  std::vector<std::string> made_;
};

side_names names_of_rows(const result_context& context) {
  return {context.names, context.rows, 'X'};
}

side_names names_of_cols(const result_context& context) {
  if (context.against == nullptr) return names_of_rows(context);
  return {*context.against, context.against_rows, 'Y'};
}

/// A pair as it stands in a table of edges or partners.
struct pair_row {
  index_t row;
  index_t col;
  double statistic;
  double p;
};

/// The columns of pairs, collected for a row group.
class pair_columns {
 public:
  explicit pair_columns(const result_context& context)
      : context_(context),
        rows_(names_of_rows(context)),
        cols_(names_of_cols(context)),
        test_(context.info().test) {}

  static std::vector<parquet_field> fields(const result_context& context, bool has_ranks,
                                           bool has_q) {
    std::vector<parquet_field> fields{{"name_i", parquet_type::text}};
    if (has_ranks) fields.push_back({"rank", parquet_type::count});
    fields.push_back({"name_j", parquet_type::text});
    fields.push_back({std::string(context.info().symbol)});
    const significance test = context.info().test;
    if (test == significance::student_t) fields.push_back({"t"});
    if (test != significance::none) fields.push_back({"p"});
    if (context.has_n) fields.push_back({"n", parquet_type::count});
    if (context.has_intervals()) {
      fields.push_back({"lower"});
      fields.push_back({"upper"});
    }
    if (has_q) fields.push_back({"q"});
    return fields;
  }

  void clear() {
    names_i_.clear();
    names_j_.clear();
    statistics_.clear();
    t_.clear();
    p_.clear();
    n_.clear();
    lower_.clear();
    upper_.clear();
    ranks_.clear();
  }

  void add(const pair_row& pair) {
    names_i_.push_back(rows_[pair.row]);
    names_j_.push_back(cols_[pair.col]);
    statistics_.push_back(pair.statistic);
    if (context_.has_n) {
      n_.push_back(static_cast<std::uint32_t>(context_.observations_of(pair.row, pair.col)));
    }
    if (context_.has_intervals()) {
      const auto [lower, upper] = context_.interval_of(pair.statistic, pair.row, pair.col);
      lower_.push_back(lower);
      upper_.push_back(upper);
    }
    if (test_ == significance::student_t) {
      t_.push_back(correlation_t(pair.statistic, context_.observations_of(pair.row, pair.col)));
    }
    if (test_ != significance::none) p_.push_back(pair.p);
  }
  void add_rank(std::uint32_t rank) { ranks_.push_back(rank); }

  [[nodiscard]] std::size_t size() const { return statistics_.size(); }

  /// @param q of these pairs; empty: the table has no q.
  void write(parquet_table& table, std::span<const double> q = {}) const {
    std::vector<parquet_values> values{std::span<const std::string_view>(names_i_)};
    if (!ranks_.empty()) values.emplace_back(std::span<const std::uint32_t>(ranks_));
    values.emplace_back(std::span<const std::string_view>(names_j_));
    values.emplace_back(std::span<const double>(statistics_));
    if (test_ == significance::student_t) values.emplace_back(std::span<const double>(t_));
    if (test_ != significance::none) values.emplace_back(std::span<const double>(p_));
    if (context_.has_n) values.emplace_back(std::span<const std::uint32_t>(n_));
    if (context_.has_intervals()) {
      values.emplace_back(std::span<const double>(lower_));
      values.emplace_back(std::span<const double>(upper_));
    }
    if (!q.empty()) values.emplace_back(q);
    table.write(size(), values);
  }

 private:
  const result_context& context_;
  side_names rows_;
  side_names cols_;
  significance test_;
  std::vector<std::string_view> names_i_;
  std::vector<std::string_view> names_j_;
  std::vector<double> statistics_;
  std::vector<double> t_;
  std::vector<double> p_;
  std::vector<std::uint32_t> n_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<std::uint32_t> ranks_;
};

pair_row pair_of(const edge& e) {
  return {index_t{e.row}, index_t{e.col}, e.statistic, e.p};
}

class parquet_edge_writer final : public edge_writer {
 public:
  parquet_edge_writer(output_file& out, const result_context& context)
      : out_(out), columns_(context), table_(out, pair_columns::fields(context, false, false)) {}

  void write(std::span<const edge> edges) override {
    while (!edges.empty()) {
      const std::size_t taken = std::min(edges.size(), parquet_group_edges - filling_.size());
      filling_.insert(filling_.end(), edges.begin(),
                      edges.begin() + static_cast<std::ptrdiff_t>(taken));
      edges = edges.subspan(taken);
      if (filling_.size() == parquet_group_edges) hand_over();
    }
  }

  void finish() override {
    if (!filling_.empty()) hand_over();
    wait();
    table_.finish();
    whole_edges_ = given_edges_;
  }

  /// Without its index, nothing of the file can be read.
  [[nodiscard]] written_edges written() noexcept override {
    if (under_way_.valid()) under_way_.wait();
    return {whole_edges_, out_.bytes_written()};
  }

 private:
  void hand_over() {
    wait();
    writing_.swap(filling_);
    filling_.clear();
    given_edges_ += writing_.size();
    under_way_ = std::async(std::launch::async, [this] {
      columns_.clear();
      for (const edge& e : writing_) columns_.add(pair_of(e));
      columns_.write(table_);
    });
  }

  void wait() {
    if (failure_) std::rethrow_exception(failure_);
    if (!under_way_.valid()) return;
    try {
      under_way_.get();
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }

  output_file& out_;
  pair_columns columns_;
  parquet_table table_;
  std::vector<edge> filling_;
  std::vector<edge> writing_;
  std::uint64_t given_edges_ = 0;
  std::uint64_t whole_edges_ = 0;
  std::exception_ptr failure_;
  std::future<void> under_way_;  // last: its destructor waits for a thread that uses the others
};

}  // namespace

std::unique_ptr<edge_writer> make_parquet_edge_writer(output_file& out,
                                                      const result_context& context) {
  return std::make_unique<parquet_edge_writer>(out, context);
}

void write_parquet_adjusted_edges(output_file& out, std::span<const edge> edges,
                                  std::span<const double> q, const result_context& context) {
  parquet_table table(out, pair_columns::fields(context, false, true));
  pair_columns columns(context);
  for (std::size_t first = 0; first < edges.size(); first += parquet_group_edges) {
    const std::size_t count = std::min(parquet_group_edges, edges.size() - first);
    columns.clear();
    for (const edge& e : edges.subspan(first, count)) columns.add(pair_of(e));
    columns.write(table, q.subspan(first, count));
  }
  table.finish();
}

void write_parquet_neighbors(output_file& out, const neighbor_table& result,
                             const result_context& context) {
  const bool has_q = result.q.cols() > 0;
  parquet_table table(out, pair_columns::fields(context, true, has_q));
  pair_columns columns(context);
  std::vector<double> q;
  partner_p p(result, context);
  const auto rows = static_cast<index_t>(result.count.size());
  for (index_t i = 0; i < rows; ++i) {
    const index_t row = context.first_row + i;
    for (node_id k = 0; k < result.count[static_cast<std::size_t>(i)]; ++k) {
      const double statistic = result.statistic(i, index_t{k});
      const index_t col{result.index(i, index_t{k})};
      columns.add({row, col, statistic, p.next(statistic, row, col)});
      columns.add_rank(k + 1);
      if (has_q) q.push_back(result.q(i, index_t{k}));
    }
    if (columns.size() == 0 || (columns.size() < parquet_group_edges && i + 1 < rows)) continue;
    columns.write(table, q);
    columns.clear();
    q.clear();
  }
  table.finish();
}

void write_parquet_counts(output_file& out, const pair_counts& result,
                          const result_context& context) {
  const bool has_y = context.against != nullptr;
  std::vector<parquet_field> fields{{"name", parquet_type::text}, {"degree", parquet_type::count}};
  if (has_y) fields.insert(fields.begin(), {"table", parquet_type::text});
  parquet_table table(out, std::move(fields));
  const auto write = [&](std::string_view letter, const side_names& names,
                         std::span<const std::uint32_t> degrees) {
    std::vector<std::string_view> texts;
    for (index_t i = 0; i < std::ssize(degrees); ++i) texts.push_back(names[i]);
    const std::vector<std::string_view> letters(texts.size(), letter);
    std::vector<parquet_values> values;
    if (has_y) values.emplace_back(std::span<const std::string_view>(letters));
    values.emplace_back(std::span<const std::string_view>(texts));
    values.emplace_back(degrees);
    table.write(texts.size(), values);
  };
  write("x", names_of_rows(context), result.degree);
  if (has_y) write("y", names_of_cols(context), result.y_degree);
  table.finish();
}

namespace {

template <class T>
void write_matrix(output_file& out, const matrix<T>& result, parquet_type type,
                  const result_context& context) {
  constexpr std::size_t group_values = std::size_t{1} << 23;
  std::vector<parquet_field> fields{{"name", parquet_type::text}};
  for (index_t j = 0; j < context.cols(); ++j) fields.push_back({context.col_name(j), type});
  parquet_table table(out, std::move(fields));
  const side_names names = names_of_rows(context);
  const index_t cols = result.cols();
  const index_t group_rows =
      std::max<index_t>(1, static_cast<index_t>(group_values) / std::max<index_t>(cols, 1));
  std::vector<T> columns;
  std::vector<std::string_view> texts;
  for (index_t first = 0; first < result.rows(); first += group_rows) {
    const index_t rows = std::min(group_rows, result.rows() - first);
    columns.resize(static_cast<std::size_t>(rows * cols));
    texts.clear();
    for (index_t i = 0; i < rows; ++i) {
      texts.push_back(names[context.first_row + first + i]);
      const std::span<const T> row = result.row(first + i);
      for (index_t j = 0; j < cols; ++j) {
        columns[static_cast<std::size_t>(j * rows + i)] = row[static_cast<std::size_t>(j)];
      }
    }
    std::vector<parquet_values> values{std::span<const std::string_view>(texts)};
    for (index_t j = 0; j < cols; ++j) {
      values.emplace_back(std::span<const T>(columns).subspan(static_cast<std::size_t>(j * rows),
                                                              static_cast<std::size_t>(rows)));
    }
    table.write(static_cast<std::size_t>(rows), values);
  }
  table.finish();
}

}  // namespace

void write_parquet_dense(output_file& out, const matrix<double>& result,
                         const result_context& context) {
  write_matrix(out, result, parquet_type::number, context);
}

void write_parquet_observations(output_file& out, const matrix<node_id>& result,
                                const result_context& context) {
  write_matrix(out, result, parquet_type::count, context);
}

}  // namespace gpu::io
