// tests/workbench/strangers/row_means.cpp - what somebody has: a function, its helper, another one, and a main.
#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

static const float kNothing = 0.0f;

static float total(const float* row, int width) {
  float sum = kNothing;
  for (int j = 0; j < width; ++j) sum += row[j];
  return sum;
}

void row_means(float* means, const float* values, int rows, int width, float scale) {
  for (int i = 0; i < rows; ++i) means[i] = scale * total(values + static_cast<long>(i) * width, width) / width;
}

void fill(float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i));
}

int main() {
  std::vector<float> values(1024 * 64), means(1024);
  fill(values.data(), 1024 * 64);
  row_means(means.data(), values.data(), 1024, 64, 1.0f);
  std::cout << means[0] << "\n";
}
