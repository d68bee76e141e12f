#!/bin/sh
# Builds a libFuzzer target with clang and runs it: fuzz.sh fuzz_filter [libFuzzer options], such as -max_total_time=60
# What it reaches is kept in build/corpus_TARGET; what it finds belongs into seeds/TARGET, named after the bug.
set -eu
cd "$(dirname "$0")"
target=$1
shift
mkdir -p "build/corpus_$target"
[ ! -d "seeds/$target" ] || set -- "$@" "seeds/$target"
clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I.. \
    "$target.c" support.c $(find .. -name '*.c' ! -path '../tests/*' ! -name _tm.c) -lm -o "build/$target"
"build/$target" -artifact_prefix=build/ "build/corpus_$target" "$@"
