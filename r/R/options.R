# Options: the arguments of a function and of its `...` go to the compiled part as one named list,
# where each is read by name. What nobody reads is refused there.

uses <- c("all.obs", "complete.obs", "pairwise.complete.obs", "everything", "na.or.complete")

use_of <- function(use) {
  found <- if (is.character(use) && length(use) == 1) pmatch(use, uses)
  if (!isTRUE(found > 0)) refuse("use", "expected one of ", paste(dQuote(uses, FALSE), collapse = ", "))
  uses[found]
}

# The arguments of the calling function but `without`, those of its `...` too.
arguments <- function(without = c("x", "y")) {
  frame <- parent.frame()
  own <- setdiff(names(formals(sys.function(sys.parent()))), c(without, "..."))
  options <- c(mget(own, frame), eval(quote(list(...)), frame))
  twice <- names(options)[duplicated(names(options)) & nzchar(names(options))]
  if (length(twice)) refuse(twice[1], "given twice")
  options
}

# TRUE is a bar on the standard error.
progress_of <- function(progress) {
  if (is.null(progress) || isFALSE(progress)) return(NULL)
  if (is.function(progress)) return(progress)
  if (!isTRUE(progress)) refuse("progress", "expected TRUE, FALSE or function(stage, done, total)")
  bar <- NULL
  of_stage <- ""
  function(stage, done, total) {
    if (stage != of_stage && !is.null(bar)) close(bar)
    if (stage != of_stage) bar <<- utils::txtProgressBar(0, max(total, 1), style = 3, file = stderr())
    of_stage <<- stage
    utils::setTxtProgressBar(bar, done)
    if (done >= total) {
      close(bar)
      bar <<- NULL
      of_stage <<- ""
    }
    TRUE
  }
}

numbers_of <- function(value, name) {
  if (!(is.numeric(value) || is.logical(value)) || is.object(value)) {
    refuse(name, "expected numbers")
  }
  as.double(value)
}

# The tables and options of a call over all pairs.
pair_call <- function(x, y, options) {
  margin <- check_margin(if (is.null(options$margin)) 2 else options$margin)
  assay <- if (is.null(options$assay)) 1L else options$assay
  use <- use_of(if (is.null(options$use)) "all.obs" else options$use)
  of_x <- plain_matrix(x, "x", margin, assay)
  of_y <- if (!is.null(y)) plain_matrix(y, "y", margin, assay)
  covariates <- options$covariates
  if (!is.null(covariates)) covariates <- plain_matrix(covariates, "covariates", 2)$x
  weights <- if (!is.null(options$weights)) numbers_of(options$weights, "weights")
  if (use %in% c("complete.obs", "na.or.complete")) {
    keep <- complete_observations(of_x)
    if (!is.null(of_y)) {
      of_keep <- complete_observations(of_y)
      if (length(of_keep) != length(keep)) {
        refuse("y", "got ", length(of_keep), " observations, expected ", length(keep), " as in x")
      }
      keep <- keep & of_keep
    }
    if (!any(keep) && use == "complete.obs") refuse("use", "no observation is complete in all variables")
    of_x <- only_observations(of_x, keep)
    if (!is.null(of_y)) of_y <- only_observations(of_y, keep)
    if (!is.null(covariates)) covariates <- covariates[keep, , drop = FALSE]
    if (!is.null(weights)) weights <- weights[keep]
    use <- "all.obs"
  }
  of_x <- described(of_x)
  if (!is.null(of_y)) {
    of_y <- described(of_y)
    check_observations(of_x, of_y, options$match)
  }
  options[c("margin", "assay", "match")] <- NULL
  options$use <- use
  options$progress <- progress_of(options$progress)
  if (!is.null(covariates)) {
    options$covariates <- as.matrix(covariates)
    storage.mode(options$covariates) <- "double"
  }
  if (!is.null(weights)) options$weights <- weights
  list(x = of_x$table, y = of_y$table, options = options, names = of_x$names,
       y_names = of_y$names, has_y = !is.null(of_y))
}

# One table of an operation on each variable.
row_call <- function(x, options) {
  plain <- plain_matrix(x, "x", check_margin(options$margin))
  options$margin <- NULL
  options$progress <- progress_of(options$progress)
  described <- described(plain)
  list(x = described$table, options = options, names = described$names,
       observations = described$observations, is_vector = is.null(dim(x)), margin = plain$margin)
}

symbol_of <- function(method) {
  if (method %in% c("tanimoto", "dice", "tversky")) return(method)
  measures$symbol[match(method, measures$name)]
}

measures <- NULL
.onLoad <- function(libname, pkgname) {
  measures <<- .Call(C_measures)
}
