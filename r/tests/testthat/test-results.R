edges <- cor_edges(plain, max_p = 0.5, method = "pearson")
bipartite <- cor_edges(plain, other, max_p = 0.5)
drawn <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  code
}

test_that("data frames have names, q and confidence intervals", {
  frame <- as.data.frame(edges, confidence = 0.9)
  expect_identical(names(frame), c("row", "col", "r", "p", "lower", "upper"))
  bounds <- t(mapply(function(i, j) stats::cor.test(plain[, i], plain[, j], conf.level = 0.9)$conf.int, frame$row, frame$col))
  expect_equal(cbind(frame$lower, frame$upper), unname(bounds), tolerance = 1e-10)
  expect_identical(as.data.frame(cor_edges(unname(plain)))$row, cor_edges(plain)$row)
  pairwise <- cor_edges(holes, use = "pairwise")
  expect_failure_of(as.data.frame(pairwise, confidence = 0.9), "unsupported", "^confidence: ")
  expect_failure_of(as.data.frame(edges, adjust = "holm"), "invalid_argument", "^adjust: ")
  expect_identical(names(as.data.frame(cor_top(plain, k = 2))), c("variable", "rank", "partner", "rho", "p"))
  expect_identical(nrow(as.data.frame(cor_top(plain, k = 9))), 56L)
  expect_identical(as.data.frame(cor_counts(plain))$degree, rep(7, 8))
  expect_equal(as.data.frame(cor_dense(plain, method = "pearson")), as.data.frame(stats::cor(plain)))
})

test_that("sparse matrices hold the statistics on both sides", {
  sparse <- as(edges, "dgCMatrix")
  expect_s4_class(sparse, "dgCMatrix")
  expected <- stats::cor(plain)
  expected[cor_dense_p(plain) > 0.5] <- 0
  diag(expected) <- 0
  expect_equal(as.matrix(sparse), expected, tolerance = 1e-12)
  expect_identical(dim(as(bipartite, "dgCMatrix")), c(8L, 3L))
  top <- cor_top(plain, k = 2)
  expect_equal(unname(Matrix::rowSums(as(top, "dgCMatrix") != 0)), rep(2, 8))
  expect_true(Matrix::isSymmetric(as(cor_diff(plain, rep(1:2, 15)), "dgCMatrix")))
})

test_that("graphs have all variables as vertices", {
  skip_if_not_installed("igraph")
  graph <- as_igraph(edges)
  expect_equal(igraph::vcount(graph), 8)
  expect_equal(igraph::ecount(graph), length(edges$row))
  expect_identical(igraph::V(graph)$name, colnames(plain))
  expect_identical(igraph::E(graph)$statistic, edges$statistic)
  ends <- igraph::as_data_frame(graph)
  expect_identical(ends$from, as.data.frame(edges)$row)
  both <- as_igraph(bipartite)
  expect_true(igraph::is_bipartite(both))
  expect_identical(igraph::V(both)$name, c(colnames(plain), colnames(other)))
  expect_true(igraph::is_directed(as_igraph(cor_top(plain, k = 2))))
  expect_equal(igraph::ecount(as_igraph(cor_diff(plain, rep(1:2, 15)))), 28)
})

test_that("everything prints, sums up and draws", {
  results <- list(edges, bipartite, cor_top(plain, k = 2), cor_counts(plain, bins = 10), cor_dense(plain), cor_diff(plain, rep(1:2, 15)))
  for (result in results) {
    expect_output(print(result), "[A-Z][a-z]+: ")
    expect_output(print(summary(result)), "threads\\), [0-9.e-]+ s")
    expect_identical(drawn(plot(result)), result)
  }
  for (result in list(max_t(plain, permutations = 50), soft_threshold(plain))) {
    expect_output(print(result), "[A-Z]")
    expect_identical(drawn(plot(result)), result)
  }
  expect_output(print(edges), "\\|r\\| >= 0.12")
  expect_output(print(cor_edges(plain), n = 2), "and 26 more")
  drawn(plot(edges, type = "degree"))
  drawn(plot(cor_counts(plain), type = "degree"))
  expect_failure_of(drawn(plot(cor_counts(plain))), "invalid_argument", "histogram")
  expect_output(print(cor_diff(plain, rep(1:2, 15), k = 1)), "Differences: ")
  expect_equal(as.data.frame(max_t(plain, permutations = 5))$maximum, max_t(plain, permutations = 5)$maxima)
  expect_identical(nrow(as.data.frame(soft_threshold(plain))), 15L)
})
