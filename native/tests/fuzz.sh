#!/bin/sh
# Builds a libFuzzer target and runs it: fuzz.sh fuzz_filter [libFuzzer options], such as -max_total_time=60
# clang brings libFuzzer along; where there is none, gcc builds the target and libFuzzer is that of atheris in .venv.
#   SANITIZE=       without sanitizers
#   EDGES=model     follow the edges of the parsers alone (gcc): ten times the executions, of a corpus that is there
# The corpus is in build/corpus_TARGET; put a finding into seeds/TARGET, named after the bug.
set -eu
cd "$(dirname "$0")"
target=$1
shift
mkdir -p "build/corpus_$target"
[ ! -d "seeds/$target" ] || set -- "$@" "seeds/$target"
sanitize=${SANITIZE-address,undefined}
flags="-std=c11 -g -I.. ${sanitize:+-fsanitize=$sanitize -fno-sanitize-recover=all}"
flags="$flags -O$([ -n "$sanitize" ] && echo 1 || echo 2)"
sources="$target.c support.c $(find .. -name '*.c' ! -path '../tests/*' ! -name _tm.c)"
case $target in fuzz_filter | fuzz_matching | fuzz_covers | fuzz_spaces) sources="$sources fuzz_world.c fuzz_draw.c" ;;
    fuzz_log) sources="$target.c $(ls ../log/scan.c ../log/layout.c ../log/crc.c ../log/effects.c ../log/chains.c ../log/holders.c ../log/ranges.c ../base/*.c)" ;;
    fuzz_residual | fuzz_residual_verify) # what they never call is left out: the fewer edges, the faster
        flags="$flags -ffunction-sections -Wl,--gc-sections" ;;
    fuzz_said) sources="$target.c ../durable/tables/said.c ../model/msgpack.c ../base/utf8.c" ;;
    fuzz_remote) sources="$sources frames.c" ;;
    fuzz_durables) flags="$flags -DTM_TESTED" sources="$sources frames.c faulty_disk.c durables_world.c durables_disk.c durables_lives.c durables_judge.c" ;; esac
if command -v clang >/dev/null; then
    clang $flags -fsanitize=fuzzer $sources -lm -o "build/$target"
else
    library=$(find -L ../../.venv/lib -name libclang_rt.fuzzer_no_main.a 2>/dev/null | head -1)
    [ -n "$library" ] || { echo "fuzz.sh: neither clang nor atheris in .venv is installed" >&2; exit 2; }
    objects=build/fuzz_objects
    rm -rf "$objects"
    mkdir -p "$objects"
    for source in $sources; do
        case ${EDGES-all}:$source in all:* | *:../model/* | *:../log/scan.c | *:../log/layout.c | *:fuzz_*) edges=-fsanitize-coverage=trace-pc,trace-cmp ;; *) edges= ;; esac
        gcc $flags $edges -c "$source" -o "$objects/$(echo "${source#../}" | tr / .).o"
    done
    gcc $flags -c fuzz_edges.c -o "$objects/edges.o"
    # Both have __sanitizer_cov_trace_pc: the first one that the linker meets is taken.
    gcc $flags "$objects"/*.o "$library" -Wl,-z,muldefs -lstdc++ -lm -lpthread -o "build/$target"
fi
"build/$target" -artifact_prefix=build/ "build/corpus_$target" "$@"
