# Printing, pictures and conversions of results.

number <- function(x) format(x, big.mark = ",", scientific = FALSE, trim = TRUE)

# "2,468 of 4,652,775 pairs of 3,051 variables, spearman, |rho| >= 0.72".
headline <- function(x, what) {
  run <- x$summary
  cut <- run$min_abs_effective
  paste0(what, ": ", number(run$pairs_kept), " of ", number(run$pairs_tested), " pairs of ",
         number(run$variables), if (!is.null(run$y_variables)) paste0(" x ", number(run$y_variables)),
         " variables, ", x$method,
         if (isTRUE(cut > 0)) paste0(", |", symbol_of(x$method), "| >= ", format(cut, digits = 4)))
}

labels_of <- function(at, names) if (is.null(names)) at else names[at]

partner_names <- function(x) if (is.null(x$summary$y_variables)) x$names else x$y_names

print_more <- function(shown, all) {
  if (all > shown) cat("... and ", number(all - shown), " more; as.data.frame() has all\n", sep = "")
}

first_edges <- function(x, n) {
  for (column in intersect(c("row", "col", "statistic", "first", "second", "z", "p"), names(x))) {
    x[[column]] <- utils::head(x[[column]], n)
  }
  x
}

#' @export
as.data.frame.cor_edges <- function(x, row.names = NULL, optional = FALSE, ..., adjust = NULL,
                                    confidence = NULL) {
  out <- list(row = labels_of(x$row, x$names), col = labels_of(x$col, partner_names(x)))
  out[[symbol_of(x$method)]] <- x$statistic
  out$p <- x$p
  if (inherits(adjust, "max_t")) {
    out$q <- max_t_p(adjust, x$statistic)
  } else if (!is.null(adjust)) {
    out$q <- answer_of(.Call(C_adjusted_p, x$p, x$summary$pairs_tested, adjust))
  }
  if (!is.null(confidence)) {
    if (identical(x$use, "pairwise.complete.obs")) {
      fail("unsupported", paste("confidence: with use = \"pairwise.complete.obs\" each pair has its",
                                "own observations"))
    }
    out <- c(out, answer_of(.Call(C_confidence, x$statistic, x$method, x$summary$observations,
                                  as.double(confidence), x$alternative)))
  }
  batch_of(out)
}

#' @export
print.cor_edges <- function(x, n = 6, ...) {
  cat(headline(x, "Edges"), "\n", sep = "")
  if (length(x$row)) print(as.data.frame(first_edges(x, n)), ...)
  print_more(min(n, length(x$row)), length(x$row))
  invisible(x)
}

print_run <- function(object, ...) {
  run <- object$summary
  cat(object$headline, "\n", sep = "")
  counts <- c(constant = "constant", missing = "with missing values", infinite = "with infinite values")
  for (kind in names(counts)) {
    of_side <- length(run[[kind]]) + length(run[[paste0("y_", kind)]])
    if (of_side) cat(number(of_side), " variable(s) without a result: ", counts[[kind]], "\n", sep = "")
  }
  if (!is.null(object$statistic)) print(object$statistic, ...)
  seconds <- if (is.null(run$seconds)) run$prepare_seconds + run$pairs_seconds else run$seconds
  cat(run$device, ", ", format(seconds, digits = 3), " s\n", sep = "")
  invisible(object)
}

summary_of_result <- function(object, what, statistic = NULL) {
  structure(class = "cor_summary", list(headline = headline(object, what), summary = object$summary,
                                        statistic = statistic))
}

#' @export
print.cor_summary <- function(x, ...) print_run(x, ...)
#' @export
summary.cor_edges <- function(object, ...) {
  summary_of_result(object, "Edges", if (length(object$statistic)) summary(object$statistic))
}
#' @export
summary.cor_top <- function(object, ...) {
  summary_of_result(object, "Partners", summary(as.vector(object$statistic)))
}
#' @export
summary.cor_counts <- function(object, ...) {
  summary_of_result(object, "Counts", summary(object$degree))
}
#' @export
summary.cor_diff <- function(object, ...) {
  structure(class = "cor_summary", list(
    headline = diff_headline(object), summary = object$summary,
    statistic = if (length(object$z)) summary(object$z)))
}

