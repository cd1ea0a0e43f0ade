test_that("options are checked by name", {
  expect_failure_of(cor_edges(plain, maxp = 0.1), "invalid_argument", "^maxp: not an option of this function")
  expect_failure_of(cor_edges(plain, bins = 3), "invalid_argument", "^bins: not an option")
  expect_failure_of(cor_counts(plain, max_edges = 3), "invalid_argument", "^max_edges: not an option")
  expect_failure_of(cor_edges(plain, NULL, "spearman", 0.1, 0, "less", "none", NULL, NULL, "all.obs", 2, 7), "invalid_argument", "without a name")
  wrong <- list(
    method = "euclid", adjust = "holm", alternative = "both", use = "some", order = "random", p_method = "z", fold = "maybe", backend = "tpu",
    variant = "fast", method = 1, max_p = 0, max_p = 2, max_p = "a", max_p = c(0.1, 0.2), max_p = NA_real_, min_abs = -1,
    min_abs = 2, max_edges = -1, max_edges = 1.5, cpu_threads = -1, cpu_threads = 1.5, min_observations = 2, part = 3,
    part = c(4, 3), part = c(1.5, 3), effective_observations = 1, workspace_bytes = -5, devices = "gpu", progress = 7)
  for (i in seq_along(wrong)) {
    name <- names(wrong)[i]
    error <- tryCatch(do.call(cor_edges, c(list(plain), wrong[i])), error = identity)
    expect_s3_class(error, "gpusimilarity_error")
    expect_match(conditionMessage(error), name, info = paste(name, wrong[i]))
  }
  # A cut that a function does not have is refused, not left aside.
  for (call in list(cor_dense, soft_threshold, cor_observations)) expect_failure_of(call(plain, max_p = 0.1), "invalid_argument", "^max_p: ")
  expect_failure_of(cor_diff(plain, rep(1:2, 15), min_abs = 0.5), "invalid_argument", "^min_abs: ")
  expect_failure_of(max_t(plain, max_p = 0.1), "invalid_argument", "^max_p: ")
  expect_failure_of(part_cut(plain, parts = 2, adjust = "BH"), "invalid_argument", "^adjust: ")
  expect_failure_of(cor_top(plain, k = 0), "invalid_argument", "k")
  expect_failure_of(cor_counts(plain, bins = 1e6), "invalid_argument", "bins")
  expect_failure_of(cor_edges(plain, method = "cosine", max_p = 0.1), "unsupported", "p")
  expect_failure_of(cor_edges(plain, method = "cosine", fold = "always"), "unsupported", "fold")
})

test_that("the words of errors are those of R", {
  messages <- c(
    tryCatch(cor_edges(plain, weights = 1:30, method = "kendall"), error = conditionMessage),
    tryCatch(cor_edges(plain, max_p = 3), error = conditionMessage),
    tryCatch(cor_edges(plain, method = "pearson", p_method = "exact"), error = conditionMessage),
    tryCatch(cor_edges(holes, covariates = 1:30, use = "pairwise"), error = conditionMessage))
  expect_false(any(grepl("::|column_weights|_all_pairs|options\\.|\\breject\\b|\\bpropagate\\b", messages)))
  expect_failure_of(cor_edges(plain, other[1:29, ]), "invalid_argument", "^y: got 29 observations, expected 30 as in x")
  expect_failure_of(cor_edges(plain, covariates = rep(1, 30)), "invalid_argument", "variable 1 ")
  expect_failure_of(soft_threshold(plain, powers = c(1, -1)), "invalid_argument", "^powers\\[2\\]: ")
  expect_failure_of(cor_edges(plain, part = c(1, 3), max_p = 0.05, adjust = "BH"), "unsupported", "part_cut")
})

test_that("CUDA is used or refused, never replaced", {
  known <- backends()
  expect_identical(known$name, c("cpu", "cuda"))
  expect_true(known$usable[1])
  expect_identical(has_cuda(), known$usable[2])
  expect_identical(nrow(devices()) > 0, has_cuda())
  skip_if(has_cuda())
  expect_failure_of(cor_edges(plain, backend = "cuda"), "backend_unavailable", "^backend: ")
  expect_failure_of(cor_edges(plain, devices = 0), "backend_unavailable", "devices")
})

