#pragma once
// One run over the rows of a file, one block of rows after the other, so that the file may be
// larger than memory.

#include <gpu/execution.hpp>

#include "cli/options/options.hpp"
#include "io/read/row_reader.hpp"
#include "io/table.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {

/// What is done with the rows. One call after the other; what one throws ends the run.
class row_operation {
 public:
  virtual ~row_operation() = default;
  /// "rank", ... for the line of progress.
  [[nodiscard]] virtual const char* stage() const = 0;
  [[nodiscard]] virtual const execution& exec() const = 0;
  /// Whether it takes all rows as one block: those of a vector, mostly.
  [[nodiscard]] virtual bool needs_all(const io::row_reader& source) const = 0;
  /// The shape is known. Both outlive the operation's use; nothing may be written yet.
  virtual void begin(const io::row_reader& source, io::output_file& out) = 0;
  /// Takes the next rows, and keeps what follows from them.
  virtual void compute(const io::table& block) = 0;
  /// Writes what the last compute() kept.
  virtual void write(const io::table& block) = 0;
  /// All rows were taken: completes the output.
  virtual void finish() = 0;
};

/// Reads, computes, writes, reports.
/// @throw whatever goes wrong, for main()
void run_rows(const job_files& job, row_operation& operation);

}  // namespace gpu::cli
