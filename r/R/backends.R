frame_of <- function(rows) do.call(rbind, lapply(rows, as.data.frame))

#' What the package can run on
#'
#' @return `backends()`: a data frame of the CPU and CUDA, and why one is not usable. `has_cuda()`:
#'   whether a call can run on a GPU. `devices()`: a data frame of the GPUs.
#' @examples
#' backends()
#' has_cuda()
#' @export
backends <- function() frame_of(answer_of(.Call(C_backends)))

#' @rdname backends
#' @export
has_cuda <- function() {
  known <- backends()
  any(known$usable[known$name == "cuda"])
}

#' @rdname backends
#' @export
devices <- function() {
  found <- answer_of(.Call(C_devices))
  if (length(found)) return(frame_of(found))
  data.frame(ordinal = numeric(), name = character(), compute_capability = character(),
             memory_bytes = numeric(), code = character())
}
