# The result of each variable where the variables of x were: [observations, variables] comes.
as_given <- function(out, call, observations = call$observations) {
  if (call$is_vector) return(as.vector(out))
  if (!is.null(call$names) || !is.null(observations)) dimnames(out) <- list(observations, call$names)
  if (call$margin == 1) t(out) else out
}

#' Ranks, moving means and largest values of each variable
#'
#' @param x a matrix of observations x variables (`margin = 2`) or variables x observations
#'   (`margin = 1`), or a vector; `rank_rows` also takes a sparse matrix.
#' @param ties "average", "min", "max", "dense" or "first".
#' @param decreasing `rank_rows`: whether the largest has rank 1. `top_k`: whether the largest come.
#' @param use "all.obs" refuses missing values; "everything" makes all ranks of the variable `NA`.
#' @param margin 1: each row is ranked, filtered or searched; 2: each column.
#' @param ... `variant`, `backend`, `devices`, `workspace_bytes` and `cpu_threads` of [options].
#' @return `rank_rows` and `mean_filter`: a matrix as `x`. `top_k`: a list with `values` and `index`
#'   (and `counts`, with `distinct`), k x variables.
#' @name rows
#' @examples
#' rank_rows(matrix(c(3, 1, 2, 2), 1))
#' mean_filter(c(1, 5, 3, 7), window = 3)
#' top_k(c(3, 9, 4), k = 2)
#' @export
rank_rows <- function(x, ties = "average", decreasing = FALSE, use = "all.obs", margin = 1, ...) {
  call <- row_call(x, arguments())
  as_given(answer_of(.Call(C_rank_rows, call$x, call$options), call), call)
}

#' @rdname rows
#' @param window values that a mean is of.
#' @param boundary what is beyond the ends: "zero", "reflect", "nearest", "mirror", "wrap", "shrink" or
#'   "valid", as SciPy has them.
#' @param origin shifts the windows.
#' @param na.rm whether missing values are left out of the means.
#' @export
mean_filter <- function(x, window, boundary = "reflect", origin = 0, na.rm = FALSE, margin = 2,
                        ...) {
  call <- row_call(in_columns(x, margin), utils::modifyList(arguments("x"), list(margin = 2)))
  out <- answer_of(.Call(C_mean_filter, call$x, call$options), call)
  call$margin <- margin
  as_given(out, call, if (nrow(out) == call$x$observations) call$observations)
}

#' @rdname rows
#' @param k how many.
#' @param distinct whether each value comes once, with its number of occurrences.
#' @export
top_k <- function(x, k, decreasing = TRUE, distinct = FALSE, margin = 2, ...) {
  call <- row_call(in_columns(x, margin), utils::modifyList(arguments("x"), list(margin = 2)))
  found <- answer_of(.Call(C_top_values, call$x, call$options), call)
  found$index <- found$index + 1
  if (distinct) {
    behind <- row(found$index) > rep(found$found, each = nrow(found$index))
    kept <- seq_len(max(found$found, 0))
    for (part in c("values", "index", "counts")) {
      found[[part]][behind] <- NA
      found[[part]] <- found[[part]][kept, , drop = FALSE]
    }
    found$found <- NULL
  }
  call$margin <- margin
  lapply(found, as_given, call = call, observations = NULL)
}

# x with its variables in columns, where the library reads each in place.
in_columns <- function(x, margin) {
  if (check_margin(margin) == 2 || is.null(dim(x))) return(x)
  t(plain_matrix(x, "x", 1)$x)
}
