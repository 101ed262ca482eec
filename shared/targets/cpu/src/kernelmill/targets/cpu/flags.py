"""The allow-list of compiler flags. Whatever is not on it is refused, as flags reach files, plugins and linkers."""

import re
from collections.abc import Sequence

EXACT = frozenset(
    """
    -O0 -O1 -O2 -O3 -g0 -fomit-frame-pointer -fno-omit-frame-pointer -fno-math-errno -fno-trapping-math
    -fno-signed-zeros -freciprocal-math -fassociative-math -fno-rounding-math -fno-signaling-nans
    -fexcess-precision=fast -fcx-limited-range -ffp-contract=fast -ffp-contract=off -ffp-contract=on
    -ffinite-math-only -fno-finite-math-only -frounding-math -funroll-loops -fno-unroll-loops
    -funroll-all-loops -fpeel-loops -fno-peel-loops -fopenmp-simd -fopenmp -ftree-vectorize
    -fno-tree-vectorize -ftree-loop-vectorize -fno-tree-loop-vectorize -ftree-slp-vectorize
    -fno-tree-slp-vectorize -fslp-vectorize -fno-slp-vectorize -fvectorize -fno-vectorize
    -fvect-cost-model=unlimited -fvect-cost-model=dynamic -fvect-cost-model=cheap -fvect-cost-model=very-cheap
    -fsimd-cost-model=unlimited -fsimd-cost-model=dynamic -fsimd-cost-model=cheap -fprefetch-loop-arrays
    -fno-prefetch-loop-arrays -fstrict-aliasing -fno-strict-aliasing -fwrapv -fgcse-las -fgcse-sm -fno-gcse
    -fgcse-after-reload -fipa-pta -fipa-cp-clone -fsplit-loops -funswitch-loops -fno-unswitch-loops
    -ftree-loop-distribution -fno-tree-loop-distribution -ftree-loop-distribute-patterns
    -fno-tree-loop-distribute-patterns -ftree-loop-im -floop-interchange -fno-loop-interchange
    -floop-unroll-and-jam -fno-loop-unroll-and-jam -floop-nest-optimize -fmodulo-sched -fno-ivopts -fivopts
    -fschedule-insns -fno-schedule-insns -fschedule-insns2 -fno-schedule-insns2 -fsched-pressure
    -frename-registers -fweb -fselective-scheduling -fselective-scheduling2 -fira-loop-pressure -fno-tree-ter
    -fno-tree-pre -ftree-pre -fvariable-expansion-in-unroller -fsplit-ivs-in-unroller -ftracer -fno-plt
    -fno-semantic-interposition -finline-functions -fno-inline-functions -fno-inline -fno-exceptions -fno-rtti
    -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none -fveclib=libmvec
    -mveclibabi=svml -mvzeroupper -mno-vzeroupper -mprefer-vector-width=none -mprefer-vector-width=128
    -mprefer-vector-width=256 -mprefer-vector-width=512 -mcmodel=small -malign-data=cacheline -mno-red-zone
    """.split()  # noqa: SIM905  # one name a line would hide the code
)
"""Flags without a value. The parts of -ffast-math are named one by one."""

FINITE_ONLY = "-ffinite-math-only"
"""Allowed only where the problem leaves non-finite inputs undefined."""

PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"-falign-(functions|loops|labels|jumps)=(1|2|4|8|16|32|64|128)(:\d{1,3}){0,3}",
        r"-(march|mtune|mcpu)=[a-z0-9][a-z0-9._+-]{0,63}",
        (
            r"-m(no-)?(mmx|sse|sse2|sse3|ssse3|sse4|sse4\.1|sse4\.2|sse4a|avx|avx2|avx512[a-z0-9]{1,16}|avxvnni|"
            r"avxvnniint8|avxvnniint16|avxifma|avxneconvert|avx10\.[12](-(256|512))?|amx-(tile|int8|bf16|fp16|complex)|"
            r"fma|fma4|xop|f16c|bmi|bmi2|tbm|abm|lzcnt|popcnt|adx|aes|vaes|pclmul|vpclmulqdq|gfni|sha|sha512|"
            r"movbe|movdiri|movdir64b|cx16|sahf|prfchw|prefetchwt1|prefetchi|rdrnd|rdseed|rdpid|fsgsbase|fxsr|xsave|"
            r"xsavec|xsaveopt|xsaves|clflushopt|clwb|clzero|cldemote|crc32|mwait|mwaitx|wbnoinvd|pku|serialize|shstk|"
            r"waitpkg|ptwrite|hreset|kl|widekl|uintr|invpcid|rtm|lwp|3dnow|3dnowa|enqcmd|tsxldtrk|sgx|pconfig|"
            r"evex512|raoint|cmpccxadd|sm3|sm4|user_msr|usermsr|apxf)"
        ),
        r"-mbranch-cost=\d",
        r"-finline-limit=\d{1,5}",
        r"-ftree-parallelize-loops=1",
        r"-mrecip(=[!a-z0-9:,-]{1,40})?",
        (
            r"--param=(max-unroll-times|max-unrolled-insns|max-average-unrolled-insns|max-completely-peeled-insns|"
            r"max-completely-peel-times|max-peeled-insns|max-peel-times|max-unswitch-insns|max-unswitch-level|"
            r"max-inline-insns-single|max-inline-insns-auto|inline-unit-growth|large-function-growth|"
            r"prefetch-latency|simultaneous-prefetches|min-insn-to-prefetch-ratio|prefetch-min-insn-to-mem-ratio|"
            r"prefetch-minimum-stride|l1-cache-size|l1-cache-line-size|l2-cache-size|vect-max-peeling-for-alignment|"
            r"vect-epilogues-nomask|vect-partial-vector-usage|unroll-jam-min-percent|unroll-jam-max-unroll|"
            r"loop-interchange-max-num-stmts|loop-block-tile-size|sched-pressure-algorithm|tree-reassoc-width|"
            r"avoid-fma-max-bits|x86-stlf-window-ninsns|max-vrp-switch-assertions|vect-inner-loop-cost-factor)=-?\d{1,7}"
        ),
    )
)
"""Flags with a value, matched whole."""

REASONS = (
    (re.compile(r"-(Ofast|ffast-math|funsafe-math-optimizations)"), "name the parts of fast-math one by one instead"),
    (re.compile(r"@.*"), "files with further flags are not read"),
    (re.compile(r"-(I|include|isystem|iquote|idirafter|imacros|isysroot|-sysroot|B|L).*"), "search paths are fixed"),
    (re.compile(r"-(Wl|Xlinker|l|T|z|shared|static|r|rdynamic|nostdlib|nostartfiles|fuse-ld).*"), "linking is fixed"),
    (
        re.compile(r"-(fplugin|fpass-plugin|specs|wrapper|Xclang|mllvm|fdump|save-temps|MD|M|o|E|S|c|x).*"),
        "it would reach files or tools",
    ),
    (re.compile(r"-(Wa|Wp|Xassembler|Xpreprocessor|D|U|A).*"), "put definitions into the source"),
    (
        re.compile(r"-(pg|fprofile|fsanitize|finstrument|ftest-coverage|-coverage|flto).*"),
        "instrumentation is not part of a candidate",
    ),
)
"""Why well-known families are refused."""


def refuse_flag(flag: str, *, finite_inputs: bool) -> str:
    """Return why a flag is refused and what to do, or an empty string when it is allowed."""
    if flag == FINITE_ONLY and not finite_inputs:
        return f"flag {flag} is refused: this problem defines results for infinities and NaNs; leave the flag out"
    if flag in EXACT or any(pattern.fullmatch(flag) for pattern in PATTERNS):
        return ""
    for pattern, reason in REASONS:
        if pattern.fullmatch(flag):
            return f"flag {flag[:80]} is refused: {reason}"
    return f"flag {flag[:80]} is not on the allow-list of the cpu target; leave it out"


def refuse_flags(flags: Sequence[str], *, finite_inputs: bool) -> str:
    """Return the first refusal among the flags, or an empty string."""
    return next((why for flag in flags if (why := refuse_flag(flag, finite_inputs=finite_inputs))), "")