test_that("results depend on neither threads nor order", {
  one <- cor_edges(plain, cpu_threads = 1)
  expect_identical(cor_edges(plain, cpu_threads = 2)$statistic, one$statistic)
  expect_setequal(cor_edges(plain, order = "unspecified")$statistic, one$statistic)
  expect_identical(cor_edges(plain, variant = "naive")$statistic, one$statistic)
  expect_identical(cor_edges(tied, fold = "always")$statistic, cor_edges(tied, fold = "never")$statistic)
})

test_that("threads are limited where R CMD check limits cores", {
  old <- Sys.getenv("_R_CHECK_LIMIT_CORES_", NA)
  Sys.setenv("_R_CHECK_LIMIT_CORES_" = "TRUE")
  on.exit(if (is.na(old)) Sys.unsetenv("_R_CHECK_LIMIT_CORES_") else Sys.setenv("_R_CHECK_LIMIT_CORES_" = old))
  threads <- as.integer(sub(".*, ([0-9]+) threads?\\).*", "\\1", cor_edges(plain)$summary$device))
  expect_lte(threads, 2L)
})

test_that("progress is told and can end a run", {
  stages <- character()
  x <- matrix(rnorm(400 * 300), 300)
  cor_counts(x, method = "kendall", progress = function(stage, done, total) { stages <<- c(stages, stage); expect_lte(done, total); TRUE })
  expect_true(length(stages) > 0)
  expect_failure_of(cor_counts(x, method = "kendall", progress = function(...) FALSE), "cancelled", "cancel")
  expect_error(cor_counts(x, method = "kendall", progress = function(...) stop("my own error")), "my own error")
  said <- capture.output(type = "message", {
    expect_output(cor_counts(x[, 1:50], progress = TRUE), NA)
    bar <- gpusimilarity:::progress_of(TRUE)
    expect_true(bar("prepare", 0, 3) && bar("pairs", 1, 3) && bar("pairs", 3, 3))
  })
  expect_match(paste(said, collapse = ""), "100%")
  expect_null(gpusimilarity:::progress_of(NULL))
})

test_that("Ctrl-C ends a run", {
  skip_on_os("windows")
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(gpusimilarity)", "x <- matrix(rnorm(200 * 6000), 200)", "cat('begun', Sys.getpid(), '\\n')",
    "out <- tryCatch(cor_counts(x, method = 'kendall', variant = 'naive'), interrupt = function(e) 'interrupted')",
    "cat(if (identical(out, 'interrupted')) 'interrupted' else 'ended', '\\n')", "cat(cor_edges(1:5, 5:1)$statistic, '\\n')"), script)
  output <- tempfile()
  system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = output, stderr = FALSE, wait = FALSE,
          env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  lines_of <- function(count) {
    for (i in 1:600) {
      Sys.sleep(0.1)
      if (length(readLines(output)) >= count) break
    }
    trimws(readLines(output))
  }
  begun <- lines_of(1)
  Sys.sleep(0.5)
  tools::pskill(as.integer(sub("begun ", "", begun)), tools::SIGINT)
  expect_identical(lines_of(3), c(begun, "interrupted", "-1"))
})

test_that("forked processes work", {
  skip_on_os("windows")
  expected <- cor_edges(plain)$statistic
  forked <- parallel::mclapply(1:3, function(i) {
    list(cor_edges(plain)$statistic, cor_edges(plain, cpu_threads = 2)$statistic, tom(cor_dense(plain)), as.data.frame(cor_edges(plain), adjust = "BH")$q)
  }, mc.cores = 2)
  for (result in forked) {
    expect_identical(result[[1]], expected)
    expect_identical(result[[2]], expected)
  }
})

test_that("nothing is printed by a call, and random numbers and BLAS are left alone", {
  set.seed(5)
  before <- .Random.seed
  expect_silent(max_t(plain, permutations = 20))
  expect_silent(cor_counts(plain))
  expect_identical(.Random.seed, before)
  expect_identical(max_t(plain, permutations = 20)$maxima, max_t(plain, permutations = 20, seed = 0)$maxima)
})
