# python/examples/pyg_script.py - a script for PyG's NeighborLoader that trains with salient_gnn's: one import differs.
"""    python3 python/examples/pyg_script.py data/wordnet

GraphSAGE trains on sampled batches and predicts layer by layer from all neighbours. Ends with the test accuracy.
"""
import argparse
import copy

import salient_gnn
import torch
import torch.nn.functional as F
from salient_gnn import NeighborLoader  # instead of: from torch_geometric.loader import NeighborLoader
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv


class SAGE(torch.nn.Module):
    def __init__(self, in_channels, hidden_channels, out_channels):
        super().__init__()
        self.convs = torch.nn.ModuleList()
        self.convs.append(SAGEConv(in_channels, hidden_channels))
        self.convs.append(SAGEConv(hidden_channels, out_channels))

    def forward(self, x, edge_index):
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if i < len(self.convs) - 1:
                x = F.dropout(x.relu_(), p=0.5, training=self.training)
        return x

    @torch.no_grad()
    def inference(self, x_all, subgraph_loader, device):
        """All nodes layer by layer: each is computed once."""
        for i, conv in enumerate(self.convs):
            xs = []
            for batch in subgraph_loader:
                x = x_all[batch.n_id.to(x_all.device)].to(device)
                x = conv(x, batch.edge_index.to(device))
                x = x.relu_() if i < len(self.convs) - 1 else x
                xs.append(x[: batch.batch_size].cpu())
            x_all = torch.cat(xs, dim=0)
        return x_all


def train(model, loader, optimizer, device):
    model.train()
    total_loss = total_correct = total_examples = 0
    for batch in loader:
        optimizer.zero_grad()
        y = batch.y[: batch.batch_size].to(device)
        out = model(batch.x.to(device), batch.edge_index.to(device))[: batch.batch_size]
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        total_loss += float(loss.detach()) * batch.batch_size
        total_correct += int((out.argmax(dim=-1) == y).sum())
        total_examples += batch.batch_size
    return total_loss / total_examples, total_correct / total_examples


def data_of(name):
    """Stands for a data set of PyG."""
    dataset = salient_gnn.Dataset.open(name)
    return Data(x=dataset.x.float(), edge_index=dataset.edge_index, y=dataset.y.long(), train_mask=dataset.train_mask,
                val_mask=dataset.val_mask, test_mask=dataset.test_mask)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = data_of(options.dataset)

    kwargs = {"batch_size": 1024, "num_workers": 6, "persistent_workers": True}
    train_loader = NeighborLoader(data, input_nodes=data.train_mask, num_neighbors=[25, 10], shuffle=True, **kwargs)
    subgraph_loader = NeighborLoader(copy.copy(data), input_nodes=None, num_neighbors=[-1], shuffle=False, **kwargs)
    del subgraph_loader.data.x, subgraph_loader.data.y  # not needed
    subgraph_loader.data.num_nodes = data.num_nodes
    subgraph_loader.data.n_id = torch.arange(data.num_nodes)

    torch.manual_seed(0)
    model = SAGE(data.num_features, 256, int(data.y.max()) + 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, options.epochs + 1):
        loss, accuracy = train(model, train_loader, optimizer, device)
        print(f"epoch {epoch}: loss {loss:.4f}, training accuracy {accuracy:.4f}", flush=True)
    model.eval()
    right = model.inference(data.x, subgraph_loader, device).argmax(dim=-1) == data.y
    scores = [float(right[mask].float().mean()) for mask in (data.train_mask, data.val_mask, data.test_mask)]
    print("accuracy: train {:.4f}, validation {:.4f}, test {:.4f}".format(*scores))


if __name__ == "__main__":
    main()
