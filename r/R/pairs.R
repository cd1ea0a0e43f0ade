# What a result of all pairs has in common.
pair_result <- function(class, found, call) {
  found$names <- call$names
  found$y_names <- call$y_names
  for (option in c("method", "alternative", "adjust", "use")) found[[option]] <- call$options[[option]]
  structure(found, class = class)
}

# The most edges that vectors of a data frame can hold.
most_edges <- function() getOption("gpusimilarity.most_edges", .Machine$integer.max)

# `run` with a list of edges that ends in time, and says what to do about it.
with_most_edges <- function(max_edges, run) {
  most <- most_edges()
  tryCatch(run(min(max_edges, most)), gpusimilarity_capacity_exceeded = function(error) {
    if (max_edges <= most) stop(error)
    fail("capacity_exceeded", paste0(
      format(error$needed, big.mark = ","), " edges: a list of R holds at most ",
      format(most, big.mark = ","), "; use cor_stream(), which gives them in batches or writes a ",
      "file, or a smaller max_p"), needed = error$needed)
  })
}

#' Pairs of variables that are correlated
#'
#' Which pairs of variables move together, among all of them, and significantly? Every pair is decided
#' exactly, and the matrix of all correlations is not made.
#'
#' A list of R holds 2^31 - 1 edges, which is 48 GiB. Where more pass, the error of class
#' `gpusimilarity_capacity_exceeded` says so: use [cor_stream()], or a smaller `max_p`.
#'
#' @param x observations x variables: a matrix (double, integer, logical), a data frame or tibble, a
#'   sparse matrix of Matrix, or a SummarizedExperiment or SingleCellExperiment, whose features are the
#'   variables. Double and integer matrices are read in place, sparse ones are never dense as a whole.
#'   `NA` and `NaN` are missing values. A vector is one variable.
#' @param y a second table of the same observations, for the pairs of a variable of x and one of y.
#' @param method "spearman", "pearson", "kendall", "bicor" (biweight midcorrelation) or "cosine".
#' @param max_p keep pairs with p <= `max_p`, after `adjust`.
#' @param min_abs keep pairs whose statistic is at least this large, from 0 to 1: its magnitude, or in
#'   the direction of `alternative`.
#' @param alternative "two.sided", "greater" or "less".
#' @param adjust correction of `max_p` for the number of pairs: "none", "bonferroni", or "BH" (false
#'   discovery rate).
#' @param covariates observations x covariates, numbers: the partial correlation given them
#'   ("spearman" and "pearson").
#' @param weights how much each observation counts ("pearson" and "cosine"). There is no p then, unless
#'   `effective_observations` is given.
#' @param use what a missing value does: "all.obs" stops, "complete.obs" leaves the observation out,
#'   "pairwise.complete.obs" takes for each pair the observations that both variables have,
#'   "everything" gives the variable no result.
#' @param margin 2: variables are columns; 1: variables are rows, as genes in Bioconductor.
#' @param max_edges the most edges to hold; more is an error of class
#'   `gpusimilarity_capacity_exceeded`, whose member `needed` is their number.
#' @param order "by-row-then-column", or "unspecified", which saves memory and time.
#' @param ... see [options].
#' @return An object of class `cor_edges`: a list with `row` and `col` (variables, from 1), `statistic`
#'   and `p`, the `names` of the variables, and the `summary` of the run. It has methods of `print`,
#'   `summary`, `plot`, `as.data.frame` and [as_igraph()], and `as(x, "dgCMatrix")`: see [results].
#' @examples
#' x <- as.matrix(mtcars)
#' edges <- cor_edges(x, max_p = 0.05, adjust = "bonferroni")
#' edges
#' head(as.data.frame(edges, confidence = 0.95))
#' cor_edges(x[, 1:3], x[, 4:6], method = "kendall", max_p = 0.001)
#' @export
cor_edges <- function(x, y = NULL, method = "spearman", max_p = 1, min_abs = 0,
                      alternative = "two.sided", adjust = "none", covariates = NULL,
                      weights = NULL, use = "all.obs", margin = 2, ...,
                      max_edges = Inf, order = "by-row-then-column") {
  call <- pair_call(x, y, arguments())
  found <- with_most_edges(max_edges, function(most) {
    call$options$max_edges <- most
    answer_of(.Call(C_edges, call$x, call$y, call$options), call)
  })
  pair_result("cor_edges", c(found$edges, found["summary"]), call)
}

