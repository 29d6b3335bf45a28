#!/usr/bin/env python3
"""How well features without edges predict the labels: a perceptron with one hidden layer, trained on the nodes alone.

    benchmarks/features_alone.py data/STORE [--epochs 20] [--hidden 256] [--batch-size 1024] [--lr 0.003] [--seed 1]

Prints the validation and test accuracy at the epoch with the best validation. STORE is what salient-prepare wrote.
Needs NumPy and PyTorch. The accuracy of a graph network has to be compared with this one.
"""
import argparse
import pathlib

import numpy as np
import torch
from torch.nn import functional as F


def accuracy(model, x, y):
    with torch.no_grad():
        parts = [model(rows.float()).argmax(1) for rows in x.split(1 << 16)]
    return (torch.cat(parts) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    features = np.load(args.store / "features.npy", mmap_mode="r")
    labels = np.load(args.store / "labels.npy", mmap_mode="r")
    split = {}
    for name in ("train", "valid", "test"):
        ids = np.load(args.store / f"{name}.npy")
        split[name] = (torch.from_numpy(features[ids]).to(device), torch.from_numpy(labels[ids]).long().to(device))

    x, y = split["train"]
    model = torch.nn.Sequential(torch.nn.Linear(x.shape[1], args.hidden), torch.nn.ReLU(), torch.nn.Dropout(0.5),
                                torch.nn.Linear(args.hidden, int(labels.max()) + 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = (0.0, 0.0)
    for _ in range(args.epochs):
        model.train()
        for rows in torch.randperm(len(x), device=device).split(args.batch_size):
            optimizer.zero_grad()
            F.cross_entropy(model(x[rows].float()), y[rows]).backward()
            optimizer.step()
        model.eval()
        best = max(best, tuple(accuracy(model, *split[name]) for name in ("valid", "test")))
    print(f"{args.store.name}: features alone, {len(x)} training nodes: valid {best[0]:.4f} test {best[1]:.4f}")


if __name__ == "__main__":
    main()
