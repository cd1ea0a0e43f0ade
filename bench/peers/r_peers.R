# The R package next to stats, WGCNA and Hmisc: Rscript bench/peers/r_peers.R [OUTPUT.json]
#
# Every call runs in a process of its own: once without being counted where it is short, then three times (once where it
# takes longer than 10 s). Seconds are elapsed time and processor time; memory is the growth of the peak of resident
# memory over that of the tables. Rfast and matrixCorr run where they are installed.
# Real tables: r-bioc-all (12,625 x 128) and r-bioc-bladderbatch (22,283 x 57); the others are made.

tables <- list(
  made_2000 = function() { set.seed(1); matrix(rnorm(2000 * 100), 100) + rnorm(100) %o% runif(2000) },
  made_1000 = function() { set.seed(2); matrix(rnorm(1000 * 5000), 5000) + rnorm(5000) %o% runif(1000) },
  holes_2000 = function() { x <- tables$made_2000(); x[sample(length(x), length(x) / 20)] <- NA; x },
  all = function() { utils::data("ALL", package = "ALL", envir = environment()); t(Biobase::exprs(ALL)) },
  bladder = function() {
    utils::data("bladderdata", package = "bladderbatch", envir = environment())
    t(Biobase::exprs(bladderEset))
  })

jobs <- list(
  # table, what, then one call for each package
  list("made_2000", "Pearson, matrix", stats = quote(stats::cor(x)), WGCNA = quote(WGCNA::cor(x)),
       Rfast = quote(Rfast::cora(x)), gpusimilarity = quote(gpusimilarity::cor(x))),
  list("made_2000", "Spearman, matrix", stats = quote(stats::cor(x, method = "spearman")),
       gpusimilarity = quote(gpusimilarity::cor(x, method = "spearman"))),
  list("made_2000", "Kendall, matrix", stats = quote(stats::cor(x[, 1:500], method = "kendall")),
       gpusimilarity = quote(gpusimilarity::cor(x[, 1:500], method = "kendall")), note = "500 variables"),
  list("made_2000", "bicor, matrix", WGCNA = quote(WGCNA::bicor(x)), gpusimilarity = quote(gpusimilarity::bicor(x))),
  list("made_2000", "r, n and P, Spearman", Hmisc = quote(Hmisc::rcorr(x, type = "spearman")),
       gpusimilarity = quote(gpusimilarity::rcorr(x, type = "spearman"))),
  list("holes_2000", "Pearson, 5 % missing, pairwise", stats = quote(stats::cor(x, use = "pairwise")),
       WGCNA = quote(WGCNA::cor(x, use = "pairwise.complete.obs")), Hmisc = quote(Hmisc::rcorr(x)),
       gpusimilarity = quote(gpusimilarity::cor(x, use = "pairwise"))),
  list("holes_2000", "Spearman, 5 % missing, pairwise",
       stats = quote(stats::cor(x[, 1:500], use = "pairwise", method = "spearman")),
       Hmisc = quote(Hmisc::rcorr(x[, 1:500], type = "spearman")),
       gpusimilarity = quote(gpusimilarity::cor(x[, 1:500], use = "pairwise", method = "spearman")),
       note = "500 variables"),
  list("made_1000", "Pearson, matrix", stats = quote(stats::cor(x)), WGCNA = quote(WGCNA::cor(x)),
       Rfast = quote(Rfast::cora(x)), gpusimilarity = quote(gpusimilarity::cor(x))),
  list("made_1000", "Spearman, matrix", stats = quote(stats::cor(x, method = "spearman")),
       gpusimilarity = quote(gpusimilarity::cor(x, method = "spearman"))),
  list("made_1000", "bicor, matrix", WGCNA = quote(WGCNA::bicor(x)), gpusimilarity = quote(gpusimilarity::bicor(x))),
  list("all", "Spearman, pairs with p <= 1e-10",
       stats = quote({ r <- stats::cor(x, method = "spearman"); which(abs(r) >= 0.53 & upper.tri(r)) }),
       WGCNA = quote({ r <- WGCNA::cor(x, method = "spearman"); which(abs(r) >= 0.53 & upper.tri(r)) }),
       gpusimilarity = quote(gpusimilarity::cor_edges(x, max_p = 1e-10))),
  list("all", "Pearson, pairs with p <= 1e-10",
       stats = quote({ r <- stats::cor(x); which(abs(r) >= 0.53 & upper.tri(r)) }),
       WGCNA = quote({ r <- WGCNA::cor(x); which(abs(r) >= 0.53 & upper.tri(r)) }),
       gpusimilarity = quote(gpusimilarity::cor_edges(x, max_p = 1e-10, method = "pearson"))),
  list("all", "bicor, pairs with p <= 1e-10",
       WGCNA = quote({ r <- WGCNA::bicor(x); which(abs(r) >= 0.53 & upper.tri(r)) }),
       gpusimilarity = quote(gpusimilarity::cor_edges(x, max_p = 1e-10, method = "bicor"))),
  list("bladder", "Spearman, pairs with p <= 0.05, as a stream", gpusimilarity = quote({
    kept <- 0
    gpusimilarity::cor_stream(x, f = function(batch) kept <<- kept + nrow(batch), max_p = 0.05)
    kept
  })))

