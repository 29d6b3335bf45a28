# workbench/python/language_words.py - what source_gate.py lets through, language by language.
"""Nothing here runs code of its own, opens files, reads a clock or writes assembly."""
import dataclasses
import typing


def words(text):
    return set(text.split())


@dataclasses.dataclass(frozen=True)
class Words:
    imports: tuple       # (module, alias or None)
    decorators: tuple    # of kernels and of what they call
    members: dict        # by module: what is taken from it
    attributes: set      # of everything else
    annotations: typing.Optional[tuple]  # names of types; None: any expression that a kernel may have
    constants: tuple = ()    # functions whose results may be constants of the module
    has_blocks: bool = False
    has_assembly: bool = False  # in texts, which become PTX and are judged there
    denied_keywords: frozenset = frozenset()  # arguments whose texts become code


TYPES = words("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64")
MATHS = words("abs ceil cos erf exp exp2 floor log log2 max maximum min minimum rsqrt sigmoid sin sqrt sum tanh where")

TRITON = TYPES | MATHS - words("tanh") | words("""
    constexpr static_assert static_range range program_id num_programs cdiv arange zeros full zeros_like cat join split
    interleave broadcast broadcast_to expand_dims permute trans reshape ravel view flip gather load store make_block_ptr
    advance dot dot_scaled clamp div_rn fdiv fma softmax sqrt_rn umulhi argmax argmin reduce xor_sum associative_scan
    cumprod cumsum histogram sort topk swizzle2d cast atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or
    atomic_xchg atomic_xor debug_barrier max_constancy max_contiguous multiple_of assume inline_asm_elementwise rand
    randn randint pointer_type tensor int1 float8e4nv float8e5
    """)
CUTE = words("""
    Pointer Tensor TensorSSA Layout ReductionOp arch math nvgpu make_tensor make_layout make_ordered_layout
    make_identity_tensor make_identity_layout make_fragment make_rmem_tensor make_fragment_like make_rmem_tensor_like
    local_tile local_partition zipped_divide tiled_divide logical_divide flat_divide composition coalesce select slice_
    domain_offset get size cosize rank depth ceil_div copy basic_copy autovec_copy gemm make_tiled_copy
    make_tiled_copy_tv make_copy_atom make_tiled_mma make_mma_atom recast_tensor recast_ptr full full_like zeros_like
    where any_ all_ elem_less E flatten group_modes append prepend filter_zeros crd2idx
    """)
CUTLASS = words("""
    Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64 Float16 BFloat16 Float32 Float64 Boolean Constexpr const_expr
    range range_constexpr dynamic_expr
    """)
CUTE_ATTRIBUTES = MATHS | words("""
    thread_idx block_idx grid_dim block_dim lane_idx warp_idx sync_threads sync_warp barrier fence_acq_rel_cta
    shuffle_sync shuffle_sync_down shuffle_sync_up shuffle_sync_bfly warp_reduction_max warp_reduction_sum alloc_smem
    make_warp_uniform cp_async_commit_group cp_async_wait_group fmax rcp_approx exp10 log10 fma atan acos asin
    element_type shape layout stride iterator load store to fill ir_value reduce reshape broadcast_to apply_op dtype
    type ADD MUL MAX MIN value toint align memspace size get_slice partition_S partition_D partition_A partition_B
    partition_C partition_shape_A partition_shape_B partition_shape_C make_fragment_A make_fragment_B make_fragment_C
    retile cpasync warp warpgroup CopyUniversalOp CopyG2SOp LdMatrix8x8x16bOp StMatrix8x8x16bOp MmaF16BF16Op
    MmaUniversalOp
    """)
TILELANG = TYPES | MATHS | words("""
    prim_func macro Kernel Tensor Buffer Parallel Pipelined serial unroll vectorized Persistent alloc_shared
    alloc_fragment alloc_local alloc_var alloc_reducer copy gemm fill clear reduce_sum reduce_max reduce_min
    reduce_abssum reduce_absmax cumsum finalize_reducer ceildiv floordiv floormod truncdiv truncmod dynamic cast
    if_then_else Cast infinity pow fabs clamp min_value max_value atomic_add atomic_addx2 atomic_max atomic_min
    use_swizzle annotate_layout annotate_safe_value sync_threads GemmWarpPolicy bitwise_and bitwise_or bitwise_xor
    shift_left shift_right get_thread_binding get_block_binding float exp10 log10 atan loop_break int uint reinterpret
    dp4a
    """)
CUTILE = TYPES | MATHS | words("""
    kernel function Constant Array bid num_blocks num_tiles load store gather scatter cdiv arange zeros ones full
    zeros_like ones_like full_like astype bitcast broadcast_to reshape permute transpose expand_dims cat extract mma
    matmul add sub mul truediv floordiv mod pow negative isnan isfinite isinf argmax argmin cumsum cumprod prod reduce
    scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor bitwise_and bitwise_or
    bitwise_xor bitwise_not bitwise_lshift bitwise_rshift greater greater_equal less less_equal equal not_equal
    PaddingMode MemoryOrder MemoryScope RoundingMode static_eval static_iter static_assert tfloat32 bool_ floor sinh
    cosh tan atan2 rand
    """)

WORDS = {
    "triton": Words(imports=(("triton", None), ("triton.language", "tl")), decorators=("triton.jit",),
                    members={"triton": set(), "tl": TRITON}, annotations=("tl.constexpr",),
                    constants=("tl.constexpr",), has_assembly=True,
                    attributes=TRITON - words("static_range constexpr") | words(
                        "to dtype element_ty shape type T numel primitive_bitwidth value logical_and logical_or")),
    "cute-dsl": Words(imports=(("cutlass", None), ("cutlass.cute", "cute")), decorators=("cute.kernel", "cute.jit"),
                      members={"cutlass": CUTLASS, "cute": CUTE}, annotations=None, attributes=CUTE_ATTRIBUTES),
    "tilelang": Words(imports=(("tilelang", None), ("tilelang.language", "T")), decorators=("T.prim_func", "T.macro"),
                      members={"tilelang": set(), "T": TILELANG}, annotations=None, constants=("T.dynamic",),
                      attributes=words("shape dtype astype Square FullRow FullCol"), has_blocks=True,
                      denied_keywords=frozenset(["prelude"])),
    "cutile": Words(imports=(("cuda.tile", "ct"),), decorators=("ct.kernel", "ct.function"),
                    members={"ct": CUTILE}, annotations=None,
                    attributes=TYPES | words("shape dtype ndim astype item reshape permute ZERO NAN NEG_INF POS_INF "
                                             "UNDETERMINED NEG_ZERO tiled_view load store num_tiles slice RELAXED "
                                             "ACQUIRE RELEASE ACQ_REL BLOCK DEVICE")),
}
