// workbench/cases/kernels/sample_without_replacement.cpp - start kernel: a node a block, the algorithm of Floyd.
// launch sample block=1 grid=n
#include "workbench_kernel.h"

struct Block {
  unsigned word[4];
};

static Block philox(unsigned key0, unsigned key1, unsigned c0, unsigned c1, unsigned c2, unsigned c3) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned>(b >> 32) ^ c1 ^ key0;
    c2 = static_cast<unsigned>(a >> 32) ^ c3 ^ key1;
    c1 = static_cast<unsigned>(b);
    c3 = static_cast<unsigned>(a);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

struct Draws {
  unsigned seed, epoch, node, hop, batch;

  /// Draw number p, uniform in [0, bound).
  unsigned below(unsigned p, unsigned bound) const {
    for (unsigned at = p / 4;; at += 65536) {
      const unsigned long long product =
          static_cast<unsigned long long>(philox(seed, epoch, node, hop, batch, at).word[p % 4]) * bound;
      if (static_cast<unsigned>(product) >= (0u - bound) % bound) return static_cast<unsigned>(product >> 32);
    }
  }
};

static void sample_row(const unsigned* row, unsigned degree, unsigned fanout, const Draws& draws, unsigned none,
                       unsigned* kept, int* count) {
  const unsigned kept_count = degree < fanout ? degree : fanout;
  *count = static_cast<int>(kept_count);
  for (unsigned p = 0; p < kept_count; ++p) {
    const unsigned last = degree - kept_count + p;
    unsigned choice = degree <= fanout ? p : draws.below(p, last + 1);
    if (degree > fanout)
      for (unsigned q = 0; q < p; ++q)
        if (kept[q] == choice) {
          choice = last;
          break;
        }
    kept[p] = choice;
  }
  for (unsigned p = 0; p < kept_count; ++p) kept[p] = row[kept[p]];
  for (unsigned p = kept_count; p < fanout; ++p) kept[p] = none;
}

extern "C" void sample(WorkbenchBlock block, const int* indptr, const unsigned* indices, const unsigned* dst,
                       unsigned* kept, int* count, long long nodes, long long edges, long long n, long long fanout,
                       long long seed, long long epoch, long long hop, long long batch) {
  (void)edges, (void)n;
  const long long i = block.x;
  const unsigned node = dst[i];
  const Draws draws{static_cast<unsigned>(seed), static_cast<unsigned>(epoch), node, static_cast<unsigned>(hop),
                    static_cast<unsigned>(batch)};
  sample_row(indices + indptr[node], static_cast<unsigned>(indptr[node + 1] - indptr[node]),
             static_cast<unsigned>(fanout), draws, static_cast<unsigned>(nodes), kept + i * fanout, count + i);
}
