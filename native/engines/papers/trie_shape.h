/* trie_shape.h - changes the branches of a trie. Law: see trie.h. */
#ifndef TM_PAPERS_TRIE_SHAPE_H
#define TM_PAPERS_TRIE_SHAPE_H

#include "engines/papers/trie.h"

/* Add `constant`, whose text was walked to `spot`, there (TM_NO_MEMORY: unchanged), or remove it; update the marks of a
 * branch and those above it; free all branches. */
int tm_trie_hang(tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length, uint32_t constant);
void tm_trie_take_down(tm_text_index *trie, const tm_spot *spot, const uint8_t *text);
void tm_trie_refresh(tm_text_index *trie, uint32_t branch);
void tm_trie_free_branches(tm_text_index *trie);

#endif
