/* trie_validate.h - checks the invariants of trie.h by visiting every constant in order. For tests. */
#ifndef TM_PAPERS_TRIE_VALIDATE_H
#define TM_PAPERS_TRIE_VALIDATE_H

#include "engines/papers/trie.h"

int tm_trie_validate(const tm_text_index *trie, const char **reason);

#endif
