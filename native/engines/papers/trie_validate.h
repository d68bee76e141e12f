/* trie_validate.h - the invariants of trie.h, checked by visiting every constant in order. For tests. */
#ifndef TM_PAPERS_TRIE_VALIDATE_H
#define TM_PAPERS_TRIE_VALIDATE_H

#include "engines/papers/trie.h"

int tm_trie_validate(const tm_text_index *trie, const char **reason);

#endif