# A histogram of statistics with the curve of independent variables and the cut.
plot_statistics <- function(breaks, counts, run, symbol, ...) {
  width <- diff(breaks)[1]
  graphics::plot(breaks, c(counts, 0), type = "n", xlab = symbol, ylab = "pairs",
                 ylim = c(0, max(counts, 1)), ...)
  graphics::rect(utils::head(breaks, -1), 0, breaks[-1], counts, col = "#9ecae1", border = NA)
  degrees <- run$observations - 2
  if (isTRUE(degrees > 0) && run$test != "kendall") {
    at <- seq(-1, 1, length.out = 401)[2:400]
    density <- stats::dt(at * sqrt(degrees / (1 - at^2)), degrees) * sqrt(degrees) / (1 - at^2)^1.5
    graphics::lines(at, run$pairs_tested * density * width, col = "#b2182b", lwd = 1.5)
  }
  cut <- run$min_abs_effective
  if (isTRUE(cut > 0 && cut <= 1)) graphics::abline(v = c(-cut, cut), lty = 2)
}

plot_degrees <- function(degree, ...) {
  of_degree <- table(degree[degree > 0])
  if (!length(of_degree)) fail("invalid_argument", "x: no variable has an edge to draw")
  graphics::plot(as.numeric(names(of_degree)), as.vector(of_degree), log = "xy", pch = 19,
                 col = "#3182bd", xlab = "edges of a variable", ylab = "variables", las = 1, ...)
}

#' @export
plot.cor_edges <- function(x, type = c("statistic", "degree"), bins = 100, ...) {
  if (match.arg(type) == "degree") {
    nodes <- if (is.null(x$summary$y_variables)) c(x$row, x$col) else x$row
    plot_degrees(tabulate(nodes, x$summary$variables), ...)
  } else {
    breaks <- seq(-1, 1, length.out = bins + 1)
    counts <- graphics::hist(x$statistic, breaks = breaks, plot = FALSE)$counts
    plot_statistics(breaks, counts, x$summary, symbol_of(x$method), ...)
  }
  invisible(x)
}

#' @export
plot.cor_counts <- function(x, type = c("statistic", "degree"), ...) {
  if (match.arg(type) == "degree") {
    plot_degrees(x$degree, ...)
  } else {
    if (!length(x$histogram)) {
      fail("invalid_argument", "x: has no histogram; call cor_counts(..., bins = 100)")
    }
    plot_statistics(x$breaks, x$histogram, x$summary, symbol_of(x$method), ...)
  }
  invisible(x)
}

#' @export
print.cor_counts <- function(x, ...) {
  cat(headline(x, "Counts"), "\n", sep = "")
  most <- utils::head(order(x$degree, decreasing = TRUE), 6)
  if (length(most)) {
    cat("most edges: ", paste0(labels_of(most, x$names), " (", number(x$degree[most]), ")",
                               collapse = ", "), "\n", sep = "")
  }
  invisible(x)
}

#' @export
as.data.frame.cor_counts <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(variable = labels_of(seq_along(x$degree), x$names), degree = unname(x$degree))
}

#' @export
as.data.frame.cor_top <- function(x, row.names = NULL, optional = FALSE, ...) {
  k <- ncol(x$index)
  rows <- seq(x$summary$part_begin, length.out = nrow(x$index))
  there <- !is.na(t(x$index))
  out <- list(variable = labels_of(rep(rows, each = k)[there], x$names),
              rank = rep(seq_len(k), length(rows))[there],
              partner = labels_of(t(x$index)[there], partner_names(x)))
  out[[symbol_of(x$method)]] <- t(x$statistic)[there]
  out$p <- t(x$p)[there]
  if (!is.null(x$q)) out$q <- t(x$q)[there]
  batch_of(out)
}

#' @export
print.cor_top <- function(x, n = 6, ...) {
  cat(headline(x, "Partners"), "\n", sep = "")
  frame <- as.data.frame(x)
  print(utils::head(frame, n), ...)
  print_more(min(n, nrow(frame)), nrow(frame))
  invisible(x)
}

#' @export
plot.cor_top <- function(x, ...) {
  graphics::boxplot(as.data.frame.matrix(x$statistic), names = seq_len(ncol(x$statistic)),
                    xlab = "rank of the partner", ylab = symbol_of(x$method), las = 1,
                    col = "#9ecae1", ...)
  invisible(x)
}

#' @export
print.cor_dense <- function(x, n = 6, ...) {
  run <- attr(x, "summary")
  cat("Matrix: ", nrow(x), " x ", ncol(x), ", ", attr(x, "method"), ", ",
      number(run$pairs_tested), " pairs\n", sep = "")
  print(as.matrix(x)[seq_len(min(n, nrow(x))), seq_len(min(n, ncol(x))), drop = FALSE], ...)
  invisible(x)
}

#' @export
as.matrix.cor_dense <- function(x, ...) {
  matrix(as.vector(x), nrow(x), dimnames = dimnames(x))
}

