# Errors as conditions: each has the classes "gpusimilarity_<kind>" and "gpusimilarity_error".

fail <- function(kind, message, ..., call = NULL) {
  classes <- c(paste0("gpusimilarity_", kind), "gpusimilarity_error", "error", "condition")
  stop(structure(class = classes, list(message = message, call = call, ...)))
}

refuse <- function(argument, ...) fail("invalid_argument", paste0(argument, ": ", ...))

# The names that this package has for what the library speaks of.
in_r <- function(message) {
  words <- c(
    "^data(?=: )" = "x",
    "^(x|y): the table has" = "\\1: got",
    "\\bspearman_all_pairs\\b|\\b([a-z]+)_all_pairs\\b" = "method = \"\\1\"",
    "\\b(?:[a-z_]*options|execution|pair_filter|[a-z_]*sink)\\.(?:[a-z_]+\\.)*(?=[a-z_])" = "",
    "\\bcolumn_weights\\b" = "weights",
    "\\bhistogram_bins\\b" = "bins",
    "\\bside\\b(?=:)" = "alternative",
    "\\btarget\\b(?=:)" = "backend",
    "\\bnans\\b(?=:)" = "use",
    "\\bnan_policy::reject\\b" = "use = \"all.obs\"",
    "\\bnan_policy::propagate\\b" = "use = \"everything\"",
    "\\bnan_policy::pairwise\\b" = "use = \"pairwise.complete.obs\"",
    "\\badjustment::benjamini_hochberg\\b" = "adjust = \"BH\"",
    "\\badjustment::([a-z_]+)" = "adjust = \"\\1\"",
    "\\bp_method::([a-z_]+)" = "p_method = \"\\1\"",
    "\\brow_folding::([a-z_]+)" = "fold = \"\\1\"",
    "\\bgpu::" = "",
    "^measure(?=:)" = "method",
    "^statistics(?=:)" = "statistic",
    "^groups\\.(first|second)(?=:)" = "group",
    "\\bbenjamini_hochberg\\b" = "BH")
  for (pattern in names(words)) message <- gsub(pattern, words[[pattern]], message, perl = TRUE)
  if (startsWith(message, "use: ")) {
    policies <- c(reject = uses[1], propagate = uses[4], pairwise = uses[3])
    for (policy in names(policies)) {
      message <- gsub(paste0("\\b", policy, "\\b(?!\\.)"), policies[[policy]], message, perl = TRUE)
    }
  }
  if (startsWith(message, "adjust: BH is not offered with part")) {
    message <- paste0(message, "; part_cut() gives max_p for the parts")
  }
  # Rows of the library are variables of R, columns are observations, and R counts from 1.
  numbered <- gregexpr("\\b(row|column) [0-9]+|(?<=^powers\\[)[0-9]+", message, perl = TRUE)
  regmatches(message, numbered) <- lapply(regmatches(message, numbered), function(found) {
    vapply(found, function(one) sub("[0-9]+", as.numeric(sub("\\D*", "", one)) + 1, one), "")
  })
  message <- gsub("(?<![-\\w])row(s?)\\b", "variable\\1", message, perl = TRUE)
  gsub("(?<![-\\w])column(s?)\\b", "observation\\1", message, perl = TRUE)
}

# What the library answered, or its failure as a condition that speaks of the variables of `call`.
answer_of <- function(value, call = NULL) {
  if (!inherits(value, "gpusimilarity_failure")) return(value)
  message <- value$message
  nan <- regmatches(message, regexec(
    "^(data|x|y): got NaN at row ([0-9]+), column ([0-9]+)(?: .([0-9]+) rows? with NaN.)?",
    message, perl = TRUE))[[1]]
  if (length(nan)) {
    at <- as.numeric(nan[3]) + 1
    names <- if (nan[2] == "y") call$y_names else call$names
    message <- paste0(
      if (nan[2] == "y") "y" else "x", ": missing value in variable ",
      if (is.null(names)) at else dQuote(names[at], FALSE), ", observation ", as.numeric(nan[4]) + 1,
      if (nzchar(nan[5])) paste0(" (", nan[5], if (nan[5] == "1") " variable has any)" else " variables have any)"),
      "; use = \"pairwise.complete.obs\" leaves missing values out pair by pair, ",
      "use = \"everything\" gives such variables no result")
  } else {
    message <- in_r(message)
  }
  fail(value$kind, message, needed = value$value)
}
