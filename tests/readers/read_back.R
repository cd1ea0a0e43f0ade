# Reads the files that r_test.sh wrote, in the way that docs/command.md shows, and by R's defaults, and holds
# the number of rows, the names and the numbers to the lines of the file.
given <- readLines("names.txt", encoding = "UTF-8")
rows <- length(given)
failed <- FALSE
expect <- function(is_right, ...) {
  if (!isTRUE(is_right)) {
    cat("FAILED:", ..., "\n")
    failed <<- TRUE
  }
}
lines_of <- function(file) length(readLines(file)) - 1
read_exactly <- function(read, file, ..., sep = "\t") {
  read(file, header = TRUE, sep = sep, quote = "\"", comment.char = "", na.strings = "NaN",
       check.names = FALSE, encoding = "UTF-8", ...)
}

name_columns <- list(edges = 1:2, "top-k" = c(1, 3), dense = 1, counts = 1)
for (keep in names(name_columns)) {
  file <- paste0(keep, ".tsv")
  for (reader in c("read.delim", "read.table")) {
    classes <- rep(NA, length(strsplit(readLines(file, 1), "\t")[[1]]))
    classes[name_columns[[keep]]] <- "character"
    table <- read_exactly(get(reader), file, colClasses = classes)
    expect(nrow(table) == lines_of(file), reader, "found", nrow(table), "rows of", lines_of(file), "in", file)
    for (column in name_columns[[keep]]) {
      expect(all(table[[column]] %in% given), reader, "found other names in", file, ":",
             setdiff(table[[column]], given))
    }
    # R takes a column of nothing but NaN, that of the constant row, for one of logical values.
    is_number <- function(column) is.numeric(column) || all(is.na(column))
    expect(all(vapply(table[-name_columns[[keep]]], is_number, TRUE)), reader, "found text for numbers in", file)
  }
}
edges <- read_exactly(read.delim, "edges.tsv", colClasses = c("character", "character", NA, NA))
expect(nrow(edges) > 20, "only", nrow(edges), "edges to read")
# Each name is there, also those that look like something else; a constant row has no edge.
expect(setequal(unlist(edges[1:2]), setdiff(given, "constant row")), "names are missing or too many:",
       setdiff(given, unlist(edges[1:2])))
dense <- read_exactly(read.delim, "dense.tsv", row.names = 1)
expect(identical(dim(dense), c(rows, rows)), "a dense table of", dim(dense))
expect(identical(names(dense), given), "other names of columns")
# The defaults of both readers.
plain <- read.delim("edges.tsv")
expect(nrow(plain) == nrow(edges), "read.delim by its defaults found", nrow(plain), "rows of", nrow(edges))
plain <- read.table("edges.tsv", header = TRUE, sep = "\t")
expect(nrow(plain) == nrow(edges), "read.table by its defaults found", nrow(plain), "rows of", nrow(edges))
# As comma-separated values, where names have commas and quotes too: the same edges, read exactly and by defaults.
csv <- read_exactly(read.csv, "edges.csv", colClasses = c("character", "character", NA, NA), sep = ",")
expect(identical(csv, edges), "read.csv found other edges than read.delim:", nrow(csv), "of", nrow(edges))
plain <- read.csv("edges.csv")
expect(nrow(plain) == nrow(edges), "read.csv by its defaults found", nrow(plain), "rows of", nrow(edges))
# q against R's own adjustment of all p. The p of the file have six digits.
near <- function(got, wanted) all(abs(got - wanted) <= 1e-5 * wanted)
key <- function(table) paste(table[[1]], table[[2]], sep = "\t")
for (way in c("BH", "bonferroni")) {
  q <- if (way == "BH") read.csv("q.csv", na.strings = "NaN") else read.delim("bonferroni.tsv", na.strings = "NaN")
  all_q <- p.adjust(edges$p, way)
  expect(nrow(q) == sum(all_q <= 0.9), way, "kept", nrow(q), "edges, p.adjust", sum(all_q <= 0.9))
  expect(nrow(q) > 0 && near(q$q, all_q[match(key(q), key(edges))]), way, "other q than p.adjust")
}
if (failed) quit(status = 1)
