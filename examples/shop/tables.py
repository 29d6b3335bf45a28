#!/usr/bin/env python3
"""Tables as a shop has them, generated: edges.csv, who recommended whom, and customers.csv, what is known of them.

    tables.py [--customers 5000] [--seed 0]       into the working directory

Customers are of four segments, 40 % of them unknown. They recommend customers of their own segment, mostly; age and
income depend on it a little, country and newsletter not at all. Two customers came later: new_customers.csv, without a
segment, one from a country that no other is from and without an age, and new_edges.csv.
"""
import argparse
import math
import random

SEGMENTS, COUNTRIES = ("retail", "premium", "business", "dormant"), ("DE", "FR", "US", "JP")


def write(folder, count, seed):
    draw = random.Random(seed)
    segments = [draw.randrange(4) for _ in range(count)]
    ids = [f"cust-{i:05d}" for i in range(count)]
    draw.shuffle(ids)
    of_segment = [[v for v in range(count) if segments[v] == k] for k in range(4)]
    with open(f"{folder}/edges.csv", "w") as out:
        out.write("customer,recommended,amount,date\n")
        for _ in range(6 * count):
            v = draw.randrange(count)
            u = draw.choice(of_segment[segments[v]]) if draw.random() < 0.7 else draw.randrange(count)
            out.write(f"{ids[v]},{ids[u]},{draw.gammavariate(2, 30):.2f},2024-03-{draw.randrange(1, 29):02d}\n")
    with open(f"{folder}/customers.csv", "w") as out:
        out.write("customer_id,country,age,income,newsletter,segment\n")
        for v in range(count):
            age = "" if draw.random() < 0.05 else f"{30 + 8 * segments[v] + draw.gauss(0, 12):.0f}"
            income = f"{math.exp(10 + 0.2 * segments[v] + draw.gauss(0, 0.6)):.2f}"
            segment = "" if draw.random() < 0.4 else SEGMENTS[segments[v]]
            out.write(f"{ids[v]},{draw.choice(COUNTRIES)},{age},{income},{draw.random() < 0.5},{segment}\n")
    with open(f"{folder}/new_customers.csv", "w") as out:
        out.write("customer_id,country,age,income,newsletter\nnew-1,SE,,21000.5,True\nnew-2,DE,46,32900,False\n")
    with open(f"{folder}/new_edges.csv", "w") as out:
        out.write("customer,recommended\n")
        for name, segment in (("new-1", 0), ("new-2", 2)):
            out.writelines(f"{name},{ids[v]}\n" for v in of_segment[segment][:5])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--customers", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    write(".", wanted.customers, wanted.seed)
