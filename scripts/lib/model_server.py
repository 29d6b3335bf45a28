"""llama.cpp's server with the model argv[1], on a free port of 127.0.0.1, until standard input ends.

Its URL is the one line on standard output, once the model is loaded. See scripts/workbench_model.sh.
"""
import os
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.n_ctx = 8192  # what the model was trained with
parameters.n_parallel = 1
# Its threads spin while they wait for each other: on all cores they are slow as soon as anything else runs.
threads = max(1, len(os.sched_getaffinity(0)) // 2)
parameters.cpuparams.n_threads = threads
parameters.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)  # a request that is under way is not waited for
