// workbench/app/kernel_options.h - the options of salient-kernels. One struct; each verb says which of them it reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/options/options.h"

namespace salient::workbench {

struct KernelOptions {
  std::string backend = "auto";
  std::string method = "cutegen";
  std::string generator{};
  int rounds = 0;
  int repairs = 5;
  int width = 3;
  std::string profile = "late";
  std::string language{};
  std::vector<std::string> roles = {"planner", "coder", "tester", "profiler"};
  double budget_s = 0;
  std::int64_t budget_tokens = 0;
  double budget_cost = 0;
  double price_asked = 0;
  double price_answered = 0;
  double stop_at = 0;
  std::string out{};
  std::string from{};
  std::string kernel{};
  std::vector<std::string> template_arguments{};
  std::string formula{};
  std::string reference{};
  std::string buffers{};
  std::string shapes{};
  bool fixed = false;
  std::vector<std::string> set{};
  std::string grid{};
  std::string block{};
  std::string bytes{};
  std::string flops{};
  std::string python = "python3";
  std::string as = "torch";
  std::string harness{};
  std::string kit{};
  std::vector<std::string> only{};
  std::string command{};
  std::string folder{};
  std::string recorded{};
  std::string endpoint{};
  std::string model{};
  std::string key_env = "OPENAI_API_KEY";
  double answer_s = 600;
  int tries = 3;
  double temperature = -1;
  int max_tokens = 0;
  std::string token_field = "max_tokens";
  std::string author{};
  int samples = 20;
  double run_s = 20;
  std::uint64_t seed = 0;
  std::string nvcc = "nvcc";
  std::string cute{};
  std::string lowered{};
  std::string nvdisasm = "nvdisasm";
  std::string architecture{};
  std::string baselines{};
  bool public_shapes = false;
  bool compile = false;
  bool again = false;
  std::string head{};
  std::string workbench_dir{};
  options::HelpTopic help{};
};

/// Of new, import, export and attack.
template <class Self, class Visit>
void visit_fields_of_own_kernels(Self& self, Visit&& field) {
  field("from", self.from, "new: source with the kernel, CUDA (.cu) or C++");
  field("kernel", self.kernel, "new: its name; empty = the only one");
  field("template", self.template_arguments, "new: arguments of a kernel that is a template");
  field("formula", self.formula,
        "new: what is right, as 'out[i] = x[i] / (1 + abs(x[i]))'; several with ; between them");
  field("reference", self.reference, "new: what is right, as a Python file, or 'FILE FUNCTION'");
  field("buffers", self.buffers, "new: elements, as 'x=m*k; indices=edges index rows; y=inout n'");
  field("shapes", self.shapes, "new: sizes that are timed, as 'm=512 n=512; m=64 n=4096'");
  field("fixed", self.fixed, "new: the kernel is for these shapes alone, no others are tested");
  field("set", self.set, "new: parameters that are no sizes, as alpha=0.5,causal=1");
  field("grid", self.grid, "new: blocks of a launch; empty = of the source, or asked");
  field("block", self.block, "new: threads of a block; likewise");
  field("bytes", self.bytes, "new: least bytes that are moved; empty = of the buffers");
  field("flops", self.flops, "new: least operations; empty = one of each output");
  field("python", self.python, "interpreter of references that are Python files, and of languages in Python");
  field("as", self.as, "export: torch | kernels | tvm-ffi | cpp");
  field("harness", self.harness, "attack: a shell command that judges, by the protocol of docs/KERNELS.md");
  field("kit", self.kit, "attack: folder of cheats; empty = the workbench's");
  field("only", self.only, "attack: these of the kit; empty = all");
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, KernelOptions>
void visit_fields(Self& self, Visit&& field) {
  field("backend", self.backend, "auto | host | cuda; auto takes a GPU where there are one, its driver and nvcc");
  field("method", self.method, "optimize: cutegen | astra | single | beam | mcts");
  field("generator", self.generator, "optimize: command | folder | openai | replay; needed");
  field("rounds", self.rounds, "optimize: depths, rounds or requests; 0 = the method's own, 10, 5 or 12");
  field("repairs", self.repairs, "optimize: of one depth of cutegen");
  field("width", self.width, "optimize: of beam, parents at a time; of mcts, children before it goes deeper");
  field("profile", self.profile, "optimize: from-start | late | never: when prompts hold measurements");
  field("language", self.language,
        "optimize: host | cuda | cute | ptx | triton | cute-dsl | tilelang | cutile; empty = by the back end");
  field("roles", self.roles, "optimize: those of astra that take part; coder is needed");
  field("budget-s", self.budget_s, "optimize, advance: seconds after which the run is left open; 0 = no limit");
  field("budget-tokens", self.budget_tokens,
        "optimize, advance: tokens of requests and answers, as the endpoint counts them, after which the run is left "
        "open; 0 = no limit");
  field("budget-cost", self.budget_cost,
        "optimize, advance: money, by the prices of tokens, after which the run is left open; 0 = no limit");
  field("price-asked", self.price_asked, "optimize: of a million tokens of requests, for the record; 0 = not said");
  field("price-answered", self.price_answered, "optimize: of a million tokens of answers; likewise");
  field("stop-at", self.stop_at, "optimize: per cent of the measured bound at which the run ends; 0 = not by that");
  field("out", self.out,
        "optimize: run folder; others: the file or folder to write; empty = below runs/kernels, in the run, here");
  visit_fields_of_own_kernels(self, field);
  field("command", self.command, "generator command: a shell command, request on its input, answer on its output");
  field("folder", self.folder, "generator folder: of requests and answers; empty = answers/ in the run folder");
  field("recorded", self.recorded, "generator replay: the run whose answers are given again");
  field("endpoint", self.endpoint, "generator openai: URL up to /v1");
  field("model", self.model, "generator openai: name of the model");
  field("key-env", self.key_env, "generator openai: environment variable with the key; may be unset");
  field("answer-s", self.answer_s, "seconds that one answer may take");
  field("tries", self.tries, "generator openai: for time-outs and overload");
  field("temperature", self.temperature, "generator openai: 0 to 2; -1 = not sent, the model's own");
  field("max-tokens", self.max_tokens, "generator openai: of one answer; 0 = not sent, the model's own");
  field("token-field", self.token_field,
        "generator openai: name of that field: max_tokens | max_completion_tokens, which newer models want");
  field("author", self.author,
        "optimize, advance: who writes the answers, for the record: a model and its version, or a person");
  field("samples", self.samples, "per kernel and shape, an even number");
  field("run-s", self.run_s, "seconds that one run of a candidate may take");
  field("seed", self.seed, "of inputs; 0 = fresh for every check");
  field("public-shapes", self.public_shapes, "run: on the shapes that are timed; else on small ones of every kind");
  field("nvcc", self.nvcc, "back end cuda: the compiler");
  field("cute", self.cute,
        "back end cuda: folder of CuTe's headers; empty = those of the bundle or of setup.sh --workbench");
  field("lowered", self.lowered,
        "back end cuda: folder that keeps what compilers in Python made, for machines without them");
  field("nvdisasm", self.nvdisasm, "back end cuda: the disassembler, which cuTile needs");
  field("architecture", self.architecture, "lower: of the GPU, such as sm_90a; empty = of the one at hand");
  field("again", self.again, "advance: judge the IMPOSSIBLE candidate that stopped the run once more, and go on");
  field("compile", self.compile, "replay: also compile every candidate again, without a GPU, and compare");
  field("baselines", self.baselines, "report: file of scripts/workbench_baselines.py");
  field("head", self.head, "verify-ledger: the hash that its last record must have, as an earlier call printed it");
  field("workbench-dir", self.workbench_dir,
        "folder with cases/ and prompts/; empty = of the bundle, or what this was built from");
  field("help", self.help, "print this and stop");
}

}  // namespace salient::workbench