#' The best partners of every variable
#'
#' @inheritParams cor_edges
#' @param k partners of each variable.
#' @param order "by-absolute-value": the largest magnitude first; "by-value": the largest first, with
#'   `alternative = "less"` the smallest.
#' @param q `TRUE` adds q, the adjusted p of each pair in the family of all pairs; needs `adjust`.
#' @return An object of class `cor_top`: `index`, `statistic`, `p` and `q` are matrices, variables x
#'   `k`, best first, `NA` behind the last partner; `count` is how many each variable has.
#' @examples
#' cor_top(as.matrix(mtcars), k = 2)
#' @export
cor_top <- function(x, y = NULL, k = 10, method = "spearman", max_p = 1, min_abs = 0,
                    alternative = "two.sided", adjust = "none", covariates = NULL, weights = NULL,
                    use = "all.obs", margin = 2, ..., order = "by-absolute-value", q = FALSE) {
  call <- pair_call(x, y, arguments())
  pair_result("cor_top", answer_of(.Call(C_partners, call$x, call$y, call$options), call), call)
}

#' How many pairs of variables are correlated
#'
#' @inheritParams cor_edges
#' @param bins bins of equal width from -1 to 1 for a histogram of the kept statistics; 0: none.
#' @return An object of class `cor_counts`: `tested` and `kept` pairs, the `degree` of each variable
#'   (pairs that it is part of; of y in `y_degree`), and `histogram` with its `breaks`. Counts are
#'   doubles, so that none overflows.
#' @examples
#' counts <- cor_counts(as.matrix(mtcars), max_p = 0.01, bins = 20)
#' counts
#' plot(counts)
#' @export
cor_counts <- function(x, y = NULL, method = "spearman", max_p = 1, min_abs = 0,
                       alternative = "two.sided", adjust = "none", covariates = NULL,
                       weights = NULL, use = "all.obs", margin = 2, ..., bins = 0) {
  call <- pair_call(x, y, arguments())
  found <- answer_of(.Call(C_counts, call$x, call$y, call$options), call)
  counts_result(found, call)
}

counts_result <- function(found, call) {
  names(found$degree) <- call$names
  if (call$has_y) names(found$y_degree) <- call$y_names
  found$breaks <- seq(-1, 1, length.out = length(found$histogram) + 1)
  pair_result("cor_counts", found, call)
}

#' The matrix of all correlations
#'
#' @inheritParams cor_edges
#' @return A matrix of class `cor_dense`, variables x variables (of x against y: variables of x x
#'   variables of y), with `NA` where a variable has no statistic. `as.matrix()` gives a plain matrix.
#' @seealso [cor()], with the arguments of `stats::cor`.
#' @examples
#' cor_dense(as.matrix(mtcars), method = "bicor")
#' @export
cor_dense <- function(x, y = NULL, method = "spearman", covariates = NULL, weights = NULL,
                      use = "all.obs", margin = 2, ...) {
  call <- pair_call(x, y, arguments())
  dense_result(answer_of(.Call(C_dense, call$x, call$y, call$options), call), call)
}

dense_result <- function(found, call) {
  out <- found$statistic
  rows <- call$names
  if (!is.null(rows)) rows <- rows[found$summary$part_begin:found$summary$part_end]
  cols <- if (call$has_y) call$y_names else call$names
  if (!is.null(rows) || !is.null(cols)) dimnames(out) <- list(rows, cols)
  structure(out, class = c("cor_dense", "matrix", "array"), method = call$options$method,
            summary = found$summary)
}

