// gpu-similarity mean-filter: from the command line to the output.
#include <type_traits>
#include <utility>
#include <variant>

#include <gpu/error.hpp>

#include "cli/outputs/outputs.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/verbs/jobs.hpp"
#include "io/read/read_table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"

namespace gpu::cli {
namespace {

/// float stays float; integers have real means.
template <class T>
using mean_type = std::conditional_t<std::is_same_v<T, float>, float, double>;

template <class T>
void filter_and_write(const mean_filter_command& job, const io::table& table,
                      const matrix<T>& values, io::output_file& out, abandonable_phase& phase) {
  matrix_view<const T> in = values.view();
  // One number a line is a vector, to be filtered along its length.
  const bool is_column = in.cols() == 1 && !table.names.given();
  if (is_column) in = {in.data(), 1, in.rows()};
  const mean_filter_options& options = job.filter;
  matrix<mean_type<T>> means(in.rows(), filtered_size(in.cols(), options.window, options.boundary));
  try {
    mean_filter(in, means.view(), options);
  } catch (const invalid_argument& error) {
    throw usage_error(error.what());  // of the options: any matrix of numbers can be filtered
  }
  if (is_interrupted()) throw interrupted_run("interrupted: nothing is written");
  const matrix_view<const mean_type<T>> result =
      is_column ? matrix_view<const mean_type<T>>(means.data(), means.cols(), 1)
                : std::as_const(means).view();
  try {
    io::write_rows(job.format, out, result, table.names);
    out.sync();
  } catch (const io::interrupted&) {
    throw interrupted_run(abandoned_text(out.target()));
  }
  phase.end();
  if (is_interrupted() && out.can_replace()) {
    throw interrupted_run("interrupted: nothing is written");
  }
  out.commit();
}

}  // namespace

void run_mean_filter(const mean_filter_command& job) {
  check_execution(job.filter.exec);
  io::output_file out(resolve_single_output(job.output, job.input), {.stop = is_interrupted});
  progress_line line(job.quiet || out.target().is_terminal);
  abandonable_phase phase([&] { complain(abandoned_text(out.target())); });
  line.show("reading " + job.input);
  const io::table table = io::read_table(job.input, {.header = job.header,
                                                     .row_names = job.row_names,
                                                     .threads = job.filter.exec.cpu_threads,
                                                     .stop = is_interrupted,
                                                     .max_bytes = job.max_input_bytes});
  line.show("filtering");
  std::visit([&](const auto& values) { filter_and_write(job, table, values, out, phase); },
             table.values);
}

}  // namespace gpu::cli