#' @export
as.data.frame.cor_dense <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(as.matrix(x), row.names = row.names, optional = optional, ...)
}

#' @export
summary.cor_dense <- function(object, ...) {
  values <- as.matrix(object)
  if (is.null(attr(object, "summary")$y_variables)) values <- values[upper.tri(values)]
  structure(class = "cor_summary", list(
    headline = paste0("Matrix: ", nrow(object), " x ", ncol(object), ", ", attr(object, "method")),
    summary = attr(object, "summary"), statistic = summary(as.vector(values))))
}

# Variables in the order of an average-linkage clustering, where there are few enough.
#' @export
plot.cor_dense <- function(x, ...) {
  values <- as.matrix(x)
  if (nrow(values) == ncol(values) && nrow(values) > 2 && !anyNA(values)) {
    order <- stats::hclust(stats::as.dist(1 - values), "average")$order
    values <- values[order, order]
  }
  colours <- grDevices::hcl.colors(101, "Blue-Red 3")
  graphics::image(seq_len(ncol(values)), seq_len(nrow(values)), t(values[rev(seq_len(nrow(values))), ]),
                  zlim = c(-1, 1), col = colours, xlab = "", ylab = "", axes = FALSE, asp = 1, ...)
  invisible(x)
}

#' @export
print.cor_plan <- function(x, ...) {
  cat("Plan: ", number(x$pairs), " pairs, ", x$method, ", on ", x$device, " (", x$variant, ")\n",
      x$choice, "\n", "expected edges: ", number(round(x$kept_estimate)), ", at most about ",
      number(round(x$kept_upper)), " (", number(ceiling(x$result_bytes / 2^20)), " MiB)\n", sep = "")
  if (nzchar(x$warning)) cat(x$warning, "\n", sep = "")
  invisible(x)
}

#' @export
as.data.frame.cor_plan <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(unclass(x)[c("backend", "device", "variant", "pairs", "kept_estimate", "kept_upper",
                             "workspace_bytes", "result_bytes")])
}

diff_headline <- function(x) {
  run <- x$summary
  paste0("Differences: ", number(run$pairs_kept), " of ", number(run$pairs_tested), " pairs of ",
         number(run$variables), " variables, ", x$method, ", ", x$groups[1], " (",
         run$first_observations, ") against ", x$groups[2], " (", run$second_observations, ")")
}

#' @export
as.data.frame.cor_diff <- function(x, row.names = NULL, optional = FALSE, ..., adjust = NULL) {
  out <- list(row = labels_of(x$row, x$names), col = labels_of(x$col, x$names))
  out[x$groups] <- x[c("first", "second")]
  out <- c(out, x[c("z", "p")])
  if (!is.null(adjust)) out$q <- answer_of(.Call(C_adjusted_p, x$p, x$summary$pairs_tested, adjust))
  batch_of(out)
}

#' @export
print.cor_diff <- function(x, n = 6, ...) {
  cat(diff_headline(x), "\n", sep = "")
  if (length(x$row)) print(as.data.frame(first_edges(x, n)), ...)
  print_more(min(n, length(x$row)), length(x$row))
  invisible(x)
}

#' @export
plot.cor_diff <- function(x, ...) {
  graphics::plot(x$first, x$second, xlim = c(-1, 1), ylim = c(-1, 1), pch = 19, cex = 0.5,
                 col = grDevices::adjustcolor("#3182bd", 0.5), las = 1,
                 xlab = paste(symbol_of(x$method), "in", x$groups[1]),
                 ylab = paste(symbol_of(x$method), "in", x$groups[2]), ...)
  graphics::abline(0, 1, lty = 2)
  invisible(x)
}

#' @export
as.data.frame.cor_diff_top <- function(x, row.names = NULL, optional = FALSE, ...) {
  k <- ncol(x$index)
  rows <- seq(x$summary$part_begin, length.out = nrow(x$index))
  there <- !is.na(t(x$index))
  out <- list(variable = labels_of(rep(rows, each = k)[there], x$names),
              rank = rep(seq_len(k), length(rows))[there],
              partner = labels_of(t(x$index)[there], x$names))
  columns <- c("first", "second", "z", "p")
  out[c(x$groups, "z", "p")] <- lapply(x[columns], function(values) t(values)[there])
  batch_of(out)
}

#' @export
print.cor_diff_top <- function(x, n = 6, ...) {
  cat(diff_headline(x), "\n", sep = "")
  print(utils::head(as.data.frame(x), n), ...)
  invisible(x)
}