#' Correlated pairs in batches, or into a file
#'
#' For results that a list of R cannot hold, or that memory does not: batches are given to a function,
#' or written to a file, while the next ones are computed.
#'
#' @inheritParams cor_edges
#' @param f `function(batch)`, which gets a data frame with `row`, `col` (variables, from 1),
#'   `statistic` and `p`. The run ends where it returns `FALSE`.
#' @param file instead of `f`: a name that ends in .csv or .tsv (text; with .gz compressed), or in
#'   .parquet, which is a folder with a file for each batch and needs the package arrow. Files hold the
#'   names of the variables, where these have any.
#' @param batch_edges the most edges of a batch.
#' @return The summary of the run, a list, invisibly; `NULL` where `f` ended it.
#' @examples
#' kept <- 0
#' cor_stream(as.matrix(mtcars), f = function(batch) kept <<- kept + nrow(batch), max_p = 0.05)
#' kept
#' @export
cor_stream <- function(x, y = NULL, f = NULL, file = NULL, method = "spearman", max_p = 1,
                       min_abs = 0, alternative = "two.sided", adjust = "none", covariates = NULL,
                       weights = NULL, use = "all.obs", margin = 2, ..., batch_edges = 2^20,
                       order = "by-row-then-column") {
  if (is.null(f) == is.null(file)) refuse("f, file", "expected one of them")
  call <- pair_call(x, y, arguments(c("x", "y", "f", "file")))
  if (!is.null(f)) {
    consume <- match.fun(f)
  } else {
    writer <- batch_writer(file, call)
    on.exit(writer$close())
    consume <- writer$write
  }
  summary <- answer_of(.Call(C_stream, call$x, call$y, function(edges) consume(batch_of(edges)),
                             call$options), call)
  invisible(summary)
}

# A data frame of a list of columns, without a copy.
batch_of <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
}

# write(batch) and close() for a file of edges with the names of the variables.
batch_writer <- function(file, call) {
  symbol <- symbol_of(call$options$method)
  named <- function(batch) {
    names(batch)[3] <- symbol
    if (!is.null(call$names)) batch$row <- call$names[batch$row]
    others <- if (call$has_y) call$y_names else call$names
    if (!is.null(others)) batch$col <- others[batch$col]
    batch
  }
  if (grepl("\\.parquet$", file)) {
    if (!requireNamespace("arrow", quietly = TRUE)) {
      refuse("file", "the package arrow is needed for Parquet; .csv and .tsv need none")
    }
    dir.create(file, showWarnings = FALSE)
    if (length(list.files(file))) refuse("file", "the folder ", dQuote(file, FALSE), " is not empty")
    part <- 0
    return(list(close = function() NULL, write = function(batch) {
      part <<- part + 1
      arrow::write_parquet(named(batch), file.path(file, sprintf("part-%06d.parquet", part)))
      TRUE
    }))
  }
  kind <- regmatches(file, regexpr("\\.(csv|tsv)(\\.gz)?$", file))
  if (!length(kind)) refuse("file", "got ", dQuote(file, FALSE), ", expected a name that ends in ",
                            ".csv, .tsv, either with .gz, or .parquet")
  separator <- if (startsWith(kind, ".csv")) "," else "\t"
  connection <- if (endsWith(kind, ".gz")) gzfile(file, "w") else base::file(file, "w")
  writeLines(paste(c("row", "col", symbol, "p"), collapse = separator), connection)
  list(close = function() close(connection), write = function(batch) {
    utils::write.table(named(batch), connection, sep = separator, row.names = FALSE,
                       col.names = FALSE, qmethod = "double", quote = separator == ",")
    TRUE
  })
}

#' What a call would do, without doing it
#'
#' @inheritParams cor_edges
#' @return An object of class `cor_plan`: where the call would run, how pairs would be decided, and how
#'   many edges to expect, from a sample of the variables.
#' @examples
#' plan_cor(as.matrix(mtcars), max_p = 0.001)
#' @export
plan_cor <- function(x, y = NULL, method = "spearman", max_p = 1, min_abs = 0,
                     alternative = "two.sided", adjust = "none", covariates = NULL, weights = NULL,
                     use = "all.obs", margin = 2, ...) {
  call <- pair_call(x, y, arguments())
  pair_result("cor_plan", answer_of(.Call(C_plan, call$x, call$y, call$options), call), call)
}

