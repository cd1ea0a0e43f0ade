#pragma once
// A run that reports what it did, also where it ends early.

#include <utility>

#include <gpu/error.hpp>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/stopwatch.hpp"
#include "io/stop_request.hpp"

namespace gpu::cli {

/// `Report` is run_report or row_report.
template <class Report>
class reported_run {
 public:
  /// @param first what is known of the run before it begins. `outputs` outlives the object.
  reported_run(run_outputs& outputs, Report first)
      : report(first), outputs_(outputs), first_(std::move(first)) {}

  Report report;  ///< The work fills it.

  /// work(), whose end by a signal or by a pipe that is closed is reported.
  template <class Work>
  void run(const Work& work) {
    try {
      work();
    } catch (const cancelled&) {
      end_interrupted();
    } catch (const io::interrupted&) {
      end_interrupted();
    } catch (const interrupted_run&) {
      if (!is_complete_) write_unfinished(run_status::interrupted, report);
      throw;
    } catch (const io::closed_pipe&) {
      write_unfinished(run_status::output_closed, report);
      throw;
    }
  }

  /// The result is written: writes the report.
  void complete() {
    is_complete_ = true;
    report.total_seconds = total_.seconds();
    write_report(outputs_.report(), to_json(report));
  }

  [[nodiscard]] double seconds() const { return total_.seconds(); }

  /// From another thread, while the work goes on: `report` is not to be touched.
  void abandon() {
    complain(abandoned_text(outputs_.result().target()));
    write_unfinished(run_status::interrupted, first_);
  }

 private:
  [[noreturn]] void end_interrupted() {
    write_unfinished(run_status::interrupted, report);
    const io::output_file& out = outputs_.result();
    throw interrupted_run(out.bytes_written() == 0 ? "interrupted: nothing is written"
                                                   : abandoned_text(out.target()));
  }

  void write_unfinished(run_status status, Report& unfinished) {
    unfinished.status = status;
    unfinished.total_seconds = total_.seconds();
    write_unfinished_report(outputs_.report(), to_json(unfinished));
  }

  run_outputs& outputs_;
  Report first_;
  const stopwatch total_;
  bool is_complete_ = false;
};

}  // namespace gpu::cli
