"""Stands in for KernelBench's evaluator on a machine without a GPU: the same call and result, and a referee as many are
written: one shape, normal inputs, a tolerance, and a clock in the candidate's process."""
import time
import types

import torch


def eval_kernel_against_ref(original_model_src, custom_model_src, seed_num=42, num_correct_trials=1, num_perf_trials=10,
                            measure_performance=False):
    reference, custom = {}, {}
    exec(original_model_src, reference)
    result = types.SimpleNamespace(compiled=True, correctness=False, metadata={}, runtime=-1.0, ref_runtime=-1.0)
    try:
        exec(custom_model_src, custom)
    except Exception as error:
        result.compiled, result.metadata = False, {"compilation_error": error}
        return result
    model, model_new = reference["Model"](), custom["ModelNew"]()
    for trial in range(num_correct_trials):
        torch.manual_seed(seed_num + trial)
        inputs = reference["get_inputs"]()
        output = model(*inputs)
        output_new = model_new(*inputs)
        if output.shape != output_new.shape or not torch.allclose(output, output_new, atol=1e-2, rtol=1e-2):
            result.metadata = {"correctness_issue": "Output mismatch"}
            return result
    result.correctness = True
    if measure_performance:
        result.ref_runtime, result.runtime = (mean_time(one, inputs, num_perf_trials) for one in (model, model_new))
    return result


def mean_time(model, inputs, trials):
    begin = time.perf_counter()
    for _ in range(trials):
        model(*inputs)
    return 1000 * (time.perf_counter() - begin) / trials
