# Tables of R as the compiled part reads them in place: list(values, variables, observations,
# in_columns), with `begin` and `place` where they are sparse.

check_margin <- function(margin) {
  if (length(margin) != 1 || !margin %in% 1:2) {
    refuse("margin", "expected 2 (variables in columns) or 1 (variables in rows)")
  }
  margin
}

# A data frame as a matrix; a column that does not hold plain numbers is refused by its name.
matrix_of_frame <- function(x, name) {
  for (column in seq_along(x)) {
    values <- x[[column]]
    if (is.numeric(values) && !is.object(values) || is.logical(values)) next
    refuse(name, "column ", dQuote(names(x)[column], FALSE), " is of class ",
           dQuote(class(values)[1], FALSE), ", expected numbers")
  }
  as.matrix(x)
}

is_sparse <- function(x) methods::is(x, "sparseMatrix")

# A sparse matrix whose compressed side holds the variables.
compressed <- function(x, margin) {
  wanted <- if (margin == 2) "CsparseMatrix" else "RsparseMatrix"
  if (!methods::is(x, "dMatrix")) x <- methods::as(x, "dMatrix")
  if (!methods::is(x, "generalMatrix")) x <- methods::as(x, "generalMatrix")
  if (methods::is(x, wanted)) x else methods::as(x, wanted)
}

# x as a matrix of numbers, dense or sparse, and where its variables are.
plain_matrix <- function(x, name, margin, assay = 1L) {
  if (methods::is(x, "SummarizedExperiment")) {
    if (!requireNamespace("SummarizedExperiment", quietly = TRUE)) {
      refuse(name, "the package SummarizedExperiment is needed for this class")
    }
    x <- SummarizedExperiment::assay(x, assay)
    margin <- 1
  }
  if (is.data.frame(x)) x <- matrix_of_frame(x, name)
  if (is_sparse(x)) return(list(x = x, margin = margin))
  if (methods::is(x, "Matrix") || methods::is(x, "DelayedMatrix")) x <- as.matrix(x)
  if (is.factor(x) || is.list(x) || !(is.numeric(x) || is.logical(x)) ||
      is.object(x) && !inherits(x, "cor_dense")) {
    refuse(name, "got an object of class ", dQuote(class(x)[1], FALSE), ", expected a matrix of ",
           "numbers, a data frame, a sparse matrix of Matrix or a SummarizedExperiment")
  }
  if (is.null(dim(x))) {
    x <- matrix(x, ncol = 1)
    margin <- 2
  }
  if (length(dim(x)) != 2) refuse(name, "got ", length(dim(x)), " dimensions, expected 2")
  list(x = x, margin = margin)
}

# Which observations are complete in a plain matrix.
complete_observations <- function(plain) {
  if (is_sparse(plain$x)) {
    stored <- Matrix::summary(methods::as(plain$x, "TsparseMatrix"))
    missing <- if (plain$margin == 2) stored$i[is.na(stored$x)] else stored$j[is.na(stored$x)]
    return(!seq_len(dim(plain$x)[3 - plain$margin]) %in% missing)
  }
  if (plain$margin == 2) stats::complete.cases(plain$x) else !colSums(is.na(plain$x))
}

only_observations <- function(plain, keep) {
  plain$x <- if (plain$margin == 2) plain$x[keep, , drop = FALSE] else plain$x[, keep, drop = FALSE]
  plain
}

# What the compiled part reads, and the names of the variables and of the observations.
described <- function(plain) {
  x <- plain$x
  in_columns <- plain$margin == 2
  sides <- if (in_columns) 2:1 else 1:2
  table <- list(variables = dim(x)[sides[1]], observations = dim(x)[sides[2]],
                in_columns = in_columns)
  if (is_sparse(x)) {
    x <- compressed(x, plain$margin)
    table$begin <- x@p
    table$place <- if (in_columns) x@i else x@j
    table$values <- as.double(x@x)
  } else {
    # Integers without NA are read in place; a missing one is no integer.
    if (!is.double(x) && anyNA(x)) storage.mode(x) <- "double"
    table$values <- x
  }
  list(table = table, names = dimnames(x)[[sides[1]]], observations = dimnames(x)[[sides[2]]])
}

# Observations of two tables go together in order. Where both name them and the names differ, one of
# the readings is wrong.
check_observations <- function(x, y, match) {
  if (is.null(x$observations) || is.null(y$observations) || identical(match, "position")) return()
  if (identical(x$observations, y$observations)) return()
  if (length(x$observations) != length(y$observations)) return()  # which the library refuses
  same <- setequal(x$observations, y$observations)
  refuse("y", "its observations have ", if (same) "the names of those of x in another order"
         else "other names than those of x", "; put them in the same order, or say ",
         "match = \"position\"")
}