#' @export
print.max_t <- function(x, ...) {
  level <- 0.05
  cat("Max-T: the largest |statistic| of ", number(length(x$maxima)), " shuffled tables, ", x$method,
      if (x$alternative != "two.sided") paste0(", ", x$alternative), "\n", sep = "")
  if (level * (1 + length(x$maxima)) >= 1) {
    cat("cut at level ", level, ": ", format(max_t_cut(x, level), digits = 6), "\n", sep = "")
  }
  invisible(x)
}

#' @export
plot.max_t <- function(x, level = 0.05, ...) {
  graphics::hist(x$maxima, col = "#9ecae1", border = "white", las = 1,
                 xlab = paste("largest", symbol_of(x$method), "of a shuffled table"), main = "", ...)
  graphics::abline(v = max_t_cut(x, level), lty = 2)
  invisible(x)
}

#' @export
as.data.frame.max_t <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(maximum = x$maxima)
}

#' @export
print.soft_threshold <- function(x, ...) {
  cat("Soft thresholds: ", number(nrow(x$connectivity)), " variables, ", x$method, ", ", x$network,
      "\n", if (is.na(x$power)) "no power fits a scale-free network well enough"
      else paste("power", x$power), "\n", sep = "")
  print(x$fits, row.names = FALSE, ...)
  invisible(x)
}

#' @export
as.data.frame.soft_threshold <- function(x, row.names = NULL, optional = FALSE, ...) x$fits

#' @export
plot.soft_threshold <- function(x, ...) {
  before <- graphics::par(mfrow = c(1, 2))
  on.exit(graphics::par(before))
  fits <- x$fits
  graphics::plot(fits$power, fits$signed_r_squared, type = "n", xlab = "power",
                 ylab = expression("signed " * R^2 * " of the scale-free fit"), ...)
  graphics::text(fits$power, fits$signed_r_squared, fits$power, col = "#b2182b")
  graphics::abline(h = x$fit$r_squared_cut, lty = 2)
  graphics::plot(fits$power, fits$mean, type = "n", log = "y", xlab = "power",
                 ylab = "mean connectivity", ...)
  graphics::text(fits$power, fits$mean, fits$power, col = "#b2182b")
  invisible(x)
}

# ---- graphs and sparse matrices ----------------------------------------------------------------

#' A result as a graph
#'
#' @param x edges ([cor_edges()], [cor_diff()]), or partners ([cor_top()]), which make a directed graph.
#' @param ... not used.
#' @return A graph of the package igraph. Its vertices are all variables, with the attribute `name`; of
#'   x against y it is bipartite, with the attribute `type`.
#' @examples
#' if (requireNamespace("igraph", quietly = TRUE)) {
#'   as_igraph(cor_edges(as.matrix(mtcars), min_abs = 0.8))
#' }
#' @export
as_igraph <- function(x, ...) UseMethod("as_igraph")

graph_of <- function(from, to, x, attributes, directed) {
  if (!requireNamespace("igraph", quietly = TRUE)) {
    fail("unsupported", "as_igraph: the package igraph is needed")
  }
  of_x <- x$summary$variables
  of_y <- x$summary$y_variables
  names <- labels_of(seq_len(of_x), x$names)
  graph <- igraph::make_empty_graph(of_x + if (is.null(of_y)) 0 else of_y, directed = directed)
  if (!is.null(of_y)) {
    names <- c(names, labels_of(seq_len(of_y), x$y_names))
    to <- to + of_x
    graph <- igraph::set_vertex_attr(graph, "type", value = rep(c(FALSE, TRUE), c(of_x, of_y)))
  }
  graph <- igraph::set_vertex_attr(graph, "name", value = as.character(names))
  igraph::add_edges(graph, rbind(from, to), attr = attributes)
}

#' @export
as_igraph.cor_edges <- function(x, ...) {
  graph_of(x$row, x$col, x, x[c("statistic", "p")], directed = FALSE)
}

#' @export
as_igraph.cor_diff <- function(x, ...) {
  graph_of(x$row, x$col, x, x[c("first", "second", "z", "p")], directed = FALSE)
}

#' @export
as_igraph.cor_top <- function(x, ...) {
  there <- !is.na(x$index)
  from <- row(x$index)[there] + x$summary$part_begin - 1
  graph_of(from, x$index[there], x, list(statistic = x$statistic[there], p = x$p[there]), TRUE)
}

