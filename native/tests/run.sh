#!/bin/sh
# Builds the C tests with the address and undefined-behaviour sanitizers and runs them: run.sh [TEST...]
# A fuzz target is a test as well: of the seeds, which are what its fuzzer has found before. clang's sanitizers find more
# than gcc's (an offset to a null pointer); gcc is taken where there is no clang. SANITIZE=thread looks for races between
# the threads of the log and the switch: SANITIZE=thread run.sh test_log test_durables.
set -eu
cd "$(dirname "$0")"
sanitize=${SANITIZE:-address,undefined}
build=build
[ "$sanitize" = address,undefined ] || build=build/$sanitize
mkdir -p "$build"
cc=${CC:-$(command -v clang || echo gcc)}
case $sanitize:$cc in thread:*gcc*) sanitize="thread -Wno-tsan" ;; esac # fences are there for the kernel's side, which it does not see
flags="-std=c11 -g -O1 -Wall -Wextra -Werror -fsanitize=$sanitize -fno-sanitize-recover=all -fno-omit-frame-pointer -DTM_TESTED"
sources=$(cd .. && find * -name '*.c' ! -path 'tests/*' ! -name _tm.c | sort)
newest_header=$(find .. -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
[ $# -gt 0 ] || set -- $(ls test_*.c | sed 's/\.c$//') $(ls seeds)

objects=""
for source in $sources tests/support.c tests/fuzz_world.c tests/frames.c tests/net_graph.c tests/net_world.c tests/faulty_disk.c tests/log_model.c tests/durables_world.c tests/durables_disk.c tests/durables_lives.c tests/durables_judge.c tests/departures_world.c tests/remote_judge.c tests/remote_world.c; do
    object=$build/$(echo "${source%.c}" | tr / .).o # base/memory.c: base.memory.o, as two rooms may have files of one name
    objects="$objects $object"
    # Rebuild after any change of a header: they are few and the compiler is quick.
    if [ ! -e "$object" ] || [ "../$source" -nt "$object" ] || [ "$newest_header" -nt "$object" ]; then
        $cc $flags -I.. -c "../$source" -o "$object"
    fi
done
for test in "$@"; do
    main="" seeds=""
    case $test in fuzz_*) main=replay.c seeds=$(ls seeds/"$test"/*) ;; esac
    $cc $flags -I.. "$test.c" $main $objects -lm -lpthread -o "$build/run_$test"
    echo "== $test"
    "$build/run_$test" $seeds
done
