"""x against y by PyTorch on ready unit rows: the product of both and, of each row of x, its best partners.

    against_torch.py [rows_of_x rows_of_y cols k]...

Prints one JSON object a job: median seconds on the device by CUDA events, of products in single and in
half precision. Nothing is ranked, decided or checked: the rows are unit rows already, which for our calls
the preparation makes. The product is taken in pieces of y where it would not fit.
"""

import json
import sys

import torch

REPEATS = 20


def unit_rows(rows: int, cols: int, dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    out = torch.randint(0, 16, (rows, cols), generator=generator, device="cuda").to(torch.float32)
    out -= out.mean(dim=1, keepdim=True)
    out /= out.norm(dim=1, keepdim=True).clamp_min(1e-6)
    return out.to(dtype)


def best(x: torch.Tensor, y: torch.Tensor, k: int) -> torch.Tensor:
    most = max(1, (1 << 31) // max(1, x.shape[0]))
    parts = []
    for first in range(0, y.shape[0], most):
        product = (x @ y[first : first + most].T).abs()
        values, index = product.topk(min(k, product.shape[1]), dim=1)
        parts.append((values, index + first))
    if len(parts) == 1:
        return parts[0][1]
    values = torch.cat([part[0] for part in parts], dim=1)
    index = torch.cat([part[1] for part in parts], dim=1)
    return index.gather(1, values.topk(k, dim=1)[1])


def median_seconds(x: torch.Tensor, y: torch.Tensor, k: int) -> float:
    times = []
    for _ in range(REPEATS + 2):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        best(x, y, k)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return sorted(times[2:])[REPEATS // 2]


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:]] or [1, 10_000_000, 30, 10]
    for first in range(0, len(numbers), 4):
        rows_of_x, rows_of_y, cols, k = numbers[first : first + 4]
        out = {"x": rows_of_x, "y": rows_of_y, "cols": cols, "k": k}
        for name, dtype in (("fp32", torch.float32), ("fp16", torch.float16)):
            x = unit_rows(rows_of_x, cols, dtype, 1)
            y = unit_rows(rows_of_y, cols, dtype, 2)
            out[f"torch_{name}_seconds"] = round(median_seconds(x, y, k), 6)
            del x, y
        out["device"] = torch.cuda.get_device_name()
        out["torch"] = torch.__version__
        print(json.dumps(out))


if __name__ == "__main__":
    main()
