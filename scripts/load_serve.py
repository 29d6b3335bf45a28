#!/usr/bin/env python3
# scripts/load_serve.py - asks salient-serve for random nodes at a given rate, and prints latencies and throughput.
"""    load_serve.py http://127.0.0.1:8080 --nodes-of-dataset 82115 [--rate 50] [--seconds 30] [--connections 8]
                    [--nodes 1]

--rate 0 asks as fast as the connections allow (closed loop). Otherwise requests have fixed times of arrival, and a
latency counts from there: a server that stalls does not slow the clock that it is measured by.
"""
import argparse
import http.client
import json
import queue
import random
import threading
import time
import urllib.parse


def ask(connection, nodes):
    connection.request("POST", "/predict", json.dumps({"nodes": nodes, "nodes_by": "row"}))
    response = connection.getresponse()
    response.read()
    return response.status


class Load:
    def __init__(self, options):
        self.options, self.address = options, urllib.parse.urlparse(options.url)
        self.due, self.latencies, self.failed = queue.Queue(), [], 0
        self.end = time.monotonic() + options.seconds

    def nodes(self, draw):
        return [draw.randrange(self.options.nodes_of_dataset) for _ in range(self.options.nodes)]

    def work(self, seed):
        draw = random.Random(seed)
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=30)
        while True:
            begin = self.due.get() if self.options.rate else time.monotonic()
            if begin is None or begin > self.end:
                return
            try:
                is_good = ask(connection, self.nodes(draw)) == 200
            except (OSError, http.client.HTTPException):
                connection.close()
                is_good = False
            if is_good:
                self.latencies.append(time.monotonic() - begin)
            else:
                self.failed += 1

    def run(self):
        threads = [threading.Thread(target=self.work, args=(i,)) for i in range(self.options.connections)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        if self.options.rate:
            for i in range(int(self.options.rate * self.options.seconds)):
                at = begin + i / self.options.rate
                time.sleep(max(0, at - time.monotonic()))
                self.due.put(at)
            for _ in threads:
                self.due.put(None)
        for thread in threads:
            thread.join()
        return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--nodes-of-dataset", type=int, required=True, help="how many the data set has")
    parser.add_argument("--rate", type=float, default=50, help="requests a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=1, help="in a request")
    load = Load(parser.parse_args())
    load.seconds = load.run()
    found = sorted(load.latencies) or [float("nan")]
    at = lambda share: 1000 * found[min(len(found) - 1, int(share * len(found)))]
    print(f"{len(load.latencies)} answers in {load.seconds:.1f} s, {len(load.latencies) / load.seconds:.1f} a second, "
          f"{load.failed} failed; ms: p50 {at(0.5):.2f}, p90 {at(0.9):.2f}, p99 {at(0.99):.2f}, max {at(1):.2f}")


if __name__ == "__main__":
    main()