sparse_of <- function(i, j, values, x, symmetric) {
  run <- x$summary
  columns <- if (is.null(run$y_variables)) run$variables else run$y_variables
  if (symmetric && is.null(run$y_variables)) {
    both <- list(c(i, j), c(j, i))
    i <- both[[1]]
    j <- both[[2]]
    values <- c(values, values)
  }
  Matrix::sparseMatrix(i, j, x = values, dims = c(run$variables, columns),
                       dimnames = list(x$names, partner_names(x)))
}

#' @exportMethod coerce
methods::setOldClass("cor_edges")
methods::setOldClass("cor_top")
methods::setOldClass("cor_diff")
methods::setAs("cor_edges", "dgCMatrix", function(from) {
  sparse_of(from$row, from$col, from$statistic, from, TRUE)
})
methods::setAs("cor_diff", "dgCMatrix", function(from) {
  sparse_of(from$row, from$col, from$z, from, TRUE)
})
methods::setAs("cor_top", "dgCMatrix", function(from) {
  there <- !is.na(from$index)
  sparse_of(row(from$index)[there] + from$summary$part_begin - 1, from$index[there],
            from$statistic[there], from, FALSE)
})

# ---- parts -------------------------------------------------------------------------------------

# The summary of the whole job: counts and checksums add up, and the parts are next to each other.
merged_summary <- function(parts) {
  summaries <- lapply(parts, function(part) {
    if (inherits(part, "cor_dense")) attr(part, "summary") else part$summary
  })
  begins <- vapply(summaries, `[[`, 0, "part_begin")
  ends <- vapply(summaries, `[[`, 0, "part_end")
  if (begins[1] != 1 || any(begins[-1] != utils::head(ends, -1) + 1) ||
      utils::tail(ends, 1) != summaries[[1]]$variables) {
    refuse("parts", "expected every part of one job once, in order; these hold ",
           paste0(begins, " to ", ends, collapse = ", "))
  }
  out <- summaries[[1]]
  out$part_end <- utils::tail(ends, 1)
  sums <- intersect(c("pairs_tested", "pairs_kept", "pairs_by_t", "prepare_seconds",
                      "pairs_seconds", "seconds"), names(out))
  for (name in sums) out[[name]] <- sum(vapply(summaries, `[[`, 0, name))
  if (!is.null(out$checksum)) {
    out$checksum <- answer_of(.Call(C_add_checksums, vapply(summaries, `[[`, "", "checksum")))
  }
  out
}

#' One result of the parts of a job
#'
#' With the option `part = c(index, of)` a call computes one of `of` parts, so that several processes
#' or machines can share a job. Each pair is in one part and decided by the same cut as in the whole.
#'
#' @param parts a list of results, the parts 1 to `of` in order.
#' @return The result of the whole call, with the same `summary$checksum`. A part that is missing,
#'   doubled or out of order is an error.
#' @examples
#' x <- as.matrix(mtcars)
#' parts <- lapply(1:3, function(index) cor_edges(x, max_p = 0.01, part = c(index, 3)))
#' merge_parts(parts)
#' @export
merge_parts <- function(parts) {
  if (!is.list(parts) || !length(parts) || length(unique(lapply(parts, class))) != 1) {
    refuse("parts", "expected a list of results of one kind, a part each")
  }
  out <- parts[[1]]
  summary <- merged_summary(parts)
  joined <- function(name, how = c) do.call(how, lapply(parts, `[[`, name))
  kind <- class(out)[1]
  if (kind == "cor_dense") {
    values <- do.call(rbind, lapply(parts, as.matrix))
    return(structure(values, class = class(out), method = attr(out, "method"), summary = summary))
  }
  columns <- switch(kind, cor_edges = c("row", "col", "statistic", "p"),
                    cor_diff = c("row", "col", "first", "second", "z", "p"), cor_top = "count",
                    cor_diff_top = "count")
  tables <- switch(kind, cor_top = c("index", "statistic", "p", "q"),
                   cor_diff_top = c("index", "first", "second", "z", "p"))
  for (name in columns) out[[name]] <- joined(name)
  for (name in tables) if (!is.null(out[[name]])) out[[name]] <- joined(name, rbind)
  if (kind == "cor_counts") {
    for (name in c("tested", "kept", "degree", "y_degree", "histogram")) {
      if (!is.null(out[[name]])) out[[name]] <- Reduce(`+`, lapply(parts, `[[`, name))
    }
  } else if (kind == "soft_threshold") {
    return(soft_threshold_result(joined("connectivity", rbind), out$fits$power, out$network, out$fit,
                                 summary, list(names = out$names, options = out[c("method", "adjust", "use")])))
  } else if (is.null(columns)) {
    refuse("parts", "results of class ", dQuote(kind, FALSE), " have no parts")
  }
  out$summary <- summary
  out
}
