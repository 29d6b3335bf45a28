"""What row_means.cpp should compute."""


def reference(values, rows, width):
    return [2 * sum(values[i * width:(i + 1) * width]) / max(width, 1) for i in range(rows)]
