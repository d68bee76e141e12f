#!/bin/sh
# Builds the C tests with the address and undefined-behaviour sanitizers and runs them: run.sh [TEST...]
# A fuzz target is a test as well: of the seeds, which are what its fuzzer has found before. clang's sanitizers find more
# than gcc's (an offset to a null pointer); gcc is taken where there is no clang.
set -eu
cd "$(dirname "$0")"
mkdir -p build
cc=${CC:-$(command -v clang || echo gcc)}
flags="-std=c11 -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
sources=$(ls ../*.c | grep -v /_tm.c)
[ $# -gt 0 ] || set -- $(ls test_*.c | sed 's/\.c$//') $(ls seeds)

objects=""
for source in $sources support.c frames.c net_graph.c net_world.c; do
    object=build/$(basename "$source" .c).o
    objects="$objects $object"
    # Rebuild after any change of a header: they are few and the compiler is quick.
    if [ ! -e "$object" ] || [ -n "$(find "$source" ../*.h *.h -newer "$object" | head -1)" ]; then
        $cc $flags -I.. -c "$source" -o "$object"
    fi
done
for test in "$@"; do
    main="" seeds=""
    case $test in fuzz_*) main=replay.c seeds=$(ls seeds/"$test"/*) ;; esac
    $cc $flags -I.. "$test.c" $main $objects -lm -o "build/run_$test"
    echo "== $test"
    "build/run_$test" $seeds
done