peak_mib <- function() {
  as.numeric(sub("\\D*(\\d+).*", "\\1", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
}

# One call in this process: its seconds, its processor seconds, the growth of memory.
measure <- function(job, package) {
  suppressMessages(requireNamespace(package))
  x <- tables[[job[[1]]]]()
  gc(full = TRUE)
  before <- peak_mib()
  run <- function() unname(system.time(eval(job[[package]]))[c("elapsed", "user.self", "sys.self")])
  invisible(utils::capture.output(first <- suppressWarnings(run())))
  memory <- peak_mib() - before
  times <- first
  if (first[1] < 10) {
    all <- replicate(3, suppressWarnings(run()))
    times <- all[, order(all[1, ])[2]]
  }
  cat(sprintf("%.4f %.4f %.0f %.0f\n", times[1], times[2] + times[3], memory, before))
}

arguments <- commandArgs(TRUE)
if (length(arguments) == 3 && arguments[1] == "--one") {
  measure(jobs[[as.integer(arguments[2])]], arguments[3])
  quit()
}

script <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))
packages <- c("stats", "WGCNA", "Hmisc", "Rfast", "gpusimilarity")
lines <- list()
for (i in seq_along(jobs)) for (package in intersect(packages, names(jobs[[i]]))) {
  if (!requireNamespace(package, quietly = TRUE)) next
  answer <- utils::tail(system2("Rscript", c(script, "--one", i, package), stdout = TRUE, stderr = FALSE), 1)
  numbers <- as.numeric(strsplit(answer, " ")[[1]])
  dims <- c(made_2000 = "2,000 x 100", holes_2000 = "2,000 x 100", made_1000 = "1,000 x 5,000",
            all = "12,625 x 128", bladder = "22,283 x 57")
  line <- list(variables_x_observations = dims[[jobs[[i]][[1]]]], what = jobs[[i]][[2]],
               note = if (is.null(jobs[[i]]$note)) "" else jobs[[i]]$note, package = package, seconds = numbers[1],
               processor_seconds = numbers[2], memory_mib = numbers[3], base_mib = numbers[4])
  lines[[length(lines) + 1]] <- line
  message(paste(unlist(line), collapse = "  "))
}
versions <- vapply(Filter(function(p) requireNamespace(p, quietly = TRUE), packages),
                   function(p) as.character(utils::packageVersion(p)), "")
info <- list(R = R.version.string, blas = sessionInfo()$BLAS, packages = as.list(versions),
             processor = sub(".*: ", "", grep("model name", readLines("/proc/cpuinfo"), value = TRUE)[1]),
             cores = parallel::detectCores())
if (length(arguments)) {
  quoted <- function(value) if (is.numeric(value)) format(value, digits = 6) else dQuote(value, FALSE)
  object <- function(list) paste0("{", paste0(dQuote(names(list), FALSE), ": ", vapply(list, quoted, ""), collapse = ", "), "}")
  writeLines(c("{", paste0("\"machine\": ", object(c(info[names(info) != "packages"], info$packages)), ","), "\"jobs\": [",
               paste(vapply(lines, object, ""), collapse = ",\n"), "]}"), arguments[1])
}
