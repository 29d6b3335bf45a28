// workbench/backend/cuda_helpers.h - the referee's own device code, as PTX: the driver compiles it, without a toolkit.
#pragma once

namespace salient::workbench {

/// salient_dirty fills a block's shared memory, so that no candidate finds zeros there; salient_read reads `words`
/// times 16 bytes at `from`, whose sum by exclusive or is 0, as lines that stay, so that the cache holds nothing else,
/// also no lines of a candidate that were to stay, and gives them their usual priority again; salient_copy copies
/// `words` times 16 bytes; salient_clock writes cycles, nanoseconds and its multiprocessor's number, of 64 bits each.
inline constexpr const char* kHelperPtx = R"(.version 7.4
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dirt[];
.visible .entry salient_dirty(.param .u32 bytes, .param .u32 value)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [bytes];
  ld.param.u32 %r2, [value];
  mov.u32 %r3, %tid.x;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, %ntid.x;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, dirt;
L1:
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra L2;
  add.u32 %r6, %r5, %r3;
  st.volatile.shared.u32 [%r6], %r2;
  add.u32 %r3, %r3, %r4;
  bra L1;
L2:
  ret;
}
.visible .entry salient_read(.param .u64 from, .param .u64 words, .param .u64 sink)
{
  .reg .pred %p<3>;
  .reg .b32 %r<16>;
  .reg .b64 %d<12>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [words];
  ld.param.u64 %d3, [sink];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %d4, %r4;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r6, %r5, %r2;
  cvt.u64.u32 %d5, %r6;
  mov.u32 %r11, 0;
  mov.b64 %d8, %d4;
  createpolicy.fractional.L2::evict_last.b64 %d9, 1.0;
L3:
  setp.ge.u64 %p1, %d4, %d2;
  @%p1 bra L4;
  shl.b64 %d6, %d4, 4;
  add.u64 %d7, %d1, %d6;
  ld.global.L2::cache_hint.v4.u32 {%r7, %r8, %r9, %r10}, [%d7], %d9;
  xor.b32 %r11, %r11, %r7;
  xor.b32 %r11, %r11, %r8;
  xor.b32 %r11, %r11, %r9;
  xor.b32 %r11, %r11, %r10;
  add.u64 %d4, %d4, %d5;
  bra L3;
L4:
  shr.u64 %d10, %d2, 3;
L8:
  setp.ge.u64 %p1, %d8, %d10;
  @%p1 bra L9;
  shl.b64 %d6, %d8, 7;
  add.u64 %d7, %d1, %d6;
  applypriority.global.L2::evict_normal [%d7], 128;
  add.u64 %d8, %d8, %d5;
  bra L8;
L9:
  setp.eq.u32 %p2, %r11, 0;
  @%p2 bra L5;
  st.global.u32 [%d3], %r11;
L5:
  ret;
}
.visible .entry salient_copy(.param .u64 from, .param .u64 words, .param .u64 to)
{
  .reg .pred %p<2>;
  .reg .b32 %r<16>;
  .reg .b64 %d<12>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [words];
  ld.param.u64 %d3, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %d4, %r4;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r6, %r5, %r2;
  cvt.u64.u32 %d5, %r6;
L6:
  setp.ge.u64 %p1, %d4, %d2;
  @%p1 bra L7;
  shl.b64 %d6, %d4, 4;
  add.u64 %d7, %d1, %d6;
  add.u64 %d8, %d3, %d6;
  ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%d7];
  st.global.v4.u32 [%d8], {%r7, %r8, %r9, %r10};
  add.u64 %d4, %d4, %d5;
  bra L6;
L7:
  ret;
}
.visible .entry salient_clock(.param .u64 to)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [to];
  mov.u64 %d2, %clock64;
  mov.u64 %d3, %globaltimer;
  mov.u32 %r1, %smid;
  cvt.u64.u32 %d4, %r1;
  st.global.u64 [%d1], %d2;
  st.global.u64 [%d1+8], %d3;
  st.global.u64 [%d1+16], %d4;
  ret;
}
)";

}  // namespace salient::workbench
