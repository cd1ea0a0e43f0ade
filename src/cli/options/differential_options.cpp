// Options of differential.
#include "cli/options/option_groups.hpp"

namespace gpu::cli {

void add_differential(CLI::App& app, differential_command& c) {
  add_input(app, c);
  app.add_option("--groups", c.groups,
                 "The group of each column of numbers: labels with commas between them, or a file "
                 "with a line for each column, its label or its name and label; two labels, and - "
                 "for columns in neither. The first one that is there is the first group")
      ->required()
      ->type_name("FILE|LIST")
      ->group("Input");
  add_choice<nan_policy>(app, "--nan", c.pairs.nans,
                         {{"reject", nan_policy::reject}, {"propagate", nan_policy::propagate}},
                         "What a missing value does: end the run, or leave its row out [reject]")
      ->group("Input");
  add_choice<measure>(app, "--measure", c.what,
                      {{"pearson", measure::pearson}, {"spearman", measure::spearman}},
                      "Which correlation [pearson]")
      ->group("Which pairs");
  app.add_option("--max-p", c.filter.max_p, "Keep pairs with p <= P, after --adjust [1]")
      ->type_name("P")
      ->check(number_in("a number above 0, up to 1", [](double p) { return p > 0 && p <= 1; }))
      ->group("Which pairs");
  app.add_option("--min-abs-z", c.filter.min_abs_z,
                 "Keep pairs with |z| >= Z; with --tail greater z, with less -z [0]")
      ->type_name("Z")
      ->check(number_in("a number from 0", [](double z) { return z >= 0; }))
      ->group("Which pairs");
  add_choice<tail>(
      app, "--tail", c.filter.side,
      {{"two-sided", tail::two_sided}, {"greater", tail::greater}, {"less", tail::less}},
      "Alternative hypothesis: greater is a larger correlation in the first group [two-sided]")
      ->group("Which pairs");
  add_choice<adjustment>(
      app, "--adjust", c.filter.adjust,
      {{"none", adjustment::none},
       {"bonferroni", adjustment::bonferroni},
       {"bh", adjustment::benjamini_hochberg}},
      {{"bonf", "bonferroni"}, {"fdr", "bh"}},
      "Correction of --max-p for the number of pairs; adds the column q (with bh not beside "
      "--min-abs-z) [none]")
      ->group("Which pairs");
  add_output(app, c);
  add_report(app, c, "Also write input, shape and times as JSON");
  add_size_limit(app, c);
  add_backend(app, c.pairs.exec);
  app.add_flag("-q,--quiet", c.quiet, "No progress and no summary")->group("Execution");
}

}  // namespace gpu::cli