#' The cut of Benjamini and Hochberg for a job in parts
#'
#' The cut of `adjust = "BH"` depends on all pairs of a job, so that no part can know it. This function
#' counts in all parts, one to three times, and gives the cut on p with which the parts then run:
#' together they keep what the whole call with `adjust = "BH"` keeps.
#' @inheritParams cor_edges
#' @param max_p the false discovery rate.
#' @param parts how many parts.
#' @param apply `function(indices, count)` that calls `count` of each index and gives a list, as
#'   `lapply` or `parallel::mclapply` do.
#' @return The cut, for `max_p` of the parts.
#' @examples
#' x <- as.matrix(mtcars)
#' cut <- part_cut(x, max_p = 0.05, parts = 3)
#' merge_parts(lapply(1:3, function(index) cor_edges(x, max_p = cut, part = c(index, 3))))
#' @export
part_cut <- function(x, y = NULL, method = "spearman", max_p = 0.05, alternative = "two.sided",
                     covariates = NULL, weights = NULL, use = "all.obs", margin = 2, ..., parts,
                     apply = lapply) {
  call <- pair_call(x, y, arguments(c("x", "y", "parts", "apply")))
  step <- list(search = NULL, max_p = NA)
  while (is.na(step$max_p)) {
    counts <- apply(seq_len(parts), function(index) {
      call$options[c("part", "search")] <- list(c(index, parts), step$search)
      answer_of(.Call(C_discoveries, call$x, call$y, call$options), call)
    })
    # All parts share one search; their counts add up.
    sums <- c(counts[[1]][1:4], Reduce(`+`, lapply(counts, `[`, -(1:4))))
    step <- answer_of(.Call(C_next_search, sums, call$options[c("max_p", "alternative")]))
  }
  step$max_p
}

#' The observations that two variables share
#'
#' @inheritParams cor_edges
#' @return A matrix of counts, variables x variables: the observations in which neither is missing.
#' @examples
#' cor_observations(airquality)
#' @export
cor_observations <- function(x, y = NULL, margin = 2, ...) {
  call <- pair_call(x, y, list(margin = margin))
  out <- answer_of(.Call(C_observations, call$x, call$y, list(...)), call)
  columns <- if (call$has_y) call$y_names else call$names
  if (!is.null(call$names) || !is.null(columns)) dimnames(out) <- list(call$names, columns)
  out
}

#' The similarity of sets: Tanimoto's (Jaccard's), Dice's, Tversky's
#'
#' A variable is the set of the observations in which it is 1. With `c` observations in both of two,
#' `a` in the first alone and `b` in the second alone, the similarity is `c / (c + alpha * a + beta * b)`
#' and 0 if `c` is 0: "tanimoto" has `alpha = beta = 1`, "dice" 1/2, "tversky" any.
#'
#' @inheritParams cor_edges
#' @param x,y zeros and ones, or `FALSE` and `TRUE`: a matrix, a data frame or a sparse matrix.
#' @param result what to give: "edges", "top", "counts" or "dense", as [cor_edges()], [cor_top()],
#'   [cor_counts()] and [cor_dense()] do.
#' @param min_abs the least similarity that is kept.
#' @param method "tanimoto", "dice" or "tversky".
#' @param alpha,beta the weights of "tversky": fractions from 0 to 1000 with a common denominator of at
#'   most 1000, as 0.7 and 1/3; without `y` they are equal.
#' @param ... `k` of "top", `bins` of "counts", `max_edges` of "edges", and `part`, `backend`,
#'   `devices`, `workspace_bytes`, `cpu_threads` and `progress` of [options].
#' @return The kind of result that `result` names, without p.
#' @examples
#' fingerprints <- matrix(c(1, 1, 0, 1, 1, 1, 0, 0, 1), 3)
#' tanimoto(fingerprints, min_abs = 0.5)
#' tanimoto(fingerprints, result = "dense", method = "dice")
#' @export
tanimoto <- function(x, y = NULL, result = c("edges", "top", "counts", "dense"), min_abs = 0,
                     margin = 2, method = "tanimoto", alpha = 1, beta = 1, ...) {
  result <- match.arg(result)
  call <- pair_call(x, y, arguments(c("x", "y", "result")))
  call$options$use <- NULL
  if (result == "dense") call$options$min_abs <- NULL
  run <- function() answer_of(.Call(C_tanimoto, call$x, call$y, result, call$options), call)
  found <- if (result != "edges") run() else with_most_edges(
    if (is.null(call$options$max_edges)) Inf else call$options$max_edges, function(most) {
      call$options$max_edges <<- most
      run()
    })
  call$options[c("alternative", "adjust")] <- c("two.sided", "none")
  switch(result,
         edges = pair_result("cor_edges", c(found$edges, found["summary"]), call),
         top = pair_result("cor_top", c(found, list(p = NA + found$statistic)), call),
         counts = counts_result(found, call),
         dense = dense_result(found, call))
}
