#!/bin/sh
# Builds the C tests with the address and undefined-behaviour sanitizers and runs them: run.sh [TEST...]
set -eu
cd "$(dirname "$0")"
mkdir -p build
flags="-std=c11 -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
sources=$(ls ../*.c | grep -v /_tm.c)
[ $# -gt 0 ] || set -- $(ls test_*.c | sed 's/\.c$//')

objects=""
for source in $sources support.c frames.c; do
    object=build/$(basename "$source" .c).o
    objects="$objects $object"
    # Rebuild after any change of a header: they are few and the compiler is quick.
    if [ ! -e "$object" ] || [ -n "$(find "$source" ../*.h *.h -newer "$object" | head -1)" ]; then
        ${CC:-gcc} $flags -I.. -c "$source" -o "$object"
    fi
done
for test in "$@"; do
    ${CC:-gcc} $flags -I.. "$test.c" $objects -lm -o "build/$test"
    echo "== $test"
    "build/$test"
done
