# workbench/suites/graph/references.py - what is right for each problem of the graph suite, in PyTorch.
"""One function for each case: tensors that are read, in the case's order, then sizes that no shape shows. Offsets of a
list of edges are `indptr`; where layers attend to a row itself, row i has the edges indptr[i] + i to indptr[i + 1] + i,
the last one from i. write_suite.py puts each function into its definition, with the functions that it calls."""
import torch


def row_of_edges(indptr):
    indptr = indptr.long()
    return torch.repeat_interleave(torch.arange(len(indptr) - 1, device=indptr.device), indptr.diff())


def sums_of_rows(terms, row, rows):
    return torch.zeros((rows, *terms.shape[1:]), dtype=terms.dtype, device=terms.device).index_add_(0, row, terms)


def means_of_rows(x, indptr, indices):
    counts = indptr.long().diff().clamp(min=1)
    return sums_of_rows(x[indices.long()], row_of_edges(indptr), len(counts)) / counts[:, None]


def attention_edges(indptr, indices):
    """Numbers of the edges, their sources and rows: those of the lists that are not masked, then each row's own."""
    row, source = row_of_edges(indptr), indices.long()
    own = torch.arange(len(indptr) - 1, device=indptr.device)
    kept = (source != row).nonzero()[:, 0]
    return (torch.cat([kept + row[kept], indptr.long()[1:] + own]), torch.cat([source[kept], own]),
            torch.cat([row[kept], own]))


def largest_of_rows(values, row, rows):
    places = row[:, None].expand_as(values)
    lowest = torch.full((rows, values.shape[1]), -torch.inf, dtype=values.dtype, device=values.device)
    return lowest.scatter_reduce_(0, places, values, "amax")


def philox(key, counter):
    """Philox4x32-10 of Salmon et al. (SC 2011): four words."""
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = ((second >> 32) ^ counter[1] ^ key[0], second & 0xFFFFFFFF, (first >> 32) ^ counter[3] ^ key[1],
                   first & 0xFFFFFFFF)
        key = ((key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF)
    return counter


def draw_below(key, node, hop, batch, draw, bound):
    block = draw // 4
    while True:
        product = philox(key, (node, hop, batch, block))[draw % 4] * bound
        if product & 0xFFFFFFFF >= 2**32 % bound:
            return product >> 32
        block = (block + 65536) & 0xFFFFFFFF


def gather_rows(table, index):
    return table[index.long()]


def gather_mean(x, indptr, indices):
    return means_of_rows(x, indptr, indices)


def weighted_gather_sum(x, weights, indptr, indices):
    return sums_of_rows(weights[:, None] * x[indices.long()], row_of_edges(indptr), len(indptr) - 1)


def typed_mean_sum(x, indptr, indices, relations):
    means = means_of_rows(x, indptr, indices)
    return means.view(-1, relations, x.shape[1]).sum(1)


def segment_mean_backward(grad_out, indptr, indices, sources):
    shares = grad_out / indptr.long().diff().clamp(min=1)[:, None]
    return sums_of_rows(shares[row_of_edges(indptr)], indices.long(), sources)


def sage_layer_forward(x, indptr, indices, wl, wr, bias):
    return means_of_rows(x, indptr, indices) @ wl.T + x[:len(indptr) - 1] @ wr.T + bias


def edge_softmax(logits, indptr):
    row, rows = row_of_edges(indptr), len(indptr) - 1
    terms = torch.exp(logits - largest_of_rows(logits, row, rows)[row])
    return terms / sums_of_rows(terms, row, rows)[row]


def edge_softmax_backward(alpha, indptr, grad_alpha):
    row = row_of_edges(indptr)
    return alpha * (grad_alpha - sums_of_rows(alpha * grad_alpha, row, len(indptr) - 1)[row])


def edge_dot(x, y, source, target):
    return (x[source.long()] * y[target.long()]).sum(1)


def gat_aggregate(weights, h, indptr, indices):
    edge, source, row = attention_edges(indptr, indices)
    return sums_of_rows(weights[edge][:, :, None] * h[source], row, len(indptr) - 1)


def attention_backward(weights, h, indptr, indices, grad_out):
    edge, source, row = attention_edges(indptr, indices)
    grad_weights = torch.zeros_like(weights)
    grad_weights[edge] = (grad_out[row] * h[source]).sum(2)
    return grad_weights, sums_of_rows(weights[edge][:, :, None] * grad_out[row], source, len(h))


def gatv2_backward(z_src, z_dst, att, indptr, indices, grad_logits):
    edge, source, row = attention_edges(indptr, indices)
    z = z_src[source] + z_dst[row]
    slope = torch.where(z > 0, torch.ones_like(z), torch.full_like(z, 0.2))
    of_edge = grad_logits[edge][:, :, None]
    grad_z = of_edge * att * slope
    return (sums_of_rows(grad_z, source, len(z_src)), sums_of_rows(grad_z, row, len(z_dst)),
            (of_edge * z * slope).sum(0))


def out_degrees(indptr, indices, sources):
    return torch.bincount(indices.long(), minlength=sources)


def relabel(ids, limit):
    numbers, local = {}, []
    for one in ids.tolist():
        local.append(numbers.setdefault(int(one), len(numbers)))
    nodes = list(numbers) + (len(local) - len(numbers)) * [limit]
    return torch.tensor(nodes), torch.tensor(local), torch.tensor([len(numbers)])


def sample_without_replacement(indptr, indices, dst, fanout, seed, epoch, hop, batch):
    nodes, offsets, neighbors = len(indptr) - 1, indptr.tolist(), indices.tolist()
    kept, counts = [], []
    for node in map(int, dst.tolist()):
        first, degree = int(offsets[node]), int(offsets[node + 1]) - int(offsets[node])
        chosen = []
        for place in range(min(degree, fanout)):
            last = degree - fanout + place
            choice = place if degree <= fanout else draw_below((seed, epoch), node, hop, batch, place, last + 1)
            chosen.append(last if choice in chosen else choice)
        counts.append(len(chosen))
        kept += [int(neighbors[first + one]) for one in chosen] + (fanout - len(chosen)) * [nodes]
    return torch.tensor(kept).view(len(counts), fanout), torch.tensor(counts)


def top_k(scores, k):
    rows, candidates = scores.shape
    values, places = torch.sort(scores, dim=1, descending=True, stable=True)
    missing = max(k - candidates, 0)
    return (torch.cat([values[:, :k], torch.zeros(rows, missing, dtype=values.dtype, device=values.device)], 1),
            torch.cat([places[:, :k], torch.full((rows, missing), -1, device=values.device)], 1))
