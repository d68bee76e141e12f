/* subject.h - the names that stand for filters where a daemon routes by name: `s`, which is published to, `s1`, `s2`...
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdio.h>

#define SUBJECT "s"
#define SUBJECT_ROOM 32

static inline int subject_name(char name[SUBJECT_ROOM], size_t index) {
    return index == 0 ? snprintf(name, SUBJECT_ROOM, SUBJECT) : snprintf(name, SUBJECT_ROOM, SUBJECT "%zu", index);
}

#endif
